// SPDX-License-Identifier: MIT
// src/lift/x86_table.cpp: the instructions that are understood, one row each, and what is said
// about the others.
#include <algorithm>
#include <array>

#include "lift/x86.h"

namespace nrd::lift {
namespace {

using T = X86Translator;
using enum TraceOp;
using F = X86Flags;
constexpr Type kI32 = Type::kI32, kI64 = Type::kI64, kF32 = Type::kF32, kF64 = Type::kF64;

#define ROW(name, ...) \
  X86Rule { ZYDIS_MNEMONIC_##name, __VA_ARGS__ }
// An SSE instruction and its VEX form.
#define BOTH(name, ...) ROW(name, __VA_ARGS__), ROW(V##name, __VA_ARGS__)
// ss and sd
#define SCALAR(name, handler, op) \
  BOTH(name##SS, handler, op, kF32), BOTH(name##SD, handler, op, kF64)
#define FUSED_FORMS(name, signs)                                                \
  ROW(V##name##132SS, &T::fused, kFma, kF32, F::kKept, kForm132 | (signs)),     \
      ROW(V##name##132SD, &T::fused, kFma, kF64, F::kKept, kForm132 | (signs)), \
      ROW(V##name##213SS, &T::fused, kFma, kF32, F::kKept, kForm213 | (signs)), \
      ROW(V##name##213SD, &T::fused, kFma, kF64, F::kKept, kForm213 | (signs)), \
      ROW(V##name##231SS, &T::fused, kFma, kF32, F::kKept, kForm231 | (signs)), \
      ROW(V##name##231SD, &T::fused, kFma, kF64, F::kKept, kForm231 | (signs))

constexpr X86Rule kIntegerRules[] = {
    ROW(MOV, &T::move),
    ROW(MOVZX, &T::extend_zero),
    ROW(MOVSX, &T::extend_sign),
    ROW(MOVSXD, &T::extend_sign),
    ROW(CBW, &T::extend_accumulator, kConst, Type::kI16),
    ROW(CWDE, &T::extend_accumulator, kConst, kI32),
    ROW(CDQE, &T::extend_accumulator, kConst, kI64),
    ROW(CDQ, &T::sign_of_accumulator, kConst, kI32),
    ROW(CQO, &T::sign_of_accumulator, kConst, kI64),
    ROW(LEA, &T::load_address),
    ROW(ADD, &T::add, kAdd, Type::kNone, F::kInteger),
    ROW(SUB, &T::subtract, kSub, Type::kNone, F::kInteger),
    ROW(CMP, &T::compare, kSub, Type::kNone, F::kInteger),
    ROW(TEST, &T::test, kAnd, Type::kNone, F::kInteger),
    ROW(AND, &T::logic, kAnd, Type::kNone, F::kInteger),
    ROW(OR, &T::logic, kOr, Type::kNone, F::kInteger),
    ROW(XOR, &T::logic, kXor, Type::kNone, F::kInteger),
    ROW(ANDN, &T::and_not, kAnd, Type::kNone, F::kInteger),
    ROW(NEG, &T::negate, kNeg, Type::kNone, F::kInteger),
    ROW(NOT, &T::complement),
    ROW(INC, &T::increment, kAdd, Type::kNone, F::kNoCarry),
    ROW(DEC, &T::decrement, kSub, Type::kNone, F::kNoCarry),
    ROW(ADC, &T::add_carry, kAdd, Type::kNone, F::kNone),
    ROW(SBB, &T::subtract_borrow, kSub, Type::kNone, F::kNone),
    ROW(IMUL, &T::multiply, kMul, Type::kNone, F::kNone),
    ROW(MUL, &T::multiply_unsigned, kMul, Type::kNone, F::kNone),
    ROW(IDIV, &T::divide, kDiv, Type::kNone, F::kNone),
    ROW(DIV, &T::divide_unsigned, kDiv, Type::kNone, F::kNone),
    ROW(SHL, &T::shift, kShl, Type::kNone, F::kZeroSign),
    ROW(SHR, &T::shift, kShr, Type::kNone, F::kZeroSign),
    ROW(SAR, &T::shift, kSar, Type::kNone, F::kZeroSign),
    ROW(SHLX, &T::shift_without_flags, kShl),
    ROW(SHRX, &T::shift_without_flags, kShr),
    ROW(SARX, &T::shift_without_flags, kSar),
    ROW(ROL, &T::rotate, kShl, Type::kNone, F::kNone),
    ROW(ROR, &T::rotate, kShr, Type::kNone, F::kNone),
    ROW(RORX, &T::rotate, kShr),
    ROW(BT, &T::bit_test, kShr, Type::kNone, F::kCarry),
    ROW(XCHG, &T::exchange),
    ROW(PUSH, &T::push),
    ROW(POP, &T::pop),
    ROW(LEAVE, &T::leave),
    ROW(RET, &T::return_),
    ROW(CALL, &T::nothing),
    ROW(JMP, &T::nothing),
    ROW(NOP, &T::nothing),
    ROW(ENDBR64, &T::nothing),
    ROW(VZEROUPPER, &T::nothing),
    ROW(PREFETCHT0, &T::nothing),
    ROW(PREFETCHT1, &T::nothing),
    ROW(PREFETCHT2, &T::nothing),
    ROW(PREFETCHNTA, &T::nothing),
    ROW(PREFETCHW, &T::nothing),
};

constexpr X86Rule kFloatRules[] = {
    SCALAR(ADD, &T::scalar_binary, kAdd),
    SCALAR(SUB, &T::scalar_binary, kSub),
    SCALAR(MUL, &T::scalar_binary, kMul),
    SCALAR(DIV, &T::scalar_binary, kDiv),
    SCALAR(MAX, &T::scalar_binary, kMaxFirst),
    SCALAR(MIN, &T::scalar_binary, kMinFirst),
    SCALAR(SQRT, &T::scalar_unary, kSqrt),
    SCALAR(ROUND, &T::scalar_round, kRint),
    ROW(VRNDSCALESS, &T::scalar_round, kRint, kF32),
    ROW(VRNDSCALESD, &T::scalar_round, kRint, kF64),
    SCALAR(CMP, &T::scalar_compare_mask, kCmp),
    BOTH(CMPPS, &T::low_compare_mask, kCmp, kF32),
    BOTH(CMPPD, &T::low_compare_mask, kCmp, kF64),
    BOTH(COMISS, &T::scalar_compare_flags, kCmp, kF32, F::kFloat),
    BOTH(COMISD, &T::scalar_compare_flags, kCmp, kF64, F::kFloat),
    BOTH(UCOMISS, &T::scalar_compare_flags, kCmp, kF32, F::kFloat),
    BOTH(UCOMISD, &T::scalar_compare_flags, kCmp, kF64, F::kFloat),
    FUSED_FORMS(FMADD, 0),
    FUSED_FORMS(FMSUB, kNegateAddend),
    FUSED_FORMS(FNMADD, kNegateProduct),
    FUSED_FORMS(FNMSUB, kNegateProduct | kNegateAddend),
    BOTH(CVTSI2SS, &T::integer_to_float, kToF32, kF32),
    BOTH(CVTSI2SD, &T::integer_to_float, kToF64, kF64),
    ROW(VCVTUSI2SS, &T::unsigned_to_float, kToF32, kF32),
    ROW(VCVTUSI2SD, &T::unsigned_to_float, kToF64, kF64),
    BOTH(CVTTSS2SI, &T::float_to_integer, kToI32, kF32),
    BOTH(CVTTSD2SI, &T::float_to_integer, kToI32, kF64),
    BOTH(CVTSS2SI, &T::float_to_integer_rounded, kToI32, kF32),
    BOTH(CVTSD2SI, &T::float_to_integer_rounded, kToI32, kF64),
    BOTH(CVTSS2SD, &T::convert_float, kToF64, kF32),
    BOTH(CVTSD2SS, &T::convert_float, kToF32, kF64),
    BOTH(CVTPS2PD, &T::convert_low_lane, kToF64, kF32),
    BOTH(CVTPD2PS, &T::convert_low_lane, kToF32, kF64),
};

constexpr X86Rule kVectorRules[] = {
    SCALAR(MOV, &T::move_scalar, kConst),
    BOTH(MOVD, &T::move_integer, kConst, kI32),
    BOTH(MOVQ, &T::move_integer, kConst, kI64),
    BOTH(MOVAPS, &T::move_vector),
    BOTH(MOVUPS, &T::move_vector),
    BOTH(MOVAPD, &T::move_vector),
    BOTH(MOVUPD, &T::move_vector),
    BOTH(MOVDQA, &T::move_vector),
    BOTH(MOVDQU, &T::move_vector),
    ROW(VMOVDQA32, &T::move_vector),
    ROW(VMOVDQA64, &T::move_vector),
    ROW(VMOVDQU32, &T::move_vector),
    ROW(VMOVDQU64, &T::move_vector),
    BOTH(UNPCKLPS, &T::duplicate_low_lane, kConst, kF32),
    BOTH(UNPCKLPD, &T::keep_low_lane),
    BOTH(MOVLHPS, &T::keep_low_lane),
    BOTH(MOVDDUP, &T::broadcast_low_lane, kConst, kF64),
    ROW(VBROADCASTSS, &T::broadcast_low_lane, kConst, kF32),
    BOTH(SHUFPS, &T::shuffle, kConst, kF32),
    BOTH(SHUFPD, &T::shuffle, kConst, kF64),
    BOTH(PSHUFD, &T::permute, kConst, kI32),
    ROW(VPERMILPS, &T::permute, kConst, kF32),
    BOTH(XORPS, &T::vector_logic, kXor, kF32),
    BOTH(XORPD, &T::vector_logic, kXor, kF64),
    BOTH(ANDPS, &T::vector_logic, kAnd, kF32),
    BOTH(ANDPD, &T::vector_logic, kAnd, kF64),
    BOTH(ORPS, &T::vector_logic, kOr, kF32),
    BOTH(ORPD, &T::vector_logic, kOr, kF64),
    BOTH(PXOR, &T::vector_logic, kXor, kI32),
    BOTH(PAND, &T::vector_logic, kAnd, kI32),
    BOTH(POR, &T::vector_logic, kOr, kI32),
    ROW(VPXORD, &T::vector_logic, kXor, kI32),
    ROW(VPXORQ, &T::vector_logic, kXor, kI64),
    ROW(VPANDD, &T::vector_logic, kAnd, kI32),
    ROW(VPANDQ, &T::vector_logic, kAnd, kI64),
    ROW(VPORD, &T::vector_logic, kOr, kI32),
    ROW(VPORQ, &T::vector_logic, kOr, kI64),
    BOTH(ANDNPS, &T::vector_and_not, kAnd, kF32),
    BOTH(ANDNPD, &T::vector_and_not, kAnd, kF64),
    BOTH(PANDN, &T::vector_and_not, kAnd, kI32),
    ROW(VPTERNLOGD, &T::ternary_logic, kSelect, kI32),
    ROW(VPTERNLOGQ, &T::ternary_logic, kSelect, kI64),
    BOTH(PCMPEQD, &T::all_ones, kConst, kI32),
    BOTH(PCMPEQQ, &T::all_ones, kConst, kI64),
    BOTH(PSLLD, &T::shift_lanes, kShl, kI32),
    BOTH(PSLLQ, &T::shift_lanes, kShl, kI64),
    BOTH(PSRLD, &T::shift_lanes, kShr, kI32),
    BOTH(PSRLQ, &T::shift_lanes, kShr, kI64),
    BOTH(BLENDVPS, &T::blend_by_sign, kSelect, kF32),
    BOTH(BLENDVPD, &T::blend_by_sign, kSelect, kF64),
    ROW(KMOVB, &T::move_mask, kConst, Type::kI8),
    ROW(KMOVW, &T::move_mask, kConst, Type::kI16),
    ROW(KMOVD, &T::move_mask, kConst, kI32),
    ROW(KMOVQ, &T::move_mask, kConst, kI64),
};

#undef FUSED_FORMS
#undef SCALAR
#undef BOTH
#undef ROW

constexpr X86Rule kSetRule{ZYDIS_MNEMONIC_INVALID, &T::set_byte};
constexpr X86Rule kMoveIfRule{ZYDIS_MNEMONIC_INVALID, &T::conditional_move};
constexpr X86Rule kBranchRule{ZYDIS_MNEMONIC_INVALID, &T::nothing};

using RuleIndex = std::array<const X86Rule*, ZYDIS_MNEMONIC_MAX_VALUE + 1>;

constexpr RuleIndex make_index() {
  RuleIndex index{};
  for (const X86Rule& rule : kIntegerRules) index[rule.mnemonic] = &rule;
  for (const X86Rule& rule : kFloatRules) index[rule.mnemonic] = &rule;
  for (const X86Rule& rule : kVectorRules) index[rule.mnemonic] = &rule;
  return index;
}

constexpr RuleIndex kIndex = make_index();

bool is_approximation(ZydisMnemonic mnemonic) {
  static constexpr ZydisMnemonic kList[] = {ZYDIS_MNEMONIC_RSQRTSS,    ZYDIS_MNEMONIC_RCPSS,
                                            ZYDIS_MNEMONIC_VRSQRTSS,   ZYDIS_MNEMONIC_VRCPSS,
                                            ZYDIS_MNEMONIC_RSQRTPS,    ZYDIS_MNEMONIC_RCPPS,
                                            ZYDIS_MNEMONIC_VRSQRT14SS, ZYDIS_MNEMONIC_VRSQRT14SD,
                                            ZYDIS_MNEMONIC_VRCP14SS,   ZYDIS_MNEMONIC_VRCP14SD};
  return std::find(std::begin(kList), std::end(kList), mnemonic) != std::end(kList);
}

bool is_vector(const X86Operand& operand) {
  return operand.kind == X86Operand::Kind::kVector || operand.bits >= 128;
}

}  // namespace

const X86Rule* find_x86_rule(const ZydisDecodedInstruction& instruction) {
  switch (instruction.meta.category) {
    case ZYDIS_CATEGORY_SETCC: return &kSetRule;
    case ZYDIS_CATEGORY_CMOV: return &kMoveIfRule;
    case ZYDIS_CATEGORY_COND_BR: return &kBranchRule;
    case ZYDIS_CATEGORY_STRINGOP: return nullptr;  // movsd and cmpsd are two instructions each
    default: return kIndex[instruction.mnemonic];
  }
}

std::string_view describe_unknown(const X86Record& record) {
  if (is_approximation(record.mnemonic)) return "an approximate reciprocal";
  switch (record.category) {
    case ZYDIS_CATEGORY_STRINGOP: return "a string instruction";
    case ZYDIS_CATEGORY_SEMAPHORE: return "an atomic operation";
    case ZYDIS_CATEGORY_X87_ALU:
    case ZYDIS_CATEGORY_FCMOV: return "x87 arithmetic";
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSTEM:
    case ZYDIS_CATEGORY_INTERRUPT: return "a system instruction";
    default: break;
  }
  const auto& operands = record.operands;
  return std::any_of(operands.begin(), operands.end(), is_vector) ? "packed arithmetic"
                                                                  : "an unknown instruction";
}

void X86Translator::translate() {
  if (in_.unsupported) refuse(in_.unsupported);
  if (in_.flow == Flow::kTrap) return;
  if (in_.rule) return (this->*in_.rule->translate)();
  const std::string_view what = describe_unknown(in_);
  if (what == "packed arithmetic") refuse_vectorised();
  refuse(what);
}

}  // namespace nrd::lift
