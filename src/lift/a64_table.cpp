// SPDX-License-Identifier: MIT
// src/lift/a64_table.cpp: the aarch64 instructions that are understood.
#include <array>

#include "lift/a64.h"

namespace nrd::lift {
namespace {

using T = A64Translator;

constexpr A64Rule kRules[] = {
    // Nothing to do: padding, hints (bti, paciasp, autiasp), prefetches.
    {ARM64_INS_NOP, &T::nothing},
    {ARM64_INS_HINT, &T::nothing},
    {ARM64_INS_YIELD, &T::nothing},
    {ARM64_INS_PRFM, &T::nothing},
    {ARM64_INS_PRFUM, &T::nothing},

    // Moves and sums.
    {ARM64_INS_MOV, &T::move},
    {ARM64_INS_MOVZ, &T::move_wide},
    {ARM64_INS_MOVN, &T::move_wide_inverted},
    {ARM64_INS_MOVK, &T::move_keep},
    {ARM64_INS_ADR, &T::load_address},
    {ARM64_INS_ADRP, &T::load_address},
    {ARM64_INS_ADD, &T::add},
    {ARM64_INS_SUB, &T::subtract},
    {ARM64_INS_NEG, &T::negate},
    {ARM64_INS_NEGS, &T::negate},
    {ARM64_INS_CMP, &T::compare},
    {ARM64_INS_CMN, &T::compare_negative},

    // Logic. and, bic: with or without flags.
    {ARM64_INS_AND, &T::logic, TraceOp::kAnd},
    {ARM64_INS_ORR, &T::logic, TraceOp::kOr},
    {ARM64_INS_EOR, &T::logic, TraceOp::kXor},
    {ARM64_INS_BIC, &T::logic_inverted, TraceOp::kAnd},
    {ARM64_INS_ORN, &T::logic_inverted, TraceOp::kOr},
    {ARM64_INS_EON, &T::logic_inverted, TraceOp::kXor},
    {ARM64_INS_MVN, &T::complement},
    {ARM64_INS_TST, &T::test},

    // Products. A high half has no place in a trace; compilers make it of x / 3.
    {ARM64_INS_MUL, &T::multiply},
    {ARM64_INS_MNEG, &T::multiply_negated},
    {ARM64_INS_MADD, &T::multiply_add, TraceOp::kAdd},
    {ARM64_INS_MSUB, &T::multiply_add, TraceOp::kSub},
    {ARM64_INS_SMULL, &T::multiply_long, TraceOp::kMul, true},
    {ARM64_INS_UMULL, &T::multiply_long, TraceOp::kMul, false},
    {ARM64_INS_SMADDL, &T::multiply_long_add, TraceOp::kAdd, true},
    {ARM64_INS_UMADDL, &T::multiply_long_add, TraceOp::kAdd, false},
    {ARM64_INS_SMSUBL, &T::multiply_long_add, TraceOp::kSub, true},
    {ARM64_INS_UMSUBL, &T::multiply_long_add, TraceOp::kSub, false},
    {ARM64_INS_SMNEGL, &T::multiply_long_negated, TraceOp::kNeg, true},
    {ARM64_INS_UMNEGL, &T::multiply_long_negated, TraceOp::kNeg, false},
    {ARM64_INS_SMULH, &T::multiply_high, TraceOp::kMul, true},
    {ARM64_INS_UMULH, &T::multiply_high, TraceOp::kMul, false},
    {ARM64_INS_SDIV, &T::divide, TraceOp::kDiv, true},
    {ARM64_INS_UDIV, &T::divide, TraceOp::kDiv, false},

    // Shifts and bit fields.
    {ARM64_INS_LSL, &T::shift, TraceOp::kShl},
    {ARM64_INS_LSR, &T::shift, TraceOp::kShr},
    {ARM64_INS_ASR, &T::shift, TraceOp::kSar},
    {ARM64_INS_ROR, &T::rotate},
    {ARM64_INS_EXTR, &T::extract},
    {ARM64_INS_SXTB, &T::extend, TraceOp::kConst, true, 8},
    {ARM64_INS_SXTH, &T::extend, TraceOp::kConst, true, 16},
    {ARM64_INS_SXTW, &T::extend, TraceOp::kConst, true, 32},
    {ARM64_INS_UXTB, &T::extend, TraceOp::kConst, false, 8},
    {ARM64_INS_UXTH, &T::extend, TraceOp::kConst, false, 16},
    {ARM64_INS_UXTW, &T::extend, TraceOp::kConst, false, 32},
    {ARM64_INS_SBFX, &T::field_extract, TraceOp::kConst, true},
    {ARM64_INS_UBFX, &T::field_extract, TraceOp::kConst, false},
    {ARM64_INS_SBFIZ, &T::field_insert_in_zero, TraceOp::kConst, true},
    {ARM64_INS_UBFIZ, &T::field_insert_in_zero, TraceOp::kConst, false},
    {ARM64_INS_BFI, &T::field_insert},
    {ARM64_INS_BFXIL, &T::field_extract_and_insert},

    // Conditions.
    {ARM64_INS_CSEL, &T::select},
    {ARM64_INS_CSINC, &T::select_increment},
    {ARM64_INS_CSINV, &T::select_invert},
    {ARM64_INS_CSNEG, &T::select_negate},
    {ARM64_INS_CSET, &T::set_one},
    {ARM64_INS_CSETM, &T::set_all},
    {ARM64_INS_CINC, &T::increment_if},
    {ARM64_INS_CINV, &T::invert_if},
    {ARM64_INS_CNEG, &T::negate_if},
    {ARM64_INS_CCMP, &T::compare_if},
    {ARM64_INS_CCMN, &T::compare_negative_if},
    {ARM64_INS_FCMP, &T::float_compare},
    {ARM64_INS_FCMPE, &T::float_compare},
    {ARM64_INS_FCCMP, &T::float_compare_if},
    {ARM64_INS_FCCMPE, &T::float_compare_if},
    {ARM64_INS_FCSEL, &T::float_select},

    // Memory.
    {ARM64_INS_LDR, &T::load},
    {ARM64_INS_LDUR, &T::load},
    {ARM64_INS_LDRB, &T::load, TraceOp::kLoad, false, 8},
    {ARM64_INS_LDURB, &T::load, TraceOp::kLoad, false, 8},
    {ARM64_INS_LDRH, &T::load, TraceOp::kLoad, false, 16},
    {ARM64_INS_LDURH, &T::load, TraceOp::kLoad, false, 16},
    {ARM64_INS_LDRSB, &T::load, TraceOp::kLoad, true, 8},
    {ARM64_INS_LDURSB, &T::load, TraceOp::kLoad, true, 8},
    {ARM64_INS_LDRSH, &T::load, TraceOp::kLoad, true, 16},
    {ARM64_INS_LDURSH, &T::load, TraceOp::kLoad, true, 16},
    {ARM64_INS_LDRSW, &T::load, TraceOp::kLoad, true, 32},
    {ARM64_INS_LDURSW, &T::load, TraceOp::kLoad, true, 32},
    {ARM64_INS_LDP, &T::load_pair},
    {ARM64_INS_LDNP, &T::load_pair},
    {ARM64_INS_LDPSW, &T::load_pair, TraceOp::kLoad, true, 32},
    {ARM64_INS_STR, &T::store},
    {ARM64_INS_STUR, &T::store},
    {ARM64_INS_STRB, &T::store, TraceOp::kStore, false, 8},
    {ARM64_INS_STURB, &T::store, TraceOp::kStore, false, 8},
    {ARM64_INS_STRH, &T::store, TraceOp::kStore, false, 16},
    {ARM64_INS_STURH, &T::store, TraceOp::kStore, false, 16},
    {ARM64_INS_STP, &T::store_pair},
    {ARM64_INS_STNP, &T::store_pair},

    // Floating point. frinti and frintx round as the mode says: to nearest, which nobody changes.
    {ARM64_INS_FMOV, &T::float_move},
    {ARM64_INS_FADD, &T::float_binary, TraceOp::kAdd},
    {ARM64_INS_FSUB, &T::float_binary, TraceOp::kSub},
    {ARM64_INS_FMUL, &T::float_binary, TraceOp::kMul},
    {ARM64_INS_FDIV, &T::float_binary, TraceOp::kDiv},
    {ARM64_INS_FNMUL, &T::float_multiply_negated},
    {ARM64_INS_FABD, &T::float_difference},
    {ARM64_INS_FMAXNM, &T::float_binary, TraceOp::kMaxNum},
    {ARM64_INS_FMINNM, &T::float_binary, TraceOp::kMinNum},
    {ARM64_INS_FMAX, &T::float_extremum, TraceOp::kMaxNan},
    {ARM64_INS_FMIN, &T::float_extremum, TraceOp::kMinNan},
    {ARM64_INS_FNEG, &T::float_negate, TraceOp::kNeg},
    {ARM64_INS_FABS, &T::float_unary, TraceOp::kAbs},
    {ARM64_INS_FSQRT, &T::float_unary, TraceOp::kSqrt},
    {ARM64_INS_FRINTM, &T::float_unary, TraceOp::kFloor},
    {ARM64_INS_FRINTP, &T::float_unary, TraceOp::kCeil},
    {ARM64_INS_FRINTZ, &T::float_unary, TraceOp::kTrunc},
    {ARM64_INS_FRINTN, &T::float_unary, TraceOp::kRint},
    {ARM64_INS_FRINTX, &T::float_unary, TraceOp::kRint},
    {ARM64_INS_FRINTI, &T::float_unary, TraceOp::kRint},
    {ARM64_INS_FMADD, &T::fused},
    {ARM64_INS_FMSUB, &T::fused_negated_product},
    {ARM64_INS_FNMADD, &T::fused_negated},
    {ARM64_INS_FNMSUB, &T::fused_negated_addend},
    {ARM64_INS_FCVT, &T::convert_float},
    {ARM64_INS_SCVTF, &T::integer_to_float, TraceOp::kConst, true},
    {ARM64_INS_UCVTF, &T::integer_to_float, TraceOp::kConst, false},
    {ARM64_INS_FCVTZS, &T::float_to_integer, TraceOp::kConst, true},
    {ARM64_INS_FCVTZU, &T::float_to_integer, TraceOp::kConst, false},
    {ARM64_INS_FCVTMS, &T::float_to_integer, TraceOp::kFloor, true},
    {ARM64_INS_FCVTMU, &T::float_to_integer, TraceOp::kFloor, false},
    {ARM64_INS_FCVTPS, &T::float_to_integer, TraceOp::kCeil, true},
    {ARM64_INS_FCVTPU, &T::float_to_integer, TraceOp::kCeil, false},
    {ARM64_INS_FCVTNS, &T::float_to_integer, TraceOp::kRint, true},
    {ARM64_INS_FCVTNU, &T::float_to_integer, TraceOp::kRint, false},

    // Whole vector registers, as scalar code uses them.
    {ARM64_INS_MOVI, &T::lane_immediate},
    {ARM64_INS_MVNI, &T::lane_immediate_inverted},
    {ARM64_INS_BSL, &T::choose_by_mask_in_target},
    {ARM64_INS_BIT, &T::choose_inserted},
    {ARM64_INS_BIF, &T::choose_kept},
    {ARM64_INS_UMOV, &T::lane_to_gpr, TraceOp::kConst, false},
    {ARM64_INS_SMOV, &T::lane_to_gpr, TraceOp::kConst, true},
    {ARM64_INS_INS, &T::insert_lane},
    {ARM64_INS_SHL, &T::lane_shift, TraceOp::kShl},
    {ARM64_INS_SSHR, &T::lane_shift, TraceOp::kSar},
    {ARM64_INS_USHR, &T::lane_shift, TraceOp::kShr},
    {ARM64_INS_SSHLL, &T::lane_widen, TraceOp::kConst, true},
    {ARM64_INS_USHLL, &T::lane_widen, TraceOp::kConst, false},
};

constexpr auto kRuleOf = [] {
  std::array<const A64Rule*, ARM64_INS_ENDING> rules{};
  for (const A64Rule& rule : kRules) rules[rule.id] = &rule;
  return rules;
}();

}  // namespace

const A64Rule* find_a64_rule(arm64_insn id) {
  return static_cast<size_t>(id) < kRuleOf.size() ? kRuleOf[id] : nullptr;
}

}  // namespace nrd::lift
