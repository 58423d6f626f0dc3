// SPDX-License-Identifier: MIT
// src/trace/coverage.cpp: walks a trace with its integers alone; data and floats are unknown.
#include "trace/coverage.h"

#include <algorithm>
#include <optional>

#include "trace/program.h"

namespace nrd {
namespace {

constexpr int64_t kMostSteps = 1 << 20;  // beyond, nothing is known: contents are needed

using Known = std::optional<int64_t>;

int64_t wrapped(int64_t v, TraceType type) {
  if (type == TraceType::kBool) return v & 1;
  return type == TraceType::kI32 ? static_cast<int32_t>(v) : v;
}

bool compare(Predicate p, int64_t a, int64_t b) {
  const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  switch (p) {
    case Predicate::kEq: return a == b;
    case Predicate::kNe: return a != b;
    case Predicate::kLt: return a < b;
    case Predicate::kLe: return a <= b;
    case Predicate::kGt: return a > b;
    case Predicate::kGe: return a >= b;
    case Predicate::kB: return x < y;
    case Predicate::kBe: return x <= y;
    case Predicate::kA: return x > y;
    default: return x >= y;
  }
}

// With wrapping arithmetic, as the trace has it.
Known binary(const Value& v, int64_t a, int64_t b) {
  const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  const bool narrow = v.type == TraceType::kI32;
  const bool shiftable = b >= 0 && b < (narrow ? 32 : 64);
  switch (v.op) {
    case TraceOp::kAdd: return static_cast<int64_t>(x + y);
    case TraceOp::kSub: return static_cast<int64_t>(x - y);
    case TraceOp::kMul: return static_cast<int64_t>(x * y);
    case TraceOp::kMin: return std::min(a, b);
    case TraceOp::kMax: return std::max(a, b);
    case TraceOp::kAnd: return a & b;
    case TraceOp::kOr: return a | b;
    case TraceOp::kXor: return a ^ b;
    case TraceOp::kDivFloor: return b > 0 ? Known(a / b - (a % b < 0)) : std::nullopt;
    case TraceOp::kModFloor: return b > 0 ? Known((a % b + b) % b) : std::nullopt;
    case TraceOp::kShl: return shiftable ? Known(static_cast<int64_t>(x << b)) : std::nullopt;
    case TraceOp::kShr:
      if (!shiftable) return std::nullopt;
      return static_cast<int64_t>((narrow ? static_cast<uint32_t>(a) : x) >> b);
    case TraceOp::kSar: return shiftable ? Known(a >> b) : std::nullopt;
    case TraceOp::kCmp: return compare(v.predicate, a, b);
    default: return std::nullopt;
  }
}

class Walk {
 public:
  Walk(const OpTrace& trace, std::span<const int64_t> sizes, std::span<const int64_t> elements)
      : trace_(trace), rank_(param_ranks(trace)), slots_(trace.values.size()) {
    for (const TraceParam& p : trace.params)
      if (p.kind == TraceParamKind::kPointer) {
        const size_t i = needed_.size();
        needed_.push_back(false);
        written_.emplace_back(p.written ? static_cast<size_t>(elements[i]) : 0, false);
      }
    for (ValueId id = 0; id < trace.values.size(); id++) {
      const Value& v = trace[id];
      if (v.op == TraceOp::kConst && v.type != TraceType::kF32 && v.type != TraceType::kF64)
        slots_[id] = wrapped(static_cast<int64_t>(v.bits), v.type);
      if (v.op == TraceOp::kParam && trace.params[v.index].kind == TraceParamKind::kSize)
        slots_[id] = sizes[rank_[v.index]];
    }
  }

  std::vector<bool> run() {
    block(trace_.body, false);
    for (size_t i = 0; i < needed_.size(); i++)
      if (std::find(written_[i].begin(), written_[i].end(), false) != written_[i].end())
        needed_[i] = true;
    if (steps_ > kMostSteps)
      for (const TraceParam& p : trace_.params)
        if (p.kind == TraceParamKind::kPointer && p.written)
          needed_[rank_[static_cast<size_t>(&p - trace_.params.data())]] = true;
    return needed_;
  }

 private:
  Known at(ValueId id) const { return id == kNoValue ? std::nullopt : slots_[id]; }

