// SPDX-License-Identifier: MIT
// src/compiler/prove_code.cpp: code against the bounded interpreter.
#include "compiler/prove_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "base/convert.h"
#include "base/float_state.h"
#include "compiler/operator.h"
#include "ops/round_to.h"
#include "trace/bounded.h"
#include "trace/interpret.h"
#include "trace/sample.h"

namespace nrd {
namespace {

constexpr double kFactor = kDecisionSlack;
constexpr size_t kSlackElements = 64;  // behind each buffer: must stay as they were

// Steps of the trace. The code for several threads is tried once, with a long instance.
constexpr int64_t kMostSteps = 4 * kProofSteps;
constexpr int64_t kMostSharedSteps = int64_t{1} << 24;

double load(const char* base, DType dtype, size_t i) {
  uint64_t bits = 0;
  std::memcpy(&bits, base + i * byte_size(dtype), byte_size(dtype));
  if (dtype == DType::kI32) return static_cast<int32_t>(bits);
  if (dtype == DType::kI8) return static_cast<int8_t>(bits);
  if (dtype == DType::kU8) return static_cast<uint8_t>(bits);
  return decode(bits, dtype);
}

// One operand as the code sees it, in its storage dtype, and as the interpreter does.
struct Memory {
  const TraceParam* param = nullptr;
  DType dtype = DType::kF32;
  size_t count = 0;
  std::vector<char> stored, before;
  std::vector<Bounded> wide;

  Memory(const TraceParam& p, DType storage, const std::vector<char>& sample)
      : param(&p), dtype(storage), count(sample.size() / byte_size(p.dtype)) {
    stored.resize((count + kSlackElements) * byte_size(storage), 0x5a);
    convert(sample.data(), p.dtype, stored.data(), storage, count);
    before = stored;
  }
  // As doubles without an error, for the interpreter.
  void widen() {
    wide.resize(count);
    for (size_t i = 0; i < count; i++) wide[i].value = load(before.data(), dtype, i);
  }
  bool native() const { return !is_float(param->dtype) && !param->written; }
};

// Half a unit of the storage dtype around the value, and what overflows it.
bool fits(double got, const Bounded& want, DType dtype) {
  if (within(got, want, kFactor)) return true;
  if (dtype == DType::kF32 || dtype == DType::kF64 || !is_float(dtype)) return false;
  if (std::isnan(want.value)) return std::isnan(got);
  const double spread = kFactor * want.bound;
  const double low = round_through(want.value - spread, dtype, Overflow::kIeee);
  const double high = round_through(want.value + spread, dtype, Overflow::kIeee);
  if (std::isnan(got)) return std::isnan(low) || std::isnan(high);
  return (got >= low || std::isnan(low)) && (got <= high || std::isnan(high));
}

Expected<void> compare(const OpTrace& trace, const Sample& sample, const Memory& m,
                       std::string_view isa) {
  const size_t bytes = byte_size(m.dtype);
  for (size_t i = 0; i < m.count + kSlackElements; i++) {
    const char *now = m.stored.data() + i * bytes, *then = m.before.data() + i * bytes;
    const bool untouched = std::memcmp(now, then, bytes) == 0;
    const bool inside = i < m.count && m.param->written;
    if (!inside && untouched) continue;
    const double got = load(m.stored.data(), m.dtype, i);
    if (inside && fits(got, m.wide[i], m.dtype)) continue;
    return make_error(
        {.code = ErrorCode::kUnsupported,
         .op = trace.name,
         .argument = fmt::format("{}[{}]", m.param->name, i),
         .got = inside ? fmt::format("{:.9g} from the {} code ({})", got, isa, sample.text())
                       : fmt::format("a store outside from the {} code ({})", isa, sample.text()),
         .allowed =
             inside ? fmt::format("{:.9g} +- {:.3g}", m.wide[i].value, kFactor * m.wide[i].bound)
                    : "nothing",
         .hint = "the function itself runs instead"});
  }
  return {};
}

// The sample's buffers in the storage dtypes.
std::vector<Memory> memories(const OpTrace& trace, const Sample& sample,
                             const std::vector<DType>& dtypes) {
  std::vector<Memory> list;
  for (const TraceParam& p : trace.params)
    if (p.kind == TraceParamKind::kPointer)
      list.emplace_back(p, dtypes[list.size()], sample.buffers[list.size()]);
  return list;
}

using Pair = std::optional<InPlacePair>;

// The operands of one run. In place an output lies on an input.
struct Operands {
  std::vector<Memory> list;
  std::vector<void*> pointers;
  size_t hidden;  // the input below the output, or none

