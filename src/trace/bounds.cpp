// SPDX-License-Identifier: MIT
// src/trace/bounds.cpp: values as linear forms, and ranges of what is no sum.
#include "trace/bounds.h"

#include <algorithm>
#include <initializer_list>

#include "trace/liveness.h"
#include "trace/program.h"

namespace nrd {
namespace {

using Wide = __int128;

constexpr Range kInt32{std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};

Range full(TraceType type) {
  if (type == TraceType::kBool) return {0, 1};
  return type == TraceType::kI32 ? kInt32 : Range{};
}

template <class F>
Range corners(Range a, Range b, F f) {
  const Wide p[] = {f(Wide{a.low}, Wide{b.low}), f(Wide{a.low}, Wide{b.high}),
                    f(Wide{a.high}, Wide{b.low}), f(Wide{a.high}, Wide{b.high})};
  return {limited(*std::min_element(p, p + 4)), limited(*std::max_element(p, p + 4))};
}

Wide floor_divided(Wide a, Wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

int64_t all_ones_up_to(int64_t v) {
  int64_t mask = 0;
  while (mask < v) mask = mask * 2 + 1;
  return mask;
}

Range shifted(TraceOp op, TraceType type, Range a, Range b) {
  if (!b.is_within(0, 62)) return full(type);
  if (op == TraceOp::kShl)
    return corners(a, b, [](Wide x, Wide s) { return x * (Wide{1} << static_cast<int>(s)); });
  if (op == TraceOp::kShr && a.low < 0) {
    if (type != TraceType::kI32 || b.low == 0) return full(type);
    return {0, (int64_t{1} << 32 >> b.low) - 1};
  }
  return corners(a, b, [](Wide x, Wide s) { return x >> static_cast<int>(s); });
}

Range masked(TraceType type, Range a, Range b) {
  if (a.is_number() && b.is_number()) return {a.low & b.low, a.low & b.low};
  if (a.low < 0 && b.low < 0) return full(type);
  if (a.low < 0) return {0, b.high};
  return {0, b.low < 0 ? a.high : std::min(a.high, b.high)};
}

Range remainder(TraceType type, Range a, Range b) {
  if (b.low < 1) return full(type);
  if (a.is_number() && b.is_number()) {
    const int64_t rest = (a.low % b.low + b.low) % b.low;
    return {rest, rest};
  }
  if (a.low >= 0 && a.high < b.low) return a;
  return {0, a.low >= 0 ? std::min(a.high, b.high - 1) : b.high - 1};
}

Range truncated(FloatRange f, TraceType type) {
  const Range all = full(type);
  const double limit = type == TraceType::kI32 ? 0x1p31 : 0x1p60;
  // What does not fit becomes the smallest integer.
  if (f.nan || !(f.low > -limit && f.high < limit)) return all;
  return {static_cast<int64_t>(f.low), static_cast<int64_t>(f.high)};
}

// Of the elements of i32 that the index can choose.
Range table_range(const TraceTable& table, Range index) {
  const auto last = static_cast<int64_t>(table.elements.size()) - 1;
  Range all{kUnboundedHigh, kUnboundedLow};
  for (int64_t i = std::clamp<int64_t>(index.low, 0, last);
       i <= std::clamp<int64_t>(index.high, 0, last); i++) {
    const auto element = static_cast<int64_t>(static_cast<int32_t>(table.at(i)));
    all = unite(all, {element, element});
  }
  return all;
}

bool is_real(const Value& v) { return v.type == TraceType::kF32 || v.type == TraceType::kF64; }

}  // namespace

Bounds::Bounds(const OpTrace& trace, std::span<const int64_t> sizes,
               std::span<const LoadedRange> loaded)
    : trace_(trace),
      sizes_(sizes),
      loaded_(loaded),
      rank_(param_ranks(trace)),
      loop_of_iv_(trace.values.size(), kNoLoop),
      depth_of_loop_(trace.loops.size(), 0),
      forms_(trace.values.size()),
      ranges_(trace.values.size()) {
  const Scopes scopes = scopes_of(trace);
  for (uint32_t l = 0; l < trace.loops.size(); l++) {
    loop_of_iv_[trace.loops[l].iv] = l;
    for (uint32_t outer = scopes.loop_of_loop[l]; outer != kNoLoop;
         outer = scopes.loop_of_loop[outer])
      depth_of_loop_[l]++;
  }
}

const LinearForm& Bounds::form(ValueId id) {
  if (!forms_[id]) forms_[id] = make_form(id);
  return *forms_[id];
}

// A sum stays one where it cannot wrap; else the value is an atom, bounded by its type.
LinearForm Bounds::kept(const std::optional<LinearForm>& form, ValueId id) {
  if (!form) return LinearForm::of(id);
  if (form->is_number() && trace_[id].type == TraceType::kI64) return *form;
  const Range r = range(*form, {});
  const Range most =
      trace_[id].type == TraceType::kI32 ? kInt32 : Range{kUnboundedLow + 1, kUnboundedHigh - 1};
  return r.is_within(most.low, most.high) ? *form : LinearForm::of(id);
}

LinearForm Bounds::make_form(ValueId id) {
  const Value& v = trace_[id];
  if (v.op == TraceOp::kConst)
    return LinearForm::number(v.type == TraceType::kI32 ? static_cast<int32_t>(v.bits)
                                                        : static_cast<int64_t>(v.bits));
  if (v.op == TraceOp::kParam && trace_.params[v.index].kind == TraceParamKind::kSize)
    return LinearForm::number(sizes_[rank_[v.index]]);
  if (std::optional<LinearForm> sum = sum_form(v)) return kept(sum, id);
  const Range r = atom_range(id);
  return r.is_number() ? LinearForm::number(r.low) : LinearForm::of(id);
}

std::optional<LinearForm> Bounds::sum_form(const Value& v) {
  auto arg = [&](int i) -> const LinearForm& { return form(v.args[static_cast<size_t>(i)]); };
  switch (v.op) {
    case TraceOp::kAdd: return is_real(v) ? std::nullopt : add(arg(0), arg(1));
    case TraceOp::kSub: return is_real(v) ? std::nullopt : add(arg(0), arg(1), -1);
    case TraceOp::kNeg: return is_real(v) ? std::nullopt : scale(arg(0), -1);
    case TraceOp::kMul:
      if (is_real(v)) return std::nullopt;
      if (arg(1).is_number()) return scale(arg(0), arg(1).constant);
      return arg(0).is_number() ? scale(arg(1), arg(0).constant) : std::nullopt;
    case TraceOp::kShl:
      if (!arg(1).is_number() || arg(1).constant < 0 || arg(1).constant > 62) return std::nullopt;
      return scale(arg(0), int64_t{1} << arg(1).constant);
    case TraceOp::kToI64:
    case TraceOp::kToI32: return is_real(trace_[v.args[0]]) ? std::nullopt : std::optional(arg(0));
    case TraceOp::kUToI64: return range(v.args[0]).low >= 0 ? std::optional(arg(0)) : std::nullopt;
    case TraceOp::kModFloor: {  // below the divisor nothing happens
      const Range a = range(v.args[0]), b = range(v.args[1]);
      return a.low >= 0 && a.high < b.low ? std::optional(arg(0)) : std::nullopt;
    }
    default: return std::nullopt;
  }
}

Range Bounds::range(ValueId id) {
  if (id == kNoValue) return {};
  if (left_ <= 0) left_ = 256;
  return range(form(id), {});
}

Range Bounds::atom_range(ValueId id) {
  if (ranges_[id]) return *ranges_[id];
  const Value& v = trace_[id];
  ranges_[id] = full(v.type);  // what a carried value that leads back here finds
  const Range r = make_range(v), all = full(v.type);
  const bool wraps = v.type == TraceType::kI32 && !r.is_within(all.low, all.high);
  ranges_[id] = wraps ? all : r;
  return *ranges_[id];
}

Range Bounds::make_range(const Value& v) {
  auto arg = [&](int i) { return range(v.args[static_cast<size_t>(i)]); };
  switch (v.op) {
    case TraceOp::kIv: return counter_range(v);
    case TraceOp::kCarry:
    case TraceOp::kResult: return carried_range(v);
    case TraceOp::kLoad: return load_range(v);
    case TraceOp::kSelect: return select_range(v);
    case TraceOp::kAdd: return corners(arg(0), arg(1), [](Wide a, Wide b) { return a + b; });
    case TraceOp::kSub: return corners(arg(0), arg(1), [](Wide a, Wide b) { return a - b; });
    case TraceOp::kMul: return corners(arg(0), arg(1), [](Wide a, Wide b) { return a * b; });
    case TraceOp::kNeg: return {-arg(0).high, -arg(0).low};
    case TraceOp::kAbs: {
      const Range a = arg(0);
      return {a.low > 0 ? a.low : a.high < 0 ? -a.high : 0, std::max(-a.low, a.high)};
    }
    case TraceOp::kDivFloor:
      return arg(1).low >= 1 ? corners(arg(0), arg(1), floor_divided) : full(v.type);
    case TraceOp::kModFloor: return remainder(v.type, arg(0), arg(1));
    case TraceOp::kMin:
      return {std::min(arg(0).low, arg(1).low), std::min(arg(0).high, arg(1).high)};
    case TraceOp::kMax:
      return {std::max(arg(0).low, arg(1).low), std::max(arg(0).high, arg(1).high)};
    case TraceOp::kShl:
    case TraceOp::kShr:
    case TraceOp::kSar: return shifted(v.op, v.type, arg(0), arg(1));
    case TraceOp::kAnd: return masked(v.type, arg(0), arg(1));
    case TraceOp::kOr:
    case TraceOp::kXor: {
      const Range a = arg(0), b = arg(1);
      if (a.is_number() && b.is_number()) {
        const int64_t bits = v.op == TraceOp::kOr ? a.low | b.low : a.low ^ b.low;
        return {bits, bits};
      }
      if (a.low < 0 || b.low < 0) return full(v.type);
      return {0, all_ones_up_to(std::max(a.high, b.high))};
    }
    case TraceOp::kToI32:
    case TraceOp::kToI64:
      return is_real(trace_[v.args[0]]) ? truncated(float_range(v.args[0]), v.type) : arg(0);
    case TraceOp::kLookup: return table_range(trace_.tables[v.index], arg(0));
    case TraceOp::kUToI64:
      return arg(0).low >= 0 ? arg(0) : Range{0, std::numeric_limits<uint32_t>::max()};
    default: return full(v.type);
  }
}

Range Bounds::counter_range(const Value& v) {
  const Range extent = range(trace_.loops[v.index].extent);
  return {0, std::max<int64_t>(0, extent.high - 1)};
}

Range Bounds::load_range(const Value& v) {
  Range r = full(v.type);
  const DType dtype = trace_.params[v.index].dtype;
  if (dtype == DType::kU8) r = {0, 255};
  if (dtype == DType::kI8) r = {-128, 127};
  const size_t pointer = rank_[v.index];
  // What the trace itself writes is not what was there before.
  if (pointer < loaded_.size() && loaded_[pointer].integers && !trace_.params[v.index].written)
    r = *loaded_[pointer].integers;
  return v.args[2] == kNoValue ? r : unite(r, range(v.args[2]));
}

Range Bounds::select_range(const Value& v) {
  if (v.type == TraceType::kBool) return {0, 1};
  Guards yes, no;
  add_guards(v.args[0], true, yes);
  add_guards(v.args[0], false, no);
  return unite(range(form(v.args[1]), yes), range(form(v.args[2]), no));
}

Range Bounds::range_where(ValueId id, ValueId guard, std::span<const uint16_t> scope) {
  left_ = 1024;
  Guards guards;
  if (guard != kNoValue) add_guards(guard, true, guards);
  for (const uint16_t loop : scope) {
    const std::optional<LinearForm> runs =
        add(form(trace_.loops[loop].extent), LinearForm::number(-1));
    if (runs && !runs->is_number()) guards.push_back(*runs);
  }
  return never(guards) ? Range{1, 0} : range(form(id), guards);
}

}  // namespace nrd
