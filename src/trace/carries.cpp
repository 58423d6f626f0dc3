// SPDX-License-Identifier: MIT
// src/trace/carries.cpp: recognises sums, products, extrema and their arguments among loop carries.
#include <algorithm>

#include "trace/classify.h"
#include "trace/match.h"
#include "trace/op_info.h"
#include "trace/poly.h"

namespace nrd {
namespace {

constexpr std::array<std::string_view, 13> kWords = {
    "sum",     "product", "max_first", "min_first", "max_nan",  "min_nan",   "max_num",
    "min_num", "max",     "min",       "arg",       "constant", "sequential"};
static_assert(kWords.size() == static_cast<size_t>(CarryKind::kSequential) + 1);

constexpr std::string_view kNanOrder = "which NaN it keeps depends on the order";
constexpr std::string_view kUsedElsewhere = "its values on the way are used elsewhere";
constexpr std::string_view kMixed = "it is combined in several ways";
constexpr std::string_view kRange = "partial products in another order may leave the range";
constexpr std::string_view kUnknown = "it is no sum, product or extremum";

// One combining step: `through` leads to the carry, `element` is the rest (kNoValue: an fma).
struct Combine {
  CarryKind kind;
  ValueId through;
  ValueId element;
};

CarryKind extremum_kind(TraceOp op) {
  switch (op) {
    case TraceOp::kMaxFirst: return CarryKind::kMaxFirst;
    case TraceOp::kMinFirst: return CarryKind::kMinFirst;
    case TraceOp::kMaxNan: return CarryKind::kMaxNan;
    case TraceOp::kMinNan: return CarryKind::kMinNan;
    case TraceOp::kMaxNum: return CarryKind::kMaxNum;
    case TraceOp::kMinNum: return CarryKind::kMinNum;
    case TraceOp::kMax: return CarryKind::kMax;
    case TraceOp::kMin: return CarryKind::kMin;
    default: return CarryKind::kSequential;
  }
}

class CarryClassifier {
 public:
  explicit CarryClassifier(const OpTrace& trace)
      : trace_(trace), carries_(trace.loops.size()), done_(trace.loops.size(), 0) {}

  Carries run() {
    for (uint16_t loop = 0; loop < trace_.loops.size(); loop++) classify_loop(loop);
    for (size_t loop = 0; loop < carries_.size(); loop++)
      for (size_t i = 0; i < carries_[loop].size(); i++) keep_order_of_product(loop, i);
    return std::move(carries_);
  }

 private:
  void classify_loop(uint16_t number) {
    if (done_[number]) return;
    done_[number] = 1;
    const size_t count = trace_.loops[number].carries.size();
    carries_[number].resize(count);
    for (size_t i = 0; i < count; i++) carries_[number][i] = classify_alone(number, i);
    for (size_t i = 0; i < count; i++) {
      if (carries_[number][i].kind == CarryKind::kSequential) try_argument(number, i);
    }
  }

  static CarryInfo sequential(std::string_view reason) {
    CarryInfo info;
    info.reason = reason;
    return info;
  }

  // 1e30 * 1e-30 * 1e30 * 1e-30 is 1, its factors in two lanes are an infinity and a zero.
  void keep_order_of_product(size_t loop, size_t i) {
    CarryInfo& info = carries_[loop][i];
    const TraceType type = trace_[trace_.loops[loop].carries[i].carry].type;
    if (info.kind != CarryKind::kProduct || !is_float(type)) return;
    info.kind = CarryKind::kSequential;
    info.reason = kRange;
    info.is_product = true;
  }

  CarryInfo classify_alone(uint16_t number, size_t index) {
    const LoopCarry& c = trace_.loops[number].carries[index];
    if (c.next == c.carry) return {.kind = CarryKind::kConstant, .chain = {}};
    const Varying reached = reached_from(trace_, number, c.carry);
    CarryInfo info;
    bool first = true;
    int steps = 0;
    for (ValueId at = c.next; at != c.carry; first = false, steps++) {
      if (!reached.values[at]) return sequential(kUnknown);
      const Combine step = combine_of(at, reached, info.chain);
      if (step.kind == CarryKind::kSequential) {
        return sequential(nan_order_ ? kNanOrder : kUnknown);
      }
      if (!first && step.kind != info.kind) return sequential(kMixed);
      info.kind = step.kind;
      info.element = step.element;
      at = step.through;
    }
    if (steps > 1) info.element = kNoValue;
    const auto total = std::count(reached.values.begin(), reached.values.end(), 1);
    if (static_cast<size_t>(total) != info.chain.size() + 1) return sequential(kUsedElsewhere);
    return info;
  }

