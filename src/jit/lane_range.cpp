// SPDX-License-Identifier: MIT
// src/jit/lane_range.cpp: see lane_range.h.
#include "jit/lane_range.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>

namespace nrd::jit {
namespace {

using Wide = __int128;
constexpr int kMaxDepth = 32;
constexpr Wide kLargestSize = Wide{1} << 20;  // of a counter beside data

struct Range {
  Wide low, high;
};

bool is_integer(TraceType type) { return type == TraceType::kI32 || type == TraceType::kI64; }

Range of_type(TraceType type) {
  const Wide end = Wide{1} << (type == TraceType::kI32 ? 31 : 63);
  return {-end, end - 1};
}

bool is_within(const Range& range, const Range& all) {
  return range.low >= all.low && range.high <= all.high;
}

// Of an integer that data takes part in; nothing where none does.
class DataRange {
 public:
  explicit DataRange(const OpTrace& trace) : trace_(trace) {}

  std::optional<Range> of(ValueId id, int depth = 0) {
    const Value& v = trace_[id];
    if (depth > kMaxDepth) return of_type(v.type);
    switch (v.op) {
      case TraceOp::kLookup: return of_table(trace_.tables[v.index]);
      case TraceOp::kLoad: return loaded(trace_.params[v.index].dtype);
      case TraceOp::kConst:
      case TraceOp::kParam:
      case TraceOp::kIv: return std::nullopt;
      case TraceOp::kCarry:
      case TraceOp::kResult:
        return v.type == TraceType::kI32 ? std::optional(of_type(v.type)) : std::nullopt;
      default: break;
    }
    std::optional<Range> args[3];
    // 32 bits are one too many, and a reciprocal takes more.
    bool has_data = v.op == TraceOp::kUToI64 || has_large_factor(v);
    for (size_t i = 0; i < 3; i++) {
      if (v.args[i] == kNoValue) continue;
      const TraceType type = trace_[v.args[i]].type;
      if (!is_integer(type)) {
        has_data |= type != TraceType::kBool;
        continue;
      }
      args[i] = of(v.args[i], depth + 1);
      has_data |= args[i].has_value();
    }
    if (!has_data) return std::nullopt;
    for (size_t i = 0; i < 3; i++)
      if (v.args[i] != kNoValue && !args[i] && is_integer(trace_[v.args[i]].type))
        args[i] = without_data(v.args[i]);
    const std::optional<Range> made = computed(v, args);
    const Range all = of_type(v.type);
    return made && is_within(*made, all) ? made : std::optional(all);
  }

 private:
  static std::optional<Range> loaded(DType dtype) {
    if (dtype == DType::kU8) return Range{0, 255};
    if (dtype == DType::kI8) return Range{-128, 127};
    return of_type(TraceType::kI32);
  }

  static Range of_table(const TraceTable& table) {
    Range all = of_type(TraceType::kI32);
    std::swap(all.low, all.high);
    for (const uint64_t bits : table.elements) {
      const auto element = static_cast<int32_t>(bits);
      all = {std::min<Wide>(all.low, element), std::max<Wide>(all.high, element)};
    }
    return all;
  }

  bool has_large_factor(const Value& v) const {
    if (v.op != TraceOp::kMul && v.op != TraceOp::kShl) return false;
    for (const ValueId arg : {v.args[0], v.args[1]}) {
      if (trace_[arg].op != TraceOp::kConst || trace_[arg].type != TraceType::kI64) continue;
      const auto factor = static_cast<int64_t>(trace_[arg].bits);
      if (v.op == TraceOp::kShl ? factor >= 20 : factor >= kLargestSize || factor <= -kLargestSize)
        return true;
    }
    return false;
  }

  Range without_data(ValueId id) const {
    const Value& v = trace_[id];
    if (v.op != TraceOp::kConst) return {-kLargestSize, kLargestSize};
    const Wide value =
        v.type == TraceType::kI32 ? static_cast<int32_t>(v.bits) : static_cast<int64_t>(v.bits);
    return {value, value};
  }

