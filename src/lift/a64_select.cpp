// SPDX-License-Identifier: MIT
// src/lift/a64_select.cpp: flags and what reads them: branches, selects, conditional compares.
#include "lift/a64.h"

namespace nrd::lift {
namespace {

bool reads_carry(arm64_cc condition) {
  return condition == ARM64_CC_HS || condition == ARM64_CC_LO || condition == ARM64_CC_HI ||
         condition == ARM64_CC_LS;
}

bool is_logic(arm64_insn id) {
  return id == ARM64_INS_AND || id == ARM64_INS_BIC || id == ARM64_INS_TST;
}

// A sum that add_flags cannot turn into a compare.
bool is_unlike_compare(const A64Record& record) {
  const bool is_sum =
      record.id == ARM64_INS_ADD || record.id == ARM64_INS_CMN || record.id == ARM64_INS_CCMN;
  if (!is_sum) return false;
  const A64Operand& addend = record.operands[record.id == ARM64_INS_ADD ? 2 : 1];
  return addend.kind != A64Operand::Kind::kImmediate || addend.value == 0;
}

}  // namespace

// The carry of a difference is what the other machines call "no borrow", and Builder's names
// follow them. A sum of variables carries the other way round and logic clears the carry: no
// compiler asks, so nobody models it. Flags live a few instructions, so a scan backwards finds
// what set them.
void A64Translator::check_carry(arm64_cc condition) {
  if (!reads_carry(condition)) return;
  for (uint32_t i = current_; i > 0; i--) {
    const A64Record& before = records_[i - 1];
    if (before.address + 4 != records_[i].address) return;
    if (!before.sets_flags) continue;
    if (is_logic(before.id) || is_unlike_compare(before)) refuse("a carry that is not modelled");
    return;
  }
}

// Odd encodings are the even ones inverted; Capstone's numbers begin at one.
arm64_cc A64Translator::opposite(arm64_cc condition) {
  if (condition < ARM64_CC_EQ || condition > ARM64_CC_LE) refuse("a condition that always holds");
  return static_cast<arm64_cc>(((condition - 1) ^ 1) + 1);
}

NodeId A64Translator::branch_condition() {
  if (in_.id == ARM64_INS_B) return condition(in_.condition);
  const Type type = integer_type(0);
  const NodeId value = read_gpr(operand(0), type);
  const NodeId zero = constant(type, 0);
  const bool if_zero = in_.id == ARM64_INS_CBZ || in_.id == ARM64_INS_TBZ;
  if (in_.id == ARM64_INS_CBZ || in_.id == ARM64_INS_CBNZ) {
    return b_.compare(if_zero ? Predicate::kEq : Predicate::kNe, value, zero);
  }
  const auto bit = static_cast<unsigned>(operand(1).value);
  if (bit + 1 == static_cast<unsigned>(type_bits(type))) {
    return b_.compare(if_zero ? Predicate::kGe : Predicate::kLt, value, zero);
  }
  const NodeId tested = b_.pure(TraceOp::kAnd, type, value, constant(type, uint64_t{1} << bit));
  return b_.compare(if_zero ? Predicate::kEq : Predicate::kNe, tested, zero);
}

void A64Translator::write_selected(arm64_cc when, NodeId a, NodeId b) {
  write(0, b_.select(condition(when), a, b));
}

void A64Translator::select() {
  const Type type = integer_type(0);
  write_selected(in_.condition, read(1, type), read(2, type));
}

void A64Translator::select_increment() {
  const Type type = integer_type(0);
  const NodeId more = b_.pure(TraceOp::kAdd, type, read(2, type), constant(type, 1));
  write_selected(in_.condition, read(1, type), more);
}

void A64Translator::select_invert() {
  const Type type = integer_type(0);
  write_selected(in_.condition, read(1, type), inverted(read(2, type), type));
}

void A64Translator::select_negate() {
  const Type type = integer_type(0);
  const NodeId negated = b_.pure(TraceOp::kNeg, type, read(2, type));
  write_selected(in_.condition, read(1, type), negated);
}

void A64Translator::set_one() {
  const Type type = integer_type(0);
  write_selected(in_.condition, constant(type, 1), constant(type, 0));
}

void A64Translator::set_all() {
  const Type type = integer_type(0);
  write_selected(in_.condition, constant(type, ~uint64_t{0}), constant(type, 0));
}

// cinc, cinv, cneg: csinc, csinv, csneg of one register with the opposite condition.
void A64Translator::increment_if() {
  const Type type = integer_type(0);
  const NodeId value = read(1, type);
  const NodeId more = b_.pure(TraceOp::kAdd, type, value, constant(type, 1));
  write_selected(opposite(in_.condition), value, more);
}

void A64Translator::invert_if() {
  const Type type = integer_type(0);
  const NodeId value = read(1, type);
  write_selected(opposite(in_.condition), value, inverted(value, type));
}

void A64Translator::negate_if() {
  const Type type = integer_type(0);
  const NodeId value = read(1, type);
  write_selected(opposite(in_.condition), value, b_.pure(TraceOp::kNeg, type, value));
}

void A64Translator::compare_if() {
  const Type type = integer_type(0);
  const NodeId when = condition(in_.condition);
  b_.set_flags_if(when, FlagsKind::kCompare, read(0, type), read(1, type),
                  static_cast<unsigned>(operand(2).value));
}

void A64Translator::compare_negative_if() {
  const Type type = integer_type(0);
  const NodeId when = condition(in_.condition);
  const auto nzcv = static_cast<unsigned>(operand(2).value);
  const A64Operand& addend = operand(1);
  if (addend.kind == A64Operand::Kind::kImmediate && addend.value != 0) {  // as in add_flags
    const NodeId subtrahend = constant(type, -static_cast<uint64_t>(addend.value));
    b_.set_flags_if(when, FlagsKind::kCompare, read(0, type), subtrahend, nzcv);
  } else {
    b_.set_flags_if(when, FlagsKind::kAdd, read(0, type), read(1, type), nzcv);
  }
}

void A64Translator::float_compare() {
  const Type type = float_type(0);
  b_.set_flags(FlagsKind::kFloatA64, read_float(0, type), read_float(1, type));
}

void A64Translator::float_compare_if() {
  const Type type = float_type(0);
  const NodeId when = condition(in_.condition);
  b_.set_flags_if(when, FlagsKind::kFloatA64, read_float(0, type), read_float(1, type),
                  static_cast<unsigned>(operand(2).value));
}

void A64Translator::float_select() {
  const Type type = float_type(0);
  const NodeId when = condition(in_.condition);
  write_float(b_.select(when, read_float(1, type), read_float(2, type)));
}

}  // namespace nrd::lift
