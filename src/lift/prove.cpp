// SPDX-License-Identifier: MIT
// src/lift/prove.cpp: samples, from the smallest sizes on, and what follows from them.
#include "lift/prove.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/float_state.h"
#include "lift/image.h"
#include "lift/loop_tree.h"
#include "lift/trial.h"
#include "trace/bounds.h"

namespace nrd::lift {
namespace {

constexpr int64_t kMostSteps = kProofSteps;
// Code has at most so many steps for each of its trace's: it goes on for ever if it takes more.
constexpr int64_t kStepsOfCode = 16;
// All samples together: about a second.
constexpr int64_t kMostStepsInAll = int64_t{1} << 26;

enum class Outcome : uint8_t { kDefined, kUndefined, kTooLong };

class TraceProver {
 public:
  TraceProver(const OpTrace& trace, const LiftRequest& request, FunctionMachine& machine)
      : trace_(trace), request_(request), machine_(machine), trial_(trace, request, machine) {
    for (const CParam& p : FlatParams(request.signature).list)
      if (p.kind >= CKind::kInt32 && p.kind <= CKind::kUInt64) kinds_.push_back(p.kind);
  }

  Expected<TraceProof> run(const ProofRequest& wanted) {
    NRD_TRY(check_regions());
    for (const std::vector<int64_t>& sizes : small_sizes(trace_))
      NRD_TRY(try_sizes(sizes, {Spread::kNormal, Spread::kSpecial}));
    for (const std::vector<int64_t>& sizes : sample_sizes(trace_, kProofPoints))
      NRD_TRY(try_sizes(sizes, {Spread::kNormal, Spread::kSpecial, Spread::kWide}));
    TraceProof proof;
    proof.assumptions.names = integer_names(trace_);
    NRD_TRY(explain(proof.assumptions.list));
    find_negative(proof.assumptions);
    find_largest(proof.assumptions);
    if (wanted.in_place) proof.in_place = works_in_place(proof.assumptions);
    return proof;
  }

 private:
  Expected<void> check_regions() const {
    const size_t pointers = trace_.params.size() + request_.signature.params.size();
    if (pointers <= kMaxRegions) return {};
    return refuse(fmt::format("{} parameters", request_.signature.params.size()));
  }

  Error refuse(std::string got) const {
    return make_error({.code = ErrorCode::kUnsupported,
                       .op = trace_.name,
                       .argument = "function",
                       .got = std::move(got),
                       .hint = "the function itself runs instead"});
  }

  // It was lifted wrongly: a bug of ours.
  Error disagree(std::string got, std::string argument) const {
    Error error = refuse(std::move(got));
    error.code = ErrorCode::kInternal;
    error.argument = std::move(argument);
    return make_error(std::move(error));
  }

  Expected<void> try_sizes(const std::vector<int64_t>& sizes,
                           std::initializer_list<Spread> spreads) {
    for (const Spread spread : spreads) {
      Expected<Sample> sample = make_sample(trace_, sizes, spread, seed_++);
      if (!sample) {  // nothing is known of the memory that these sizes need
        unbounded_ = sample.error();
        tried_.push_back({sizes, false});
        return {};
      }
      Expected<Outcome> outcome = try_sample(*sample);
      if (!outcome) return outcome.error();
      NRD_TRY(note(*sample, *outcome));
    }
    return {};
  }

  // Whether a function is defined may hang on its integers, not on its data.
  Expected<void> note(const Sample& sample, Outcome outcome) {
    if (steps_ > kMostStepsInAll) return refuse("more steps than a proof takes");
    if (outcome == Outcome::kTooLong)
      return useful_ == 0 && too_long_ > 8 ? hopeless() : Expected<void>();
    const bool defined = outcome == Outcome::kDefined;
    std::vector<int64_t> whole = integers(trace_, sample);
    if (defined && std::all_of(whole.begin(), whole.end(), [](int64_t n) { return n > 0; }))
      useful_++;
    if (!tried_.empty() && tried_.back().integers == whole && tried_.back().defined != defined)
      return refuse(fmt::format("{}, which depends on the data", fault_));
    tried_.push_back({std::move(whole), defined});
    return {};
  }