  static std::optional<Range> computed(const Value& v, const std::optional<Range>* args) {
    if (!args[0] && v.op != TraceOp::kSelect) return std::nullopt;  // made from a float
    const Range a = args[0].value_or(Range{0, 0}), b = args[1].value_or(Range{0, 0});
    const bool is_shift = b.low == b.high && b.low >= 0 && b.low < 64;
    switch (v.op) {
      case TraceOp::kToI64:
      case TraceOp::kToI32: return a;
      case TraceOp::kUToI64: return a.low >= 0 ? a : Range{0, (Wide{1} << 32) - 1};
      case TraceOp::kAdd: return Range{a.low + b.low, a.high + b.high};
      case TraceOp::kSub: return Range{a.low - b.high, a.high - b.low};
      case TraceOp::kNeg: return Range{-a.high, -a.low};
      case TraceOp::kMul: {
        const Wide p[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
        return Range{*std::min_element(p, p + 4), *std::max_element(p, p + 4)};
      }
      case TraceOp::kMin:
      case TraceOp::kMax: return Range{std::min(a.low, b.low), std::max(a.high, b.high)};
      case TraceOp::kSelect: {
        const Range c = args[2].value_or(Range{0, 0});
        return Range{std::min(b.low, c.low), std::max(b.high, c.high)};
      }
      case TraceOp::kAnd:
        if (b.low >= 0) return Range{0, b.high};
        return a.low >= 0 ? std::optional(Range{0, a.high}) : std::nullopt;
      case TraceOp::kOr:
      case TraceOp::kXor:
        if (a.low < 0 || b.low < 0) return std::nullopt;
        return Range{0, static_cast<Wide>(
                            std::bit_ceil(static_cast<uint64_t>(std::max(a.high, b.high)) + 1)) -
                            1};
      case TraceOp::kShl:
        return is_shift
                   ? std::optional(Range{a.low * (Wide{1} << b.low), a.high * (Wide{1} << b.low)})
                   : std::nullopt;
      case TraceOp::kShr:
        return is_shift && a.low >= 0 ? std::optional(Range{a.low >> b.low, a.high >> b.low})
                                      : std::nullopt;
      case TraceOp::kSar:
        return is_shift ? std::optional(Range{a.low >> b.low, a.high >> b.low}) : std::nullopt;
      case TraceOp::kDivFloor: {
        const Wide most = std::max(a.low < 0 ? -a.low : a.low, a.high < 0 ? -a.high : a.high);
        return Range{-most - 1, most + 1};
      }
      case TraceOp::kModFloor: {
        const Wide most = std::max(b.low < 0 ? -b.low : b.low, b.high < 0 ? -b.high : b.high);
        return Range{0, most};
      }
      default: return std::nullopt;
    }
  }

  const OpTrace& trace_;
};

}  // namespace

bool fits_in_lane(const OpTrace& trace, ValueId id) {
  const std::optional<Range> range = DataRange(trace).of(id);
  return !range || is_within(*range, of_type(TraceType::kI32));
}

bool is_lane_within(const OpTrace& trace, ValueId id, int64_t last) {
  const Value& v = trace[id];
  for (const ValueId arg : v.args) {
    if (v.op != TraceOp::kAnd || arg == kNoValue || trace[arg].op != TraceOp::kConst) continue;
    const auto mask = static_cast<int32_t>(trace[arg].bits);
    if (mask >= 0 && mask <= last) return true;
  }
  const std::optional<Range> range = DataRange(trace).of(id);
  return range && is_within(*range, {0, last});
}

bool is_never_negative(const OpTrace& trace, ValueId id) {
  const Value& v = trace[id];
  const auto arg = [&](size_t i) { return is_never_negative(trace, v.args[i]); };
  switch (v.op) {
    case TraceOp::kConst: return static_cast<int64_t>(v.bits) >= 0;
    case TraceOp::kIv:
    case TraceOp::kModFloor:
    case TraceOp::kUToI64: return true;
    case TraceOp::kAdd:
    case TraceOp::kMul:
    case TraceOp::kMin:
    case TraceOp::kDivFloor: return arg(0) && arg(1);
    case TraceOp::kMax: return arg(0) || arg(1);
    default: return false;
  }
}

}  // namespace nrd::jit
