// SPDX-License-Identifier: MIT
// src/jit/lower_block.cpp: what callers of generated code fill in, and the sizes it depends on.
#include <algorithm>

#include "jit/lower.h"
#include "jit/math.h"

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

int64_t evaluate_size(const OpTrace& trace, ValueId id, std::span<const int64_t> sizes) {
  const Value& v = trace[id];
  auto arg = [&](size_t i) { return evaluate_size(trace, v.args[i], sizes); };
  switch (v.op) {
    case TraceOp::kConst: return static_cast<int64_t>(v.bits);
    case TraceOp::kParam: {
      size_t ordinal = 0;
      for (uint16_t p = 0; p < v.index; p++) {
        ordinal += trace.params[p].kind == TraceParamKind::kSize;
      }
      return sizes[ordinal];
    }
    case TraceOp::kAdd: return arg(0) + arg(1);
    case TraceOp::kSub: return arg(0) - arg(1);
    case TraceOp::kMul: return arg(0) * arg(1);
    case TraceOp::kNeg: return -arg(0);
    case TraceOp::kMin: return std::min(arg(0), arg(1));
    case TraceOp::kMax: return std::max(arg(0), arg(1));
    case TraceOp::kDivFloor: return arg(0) / arg(1);
    case TraceOp::kModFloor: return arg(0) % arg(1);
    case TraceOp::kShl: return arg(0) << arg(1);
    case TraceOp::kShr:
    case TraceOp::kSar: return arg(0) >> arg(1);
    default: return 0;
  }
}

}  // namespace nrd::jit
