// SPDX-License-Identifier: MIT
// src/jit/lower_block.cpp: what callers of generated code fill in, and the sizes it depends on.
#include <algorithm>

#include "jit/lower.h"
#include "jit/math.h"
#include "jit/size_value.h"
#include "trace/scalar_ops.h"

namespace nrd::jit {

ArgumentBlock::ArgumentBlock(const BlockLayout& layout)
    : layout_(layout),
      words_(static_cast<size_t>(layout.bytes()) / 8, 0),
      pointers_(static_cast<size_t>(layout.pointers), nullptr) {
  const Helper* helpers = helper_table();
  std::memcpy(&word(kHelpersOffset), &helpers, sizeof helpers);
  set_count(1);
  set_range(0, INT64_MAX);
}

void ArgumentBlock::set_range(int64_t begin, int64_t end) {
  word(BlockLayout::kBegin) = begin;
  word(BlockLayout::kEnd) = end;
}

void ArgumentBlock::set_pointer(int i, const void* pointer, int64_t stride) {
  pointers_[static_cast<size_t>(i)] = const_cast<void*>(pointer);
  word(layout_.stride(i)) = stride;
}

namespace {

template <class T>
int64_t integer_result(TraceOp op, T a, T b) {
  switch (op) {
    case TraceOp::kAdd: return scalar::wrap_add(a, b);
    case TraceOp::kSub: return scalar::wrap_sub(a, b);
    case TraceOp::kMul: return scalar::wrap_mul(a, b);
    case TraceOp::kNeg: return scalar::wrap_neg(a);
    case TraceOp::kAbs: return a < 0 ? scalar::wrap_neg(a) : a;
    case TraceOp::kMin: return std::min(a, b);
    case TraceOp::kMax: return std::max(a, b);
    case TraceOp::kDivFloor: return scalar::div_floor(a, b);
    case TraceOp::kModFloor: return scalar::mod_floor(a, b);
    case TraceOp::kAnd: return a & b;
    case TraceOp::kOr: return a | b;
    case TraceOp::kXor: return a ^ b;
    case TraceOp::kShl: return scalar::shift_left(a, b);
    case TraceOp::kShr: return scalar::shift_right(a, b);
    default: return scalar::shift_signed(a, b);
  }
}

bool is_integer_op(TraceOp op) {
  switch (op) {
    case TraceOp::kAdd:
    case TraceOp::kSub:
    case TraceOp::kMul:
    case TraceOp::kNeg:
    case TraceOp::kAbs:
    case TraceOp::kMin:
    case TraceOp::kMax:
    case TraceOp::kDivFloor:
    case TraceOp::kModFloor:
    case TraceOp::kAnd:
    case TraceOp::kOr:
    case TraceOp::kXor:
    case TraceOp::kShl:
    case TraceOp::kShr:
    case TraceOp::kSar: return true;
    default: return false;
  }
}

bool is_whole(TraceType type) {
  return type == TraceType::kI32 || type == TraceType::kI64 || type == TraceType::kBool;
}

}  // namespace

bool is_known_ahead(const OpTrace& trace, ValueId id) {
  const Value& v = trace[id];
  if (!is_whole(v.type)) return false;
  switch (v.op) {
    case TraceOp::kConst: return true;
    case TraceOp::kParam: return trace.params[v.index].kind == TraceParamKind::kSize;
    case TraceOp::kNot:
    case TraceOp::kCmp:
    case TraceOp::kSelect:
    case TraceOp::kToI32:
    case TraceOp::kToI64:
    case TraceOp::kUToI64: break;
    default:
      if (!is_integer_op(v.op)) return false;
  }
  return std::all_of(v.args.begin(), v.args.end(),
                     [&](ValueId arg) { return arg == kNoValue || is_known_ahead(trace, arg); });
}

// i32 with its sign, bool as 0 or 1.
int64_t evaluate_size(const OpTrace& trace, ValueId id, std::span<const int64_t> sizes) {
  const Value& v = trace[id];
  const bool is_word = v.type == TraceType::kI32;
  auto arg = [&](size_t i) {
    return v.args[i] == kNoValue ? 0 : evaluate_size(trace, v.args[i], sizes);
  };
  switch (v.op) {
    case TraceOp::kConst:
      return is_word ? static_cast<int32_t>(v.bits) : static_cast<int64_t>(v.bits);
    case TraceOp::kParam: {
      size_t ordinal = 0;
      for (uint16_t p = 0; p < v.index; p++) {
        ordinal += trace.params[p].kind == TraceParamKind::kSize;
      }
      return sizes[ordinal];
    }
    case TraceOp::kNot: return arg(0) ^ 1;
    case TraceOp::kCmp:
      return trace[v.args[0]].type == TraceType::kI32
                 ? scalar::compare_integers(v.predicate, static_cast<int32_t>(arg(0)),
                                            static_cast<int32_t>(arg(1)))
                 : scalar::compare_integers(v.predicate, arg(0), arg(1));
    case TraceOp::kSelect: return arg(0) != 0 ? arg(1) : arg(2);
    case TraceOp::kToI32: return static_cast<int32_t>(arg(0));
    case TraceOp::kToI64: return arg(0);
    case TraceOp::kUToI64: return static_cast<uint32_t>(arg(0));
    default: break;
  }
  if (!is_word) return integer_result<int64_t>(v.op, arg(0), arg(1));
  return integer_result(v.op, static_cast<int32_t>(arg(0)), static_cast<int32_t>(arg(1)));
}

}  // namespace nrd::jit