  Operands(const OpTrace& trace, const Sample& sample, const std::vector<DType>& dtypes,
           const Pair& pair)
      : list(memories(trace, sample, dtypes)), hidden(pair ? pair->input : list.size()) {
    if (pair) list[pair->output].stored = list[pair->output].before = list[hidden].stored;
    for (Memory& m : list) pointers.push_back(m.stored.data());
    if (pair) pointers[hidden] = pointers[pair->output];
  }
};

// 64-byte aligned memory for a body.
class Room {
 public:
  explicit Room(size_t bytes) : bytes_(bytes + 64) {}
  void* data() {
    return bytes_.data() + (64 - reinterpret_cast<uintptr_t>(bytes_.data()) % 64) % 64;
  }

 private:
  std::vector<char> bytes_;
};

void run_body(const Body& body, const Sample& sample, const Operands& operands) {
  const std::vector<size_t> sizes(sample.sizes.begin(), sample.sizes.end());
  Room scratch(body.scratch_bytes(sizes.data()));
  const std::vector<int64_t> strides(operands.pointers.size(), 0);
  body.run({operands.pointers.data(), sizes.data(), sample.numbers.data(), sample.ints.data()},
           strides.data(), 1, scratch.data());
}

struct Trial {
  const OpTrace& trace;
  const Body& body;
  std::string_view isa;
  const std::vector<DType>& dtypes;
};

Expected<void> try_sample(const Trial& t, const Sample& sample, const Pair& pair) {
  Operands operands(t.trace, sample, t.dtypes, pair);
  std::vector<void*> wide;
  for (Memory& m : operands.list) {
    m.widen();
    wide.push_back(m.native() ? static_cast<void*>(m.stored.data()) : m.wide.data());
  }
  interpret_bounded(t.trace,
                    {wide.data(), sample.sizes.data(), sample.numbers.data(), sample.ints.data()});
  run_body(t.body, sample, operands);
  for (size_t i = 0; i < operands.list.size(); i++)
    if (i != operands.hidden) NRD_TRY(compare(t.trace, sample, operands.list[i], t.isa));
  return {};
}

// One instance long enough for several threads: the code that they share gives the bits of the
// code above.
Expected<void> try_shared(const Trial& t, const Sample& sample, const Pair& pair) {
  const std::vector<size_t> sizes(sample.sizes.begin(), sample.sizes.end());
  if (!t.body.shares(sizes.data())) return {};
  Operands one(t.trace, sample, t.dtypes, pair), many(t.trace, sample, t.dtypes, pair);
  run_body(t.body, sample, one);
  constexpr int64_t kParts = 3;
  Room room(t.body.shared_bytes(sizes.data(), kParts));
  t.body.run_shared({many.pointers.data(), sizes.data(), sample.numbers.data(), sample.ints.data()},
                    room.data(), kParts, Exec{});
  for (size_t i = 0; i < one.list.size(); i++)
    if (one.list[i].stored != many.list[i].stored)
      return make_error({.code = ErrorCode::kUnsupported,
                         .op = t.trace.name,
                         .argument = one.list[i].param->name,
                         .got = fmt::format("other bits from the {} code for several threads ({})",
                                            t.isa, sample.text()),
                         .allowed = "those of one thread",
                         .hint = "the function itself runs instead"});
  return {};
}

size_t first_output(const OpTrace& trace) {
  size_t pointer = 0;
  for (const TraceParam& p : trace.params) {
    if (p.kind != TraceParamKind::kPointer) continue;
    if (p.written) break;
    pointer++;
  }
  return pointer;
}

// Calls `each` with outputs where they may lie: apart, and in place as asked for.
Expected<void> for_each_sharing(const Trial& t, const Sample& sample, const InPlacePairs& pairs,
                                Sharing sharing, const auto& each) {
  if (sharing != Sharing::kFirst) NRD_TRY(each(t, sample, Pair()));
  if (sharing == Sharing::kNone) return {};
  for (const InPlacePair& pair : pairs.of(sample)) {
    if (t.dtypes[pair.input] != t.dtypes[pair.output]) continue;
    if (sharing == Sharing::kFirst && pair.output != first_output(t.trace)) continue;
    NRD_TRY(each(t, with_shared(sample, pair), Pair(pair)));
    if (sharing == Sharing::kFirst) break;
  }
  return {};
}

// Whether the trace ends within the steps; the function then does too, and so does the code.
bool is_short(const OpTrace& trace, const Sample& sample, int64_t most_steps) {
  std::vector<std::vector<char>> memory = sample.buffers;
  std::vector<void*> pointers;
  for (std::vector<char>& m : memory) pointers.push_back(m.data());
  return interpret_within(trace,
                          {pointers.data(), sample.sizes.data(), sample.numbers.data(),
                           sample.ints.data(), nrd_round_to_f32},
                          sample.elements.data(), most_steps) == TraceRun::kDone;
}

// What the samples of a proof have in common.
class Samples {
 public:
  Samples(const OpTrace& trace, const CodeProof& options, std::vector<int> ints)
      : trace_(trace), options_(options), ints_(std::move(ints)) {}