  // Appends what the step consists of to `chain`.
  Combine combine_of(ValueId id, const Varying& reached, std::vector<ValueId>& chain) {
    constexpr Combine kNone = {CarryKind::kSequential, kNoValue, kNoValue};
    nan_order_ = false;
    const Value& v = trace_[id];
    if (v.op == TraceOp::kResult) return combine_of_inner(v, id, chain);
    chain.push_back(id);
    auto from_carry = [&](size_t i) { return reached.values[v.args[i]] != 0; };
    if (v.op == TraceOp::kFma) {
      if (from_carry(0) || from_carry(1) || !from_carry(2)) return kNone;
      return {CarryKind::kSum, v.args[2], kNoValue};
    }
    if (v.op == TraceOp::kAdd || v.op == TraceOp::kMul || v.op == TraceOp::kSub) {
      if (from_carry(0) == from_carry(1)) return kNone;
      const size_t side = from_carry(0) ? 0 : 1;
      if (v.op == TraceOp::kSub && side == 1) return kNone;
      const CarryKind kind = v.op == TraceOp::kMul ? CarryKind::kProduct : CarryKind::kSum;
      return {kind, v.args[side], v.args[1 - side]};
    }
    const std::optional<Extremum> extremum = extremum_of(trace_, id);
    if (!extremum) return kNone;
    return combine_extremum(*extremum, id, reached, chain);
  }

  Combine combine_extremum(const Extremum& e, ValueId id, const Varying& reached,
                           std::vector<ValueId>& chain) {
    constexpr Combine kNone = {CarryKind::kSequential, kNoValue, kNoValue};
    const bool first = reached.values[e.a];
    if (first == (reached.values[e.b] != 0)) return kNone;
    const bool ordered = e.op == TraceOp::kMaxFirst || e.op == TraceOp::kMinFirst;
    if (ordered && first) {
      nan_order_ = true;
      return kNone;
    }
    // Written as a select, its condition compares the carry and nothing else may use that.
    if (trace_[id].op == TraceOp::kSelect) conditions_of(trace_[id].args[0], reached, chain);
    return {extremum_kind(e.op), first ? e.a : e.b, first ? e.b : e.a};
  }

  void conditions_of(ValueId condition, const Varying& reached, std::vector<ValueId>& chain) {
    if (trace_[condition].type != TraceType::kBool || !reached.values[condition]) return;
    if (std::find(chain.begin(), chain.end(), condition) != chain.end()) return;
    chain.push_back(condition);
    for (ValueId arg : trace_[condition].args) {
      if (arg != kNoValue) conditions_of(arg, reached, chain);
    }
  }

  // The carry passes through an inner loop: the same kind of carry there.
  Combine combine_of_inner(const Value& result, ValueId id, std::vector<ValueId>& chain) {
    classify_loop(result.index);
    const LoopCarry& inner = trace_.loops[result.index].carries[result.bits];
    const CarryInfo& info = carries_[result.index][result.bits];
    if (info.kind == CarryKind::kArg || info.kind == CarryKind::kConstant)
      return {CarryKind::kSequential, kNoValue, kNoValue};
    chain.push_back(id);
    chain.push_back(inner.carry);
    chain.insert(chain.end(), info.chain.begin(), info.chain.end());
    return {info.kind, inner.init, kNoValue};
  }

