// SPDX-License-Identifier: MIT
// src/jit/a64_neon.cpp: the NEON back end: what it offers and what it asks of the allocator.
#include "jit/a64_emitter.h"
#include "jit/encode.h"

namespace nrd::jit {
namespace {

uint8_t store_temporaries(DType dtype) {
  switch (dtype) {
    case DType::kF16:
    case DType::kI8:
    case DType::kU8: return 1;
    case DType::kBF16: return 3;
    case DType::kF8E4M3:
    case DType::kF8E5M2: return 4;
    default: return 0;
  }
}

// Two instructions, of which the first writes the result and the second reads both factors (both
// sides of a choice): they need registers apart from it, or a temporary where they are the result.
Needs result_apart(const Inst& inst) {
  const bool is_operand = inst.dst == inst.a || inst.dst == inst.b;
  return {.vectors = is_operand, .apart = kOperandA | kOperandB};
}

Needs neon_needs(const Inst& inst) {
  const bool is_f64 = inst.lane == Lane::kF64;
  switch (inst.op) {
    case Op::kMove: return {.memory = kOperandA};
    case Op::kFma:
    case Op::kFnma:
    case Op::kFmaLane:
      if (inst.dst == inst.c) return {};
      return result_apart(inst);
    case Op::kFms: return result_apart(inst);
    case Op::kDotI16: return {.vectors = 2};
    case Op::kMax:
    case Op::kMin:
      if (inst.lane == Lane::kI32) return {};
      return result_apart(inst);
    case Op::kShrV:
    case Op::kSarV:
    case Op::kTailMask:
    case Op::kBranchAny: return {.vectors = 1};
    case Op::kF32ToI32:
    case Op::kF32ToI32Nearest:
    case Op::kF64ToI32: return {.vectors = 2};
    case Op::kSelect: return {.vectors = is_f64};
    case Op::kCompare:
      return {.vectors = inst.lane != Lane::kI32 && a64_compares_twice(inst.predicate)};
    case Op::kLoad:
    case Op::kBroadcast:
    case Op::kLoadStrided: return {.vectors = inst.dtype == DType::kF8E4M3};
    case Op::kGather: {
      Needs needs = {.vectors = inst.dtype == DType::kF8E4M3, .apart = kOperandA};
      needs.vectors += inst.dst == inst.a;
      return needs;
    }
    case Op::kStore:
    case Op::kStoreStrided: return {.vectors = store_temporaries(inst.dtype)};
    default: return {};
  }
}

}  // namespace

extern constinit const Backend kNeonBackend = {
    .target = {.isa = "neon", .vector_bytes = 16, .vector_registers = 32, .has_lane_fma = true},
    .required = IsaSet().with(Feature::kNeon),
    .registers = {kA64Vectors, {}, kA64Gprs, true},
    .needs = neon_needs,
    .emit = [](const Program& program, const Target& target, const Allocation& where) {
      return A64Emitter(program, target, where).run();
    }};

}  // namespace nrd::jit