  Expected<Outcome> try_sample(const Sample& sample) {
    Copies traced(sample);
    Expected<Outcome> followed = follow(sample, traced);
    if (!followed || *followed != Outcome::kDefined) return followed;
    Copies called(sample);
    trial_.call(sample, called);
    if (const std::string where = trial_.difference(sample, traced, called); !where.empty())
      return disagree(
          fmt::format("another value from the trace than from the function ({})", sample.text()),
          where);
    return Outcome::kDefined;
  }

  // The code step by step against its trace, whose results are left in `traced`.
  Expected<Outcome> follow(const Sample& sample, Copies& traced) {
    Copies followed(sample);
    FunctionRun run = trial_.follow(sample, followed, kMostSteps);
    if (run.fault == Fault::kTooLong) {
      Copies again(sample), other(sample);
      steps_ += run.steps;
      if (trial_.interpret(sample, other, kMostSteps) == TraceRun::kTooLong)
        return too_long_++, Outcome::kTooLong;
      run = trial_.follow(sample, again, kMostSteps * kStepsOfCode);
      followed = std::move(again);
    }
    steps_ += run.steps;
    if (run.fault != Fault::kNone) {
      const std::string fault = fmt::format("{} ({})", machine_.fault_text(run), sample.text());
      if (machine_.depends_on_data(run, request_.signature))
        return refuse(fault + ", which depends on the data");
      if (fault_.empty()) fault_ = fault;
      return Outcome::kUndefined;
    }
    const TraceRun ended = trial_.interpret(sample, traced, kMostSteps * kStepsOfCode);
    if (ended == TraceRun::kTooLong) return too_long_++, Outcome::kTooLong;
    const std::string where = trial_.difference(sample, traced, followed);
    if (ended == TraceRun::kDone && where.empty()) return Outcome::kDefined;
    return disagree(
        fmt::format("another {} from the trace than from the code ({})",
                    ended == TraceRun::kDone ? "value" : "access of memory", sample.text()),
        where.empty() ? "function" : where);
  }

  Error hopeless() const {
    return refuse("more steps than a proof takes, with the smallest sizes");
  }

  Expected<void> explain(std::vector<Assumption>& assumptions) const {
    const bool any = useful_ > 0 || tried_.empty();
    if (!any && unbounded_) return *unbounded_;
    if (!any && too_long_ > 0) return hopeless();
    if (!any) return refuse(fmt::format("{}, whatever its sizes", fault_));
    std::optional<std::vector<Assumption>> found = infer_assumptions(tried_);
    if (!found) return refuse(fmt::format("{}, which no simple condition explains", fault_));
    assumptions = std::move(*found);
    return {};
  }

  // What an integer of this place can hold in C: a size's, where the function has none there.
  Range type_range(size_t integer) const {
    if (integer >= kinds_.size()) return {0, kUnboundedHigh};
    switch (kinds_[integer]) {
      case CKind::kInt32: return {-0x80000000LL, 0x7fffffffLL};
      case CKind::kUInt32: return {0, 0xffffffffLL};
      case CKind::kInt64: return {kUnboundedLow, kUnboundedHigh};
      default: return {0, kUnboundedHigh};
    }
  }

  // Beyond what sizes are, whatever goes wrong says only that these integers will not do.
  Expected<Outcome> try_integers(const std::vector<int64_t>& whole) {
    for (const Spread spread : {Spread::kNormal, Spread::kSpecial}) {
      Expected<Sample> sample = make_sample(trace_, whole, spread, seed_++);
      if (!sample) return Outcome::kUndefined;
      Expected<Outcome> outcome = try_sample(*sample);
      if (!outcome || *outcome != Outcome::kDefined) return outcome;
    }
    return Outcome::kDefined;
  }