  // next = select(better, payload, carry), where `better` decides an extremum beside it.
  void try_argument(uint16_t number, size_t index) {
    const TraceLoop& loop = trace_.loops[number];
    if (try_inner_argument(number, index)) return;
    const LoopCarry& c = loop.carries[index];
    const Value& next = trace_[c.next];
    if (next.op != TraceOp::kSelect) return;
    const bool kept_last = next.args[2] == c.carry;
    if (!kept_last && next.args[1] != c.carry) return;
    const ValueId payload = next.args[kept_last ? 1 : 2];
    if (reached_from(trace_, number, c.carry).values[payload]) return;
    for (size_t p = 0; p < loop.carries.size(); p++) {
      if (p == index) continue;
      const auto better = better_of(trace_, next.args[0], loop.carries[p].carry, !kept_last);
      if (!better || !decides(loop.carries[p], *better)) continue;
      if (!only_decides(number, p)) continue;
      CarryInfo& extremum = carries_[number][p];
      extremum = {.kind = extremum_kind(better->op),
                  .chain = {loop.carries[p].next},
                  .element = better->element};
      carries_[number][index] = {.kind = CarryKind::kArg,
                                 .chain = {c.next},
                                 .element = payload,
                                 .extremum = static_cast<int>(p)};
      return;
    }
  }

  // Is the carry's next value the better one of the element and itself?
  bool decides(const LoopCarry& c, const Better& better) const {
    const Value& next = trace_[c.next];
    if (const auto e = extremum_of(trace_, c.next)) {
      const bool elements = (e->a == better.element && e->b == c.carry) ||
                            (e->b == better.element && e->a == c.carry);
      const bool ordered = e->op == TraceOp::kMaxFirst || e->op == TraceOp::kMinFirst;
      return elements && e->op == better.op && (!ordered || e->b == c.carry);
    }
    if (next.op != TraceOp::kSelect) return false;
    const bool kept_last = next.args[2] == c.carry && next.args[1] == better.element;
    const bool kept_first = next.args[1] == c.carry && next.args[2] == better.element;
    if (!kept_last && !kept_first) return false;
    const auto own = better_of(trace_, next.args[0], c.carry, kept_first);
    return own && own->op == better.op && own->element == better.element;
  }

  // Everything that depends on the extremum is a condition, its own next value or a payload's.
  bool only_decides(uint16_t number, size_t index) const {
    const TraceLoop& loop = trace_.loops[number];
    const Varying reached = reached_from(trace_, number, loop.carries[index].carry);
    for (ValueId id = 0; id < trace_.values.size(); id++) {
      if (!reached.values[id] || id == loop.carries[index].carry) continue;
      if (trace_[id].type == TraceType::kBool) continue;
      const bool is_next = std::any_of(loop.carries.begin(), loop.carries.end(),
                                       [&](const LoopCarry& c) { return c.next == id; });
      if (!is_next) return false;
    }
    return true;
  }

  // An argument that an inner loop finds, as does the extremum beside it.
  bool try_inner_argument(uint16_t number, size_t index) {
    const TraceLoop& loop = trace_.loops[number];
    const Value& next = trace_[loop.carries[index].next];
    if (next.op != TraceOp::kResult) return false;
    classify_loop(next.index);
    const TraceLoop& inner = trace_.loops[next.index];
    const CarryInfo info = carries_[next.index][next.bits];
    if (info.kind != CarryKind::kArg || inner.carries[next.bits].init != loop.carries[index].carry)
      return false;
    const LoopCarry& decider = inner.carries[static_cast<size_t>(info.extremum)];
    for (size_t p = 0; p < loop.carries.size(); p++) {
      if (loop.carries[p].next != decider.result || decider.init != loop.carries[p].carry) continue;
      if (carries_[number][p].kind == CarryKind::kSequential) {
        carries_[number][p] = carries_[next.index][static_cast<size_t>(info.extremum)];
        carries_[number][p].element = kNoValue;
      }
      carries_[number][index] = info;
      carries_[number][index].element = kNoValue;
      carries_[number][index].extremum = static_cast<int>(p);
      return true;
    }
    return false;
  }

  const OpTrace& trace_;
  Carries carries_;
  std::vector<uint8_t> done_;
  bool nan_order_ = false;  // why the last step was no extremum
};

}  // namespace

std::string_view carry_kind_word(CarryKind kind) { return kWords[static_cast<size_t>(kind)]; }

Carries classify_carries(const OpTrace& trace) { return CarryClassifier(trace).run(); }

}  // namespace nrd