  // `perhaps`: it may not run at all.
  void block(const std::vector<ValueId>& body, bool perhaps) {
    for (const ValueId id : body) {
      if (steps_++ > kMostSteps) return;
      const Value& v = trace_[id];
      if (v.op == TraceOp::kLoop)
        loop(trace_.loops[v.index], perhaps);
      else if (v.op == TraceOp::kLoad)
        load(v), slots_[id] = std::nullopt;
      else if (v.op == TraceOp::kStore)
        store(v, perhaps);
      else if (v.op != TraceOp::kConst && v.op != TraceOp::kParam)
        slots_[id] = evaluate(v);
    }
  }

  void loop(const TraceLoop& l, bool perhaps) {
    for (const LoopCarry& c : l.carries) slots_[c.carry] = at(c.init);
    const Known extent = at(l.extent);
    if (!extent) {  // once, anywhere
      slots_[l.iv] = std::nullopt;
      for (const LoopCarry& c : l.carries) slots_[c.carry] = slots_[c.result] = std::nullopt;
      return block(l.body, true);
    }
    for (int64_t i = 0; i < *extent && steps_ <= kMostSteps; i++) {
      slots_[l.iv] = i;
      block(l.body, perhaps);
      std::vector<Known> next;
      for (const LoopCarry& c : l.carries) next.push_back(at(c.next));
      for (size_t c = 0; c < next.size(); c++) slots_[l.carries[c].carry] = next[c];
    }
    for (const LoopCarry& c : l.carries) slots_[c.result] = slots_[c.carry];
  }

  void load(const Value& v) {
    if (!trace_.params[v.index].written) return;
    const Known guard = at(v.args[1]), index = at(v.args[0]);
    if (v.args[1] != kNoValue && guard && *guard == 0) return;
    const std::vector<bool>& written = written_[rank_[v.index]];
    const bool inside = index && *index >= 0 && *index < static_cast<int64_t>(written.size());
    const bool known = inside ? static_cast<bool>(written[static_cast<size_t>(*index)])
                              : std::find(written.begin(), written.end(), false) == written.end();
    if (!known) needed_[rank_[v.index]] = true;
  }

  void store(const Value& v, bool perhaps) {
    const Known index = at(v.args[0]);
    const bool surely = !perhaps && index && (v.args[2] == kNoValue || at(v.args[2]) == 1);
    std::vector<bool>& written = written_[rank_[v.index]];
    if (surely && *index >= 0 && *index < static_cast<int64_t>(written.size()))
      written[static_cast<size_t>(*index)] = true;
  }

  Known evaluate(const Value& v) const {
    const Known a = at(v.args[0]), b = at(v.args[1]);
    Known result;
    switch (v.op) {
      case TraceOp::kSelect:
        if (a) result = at(v.args[*a ? 1 : 2]);
        break;
      case TraceOp::kNot:
        if (a) result = *a ^ 1;
        break;
      case TraceOp::kNeg:
        if (a) result = static_cast<int64_t>(0 - static_cast<uint64_t>(*a));
        break;
      case TraceOp::kAbs:
        if (a) result = *a < 0 ? static_cast<int64_t>(0 - static_cast<uint64_t>(*a)) : *a;
        break;
      case TraceOp::kToI32:
      case TraceOp::kToI64: result = a; break;
      case TraceOp::kLookup:
        if (a) result = static_cast<int64_t>(trace_.tables[v.index].at(*a));
        break;
      case TraceOp::kUToI64:
        if (a) result = static_cast<int64_t>(static_cast<uint32_t>(*a));
        break;
      default:
        if (a && b) result = binary(v, *a, *b);
    }
    const bool integer =
        v.type == TraceType::kI32 || v.type == TraceType::kI64 || v.type == TraceType::kBool;
    return result && integer ? Known(wrapped(*result, v.type)) : std::nullopt;
  }

  const OpTrace& trace_;
  std::vector<size_t> rank_;
  std::vector<Known> slots_;
  std::vector<bool> needed_;
  std::vector<std::vector<bool>> written_;
  int64_t steps_ = 0;
};

}  // namespace

std::vector<bool> needs_contents(const OpTrace& trace, std::span<const int64_t> sizes,
                                 std::span<const int64_t> elements) {
  return Walk(trace, sizes, elements).run();
}

}  // namespace nrd