  // Nothing where the function is not defined, or takes too long.
  Expected<std::optional<Sample>> make(const std::vector<int64_t>& sizes, Spread spread,
                                       int64_t most_steps) {
    if (!allows(sizes)) return std::optional<Sample>();
    Expected<Sample> sample = make_sample(trace_, sizes, spread, seed_++);
    if (!sample) return sample.error();
    sample->ints = ints_;
    if (!is_short(trace_, *sample, most_steps)) return std::optional<Sample>();
    return std::optional(std::move(*sample));
  }

  // Integers of a user's function that may be no sizes.
  void add_unusual(std::vector<Sample>& list) {
    if (!options_.assumptions || !options_.sizes.empty()) return;
    for (const auto& integers : {negative_integers(trace_), large_integers(trace_)})
      for (const std::vector<int64_t>& whole : integers) {
        Expected<std::optional<Sample>> sample = make(whole, Spread::kSpecial, kProofSteps / 4);
        if (sample && *sample) list.push_back(std::move(**sample));
      }
  }

  bool allows(const std::vector<int64_t>& sizes) const {
    Sample sample;
    sample.sizes = sizes;
    sample.ints = ints_;
    return !options_.assumptions || options_.assumptions->hold(integers(trace_, sample));
  }

 private:
  const OpTrace& trace_;
  const CodeProof& options_;
  std::vector<int> ints_;
  uint64_t seed_ = 1000;
};

// Two chunks of a reduction and a piece.
constexpr int64_t kSharedSize = 2 * 16384 + 77;

int64_t sizes_of(const OpTrace& trace) {
  return std::count_if(trace.params.begin(), trace.params.end(),
                       [](const TraceParam& p) { return p.kind == TraceParamKind::kSize; });
}

// The first size from kSharedSize on that the function takes.
std::optional<int64_t> shared_size(const OpTrace& trace, const Samples& samples) {
  if (sizes_of(trace) != 1) return std::nullopt;
  for (int64_t n = kSharedSize; n < kSharedSize + 64; n++)
    if (samples.allows({n})) return n;
  return std::nullopt;
}

jit::Binding binding_of(const OpTrace& trace, const CodeProof& options) {
  jit::Binding binding{options.dtypes, options.ints, options.non_temporal};
  for (const TraceParam& p : trace.params) {
    if (p.kind == TraceParamKind::kPointer && options.dtypes.empty())
      binding.dtypes.push_back(p.dtype);
    if (p.kind == TraceParamKind::kInt && options.ints.empty())
      binding.ints.push_back(static_cast<int>(DType::kF32));
  }
  return binding;
}

}  // namespace

Expected<void> prove_body(const Body& body, const OpTrace& trace, std::string_view isa,
                          const CodeProof& options) {
  const DefaultFloatState state;
  const jit::Binding binding = binding_of(trace, options);
  const Trial trial{trace, body, isa, binding.dtypes};
  Samples samples(trace, options, binding.ints);
  const bool chosen = !options.sizes.empty();  // by somebody who knows how long they take
  const int64_t most_steps = chosen ? std::numeric_limits<int64_t>::max() : kMostSteps;
  std::vector<Sample> list;
  for (const std::vector<int64_t>& sizes :
       chosen ? options.sizes : sample_sizes(trace, options.most_points))
    for (Spread spread : {Spread::kNormal, Spread::kSpecial, Spread::kWide}) {
      Expected<std::optional<Sample>> sample = samples.make(sizes, spread, most_steps);
      if (!sample) return sample.error();
      if (*sample) list.push_back(std::move(**sample));
    }
  samples.add_unusual(list);
  const InPlacePairs pairs(trace, list);
  for (const Sample& sample : list)
    NRD_TRY(for_each_sharing(trial, sample, pairs, options.in_place, try_sample));
  const std::optional<int64_t> size = shared_size(trace, samples);
  if (!size) return {};
  Expected<std::optional<Sample>> sample = samples.make({*size}, Spread::kNormal, kMostSharedSteps);
  if (!sample) return sample.error();
  if (!*sample) return {};
  return for_each_sharing(trial, **sample, pairs, options.in_place, try_shared);
}

Expected<void> prove_code(const OpTrace& trace, const jit::Target& target,
                          const CodeProof& options) {
  Expected<std::shared_ptr<const Body>> body =
      compile_trace(trace, binding_of(trace, options), target);
  if (!body) return body.error();
  return prove_body(**body, trace, target.isa, options);
}

}  // namespace nrd