  // The lifter takes sizes for non-negative. An integer that turns out to be none may be negative
  // where that went well in every sample.
  void find_negative(Assumptions& assumptions) {
    enum : uint8_t { kUntried, kRight, kWrong };
    std::vector<uint8_t> found(assumptions.names.size(), kUntried);
    Assumptions all = assumptions;
    all.negative.assign(found.size(), true);
    for (const std::vector<int64_t>& whole : negative_integers(trace_)) {
      std::vector<size_t> below;
      for (size_t i = 0; i < whole.size(); i++)
        if (whole[i] < 0) below.push_back(i);
      const bool worth = std::all_of(below.begin(), below.end(), [&](size_t i) {
        return type_range(i).low < 0 && found[i] != kWrong;
      });
      if (!worth || !all.hold(whole)) continue;
      const Expected<Outcome> outcome = try_integers(whole);
      for (const size_t i : below)
        found[i] = outcome && *outcome == Outcome::kDefined ? kRight : kWrong;
    }
    for (const uint8_t f : found) assumptions.negative.push_back(f == kRight);
  }

  // Nor is any size as large as an integer can be, which may wrap: then it must stay below.
  void find_largest(Assumptions& assumptions) {
    std::vector<bool> bounded(assumptions.names.size());
    for (const std::vector<int64_t>& whole : large_integers(trace_)) {
      const auto at =
          static_cast<size_t>(std::max_element(whole.begin(), whole.end()) - whole.begin());
      if (bounded[at] || whole[at] > type_range(at).high || !assumptions.hold(whole)) continue;
      if (try_integers(whole)) continue;
      bounded[at] = true;
      assumptions.list.push_back(
          {Assumption::Kind::kAtMost, static_cast<uint8_t>(at), 0, kLargestSize, 0});
    }
  }

  // Every pair that a call might give as one must work, and there must be one.
  bool works_in_place(const Assumptions& assumptions) {
    std::vector<Sample> samples;
    for (const std::vector<int64_t>& sizes : sample_sizes(trace_, kProofPoints))
      for (const Spread spread : {Spread::kNormal, Spread::kSpecial}) {
        Expected<Sample> sample = make_sample(trace_, sizes, spread, seed_++);
        if (sample && assumptions.hold(integers(trace_, *sample)))
          samples.push_back(std::move(*sample));
      }
    const InPlacePairs pairs(trace_, samples);
    bool any = false;
    for (const Sample& sample : samples)
      for (const InPlacePair& pair : pairs.of(sample)) {
        any = true;
        if (!same_in_place(with_shared(sample, pair), pair)) return false;
      }
    return any;
  }

  // The trace, the code step by step and the function give what the trace gives on memory apart.
  bool same_in_place(const Sample& sample, const InPlacePair& pair) {
    Copies apart(sample);
    if (trial_.interpret(sample, apart, kMostSteps * kStepsOfCode) != TraceRun::kDone) return true;
    const auto same = [&](Copies& together) {
      together.pointers[pair.input] = apart.pointers[pair.input];  // as an output it was compared
      return trial_.difference(sample, apart, together).empty();
    };
    Copies traced(sample, pair.input, pair.output), followed(sample, pair.input, pair.output);
    trial_.interpret(sample, traced, kMostSteps * kStepsOfCode);
    const bool defined =
        trial_.follow(sample, followed, kMostSteps * kStepsOfCode).fault == Fault::kNone;
    if (!defined || !same(traced) || !same(followed)) return false;
    Copies called(sample, pair.input, pair.output);
    trial_.call(sample, called);
    return same(called);
  }

  const OpTrace& trace_;
  const LiftRequest& request_;
  FunctionMachine& machine_;
  Trial trial_;
  std::vector<CKind> kinds_;  // of the integers
  std::vector<Tried> tried_;
  std::optional<Error> unbounded_;
  std::string fault_;  // the first one
  int64_t steps_ = 0;
  int useful_ = 0;    // samples on which the function is defined and has something to do
  int too_long_ = 0;  // samples, from the smallest on
  uint64_t seed_ = 1;
};

}  // namespace

Expected<TraceProof> prove_trace(const OpTrace& trace, const LiftRequest& request,
                                 const ProofRequest& wanted) {
  const DefaultFloatState state;
  const Expected<Function> whole = whole_function(request);
  if (!whole) return whole.error();
  Expected<FunctionMachine> machine = FunctionMachine::make(*whole, process_image());
  if (!machine) return machine.error();
  return TraceProver(trace, request, *machine).run(wanted);
}

}  // namespace nrd::lift
