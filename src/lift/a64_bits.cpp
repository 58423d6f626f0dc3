// SPDX-License-Identifier: MIT
// src/lift/a64_bits.cpp: shifts, extensions and bit fields of general registers.
#include "lift/a64.h"

namespace nrd::lift {
namespace {

uint64_t low_mask(unsigned width) {
  return width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
}

}  // namespace

void A64Translator::shift() {
  const Type type = integer_type(0);
  NodeId by = read(2, type);
  if (operand(2).kind != A64Operand::Kind::kImmediate) {  // the machine takes it modulo the width
    by = b_.pure(TraceOp::kAnd, type, by, constant(type, type_bits(type) - 1));
  }
  write(0, b_.pure(rule().op, type, read(1, type), by));
}

void A64Translator::rotate() {
  const Type type = integer_type(0);
  if (operand(2).kind != A64Operand::Kind::kImmediate) refuse("a rotation by a variable");
  write(0, rotated(read(1, type), static_cast<unsigned>(operand(2).value), type));
}

void A64Translator::extract() {
  const Type type = integer_type(0);
  const auto amount = static_cast<unsigned>(operand(3).value);
  const NodeId low = shifted(read(2, type), ARM64_SFT_LSR, amount, type);
  if (amount == 0) return write(0, low);
  const NodeId high = shifted(read(1, type), ARM64_SFT_LSL, type_bits(type) - amount, type);
  write(0, b_.pure(TraceOp::kOr, type, high, low));
}

void A64Translator::extend() {
  const Type narrow = rule().bits == 8 ? Type::kI8 : rule().bits == 16 ? Type::kI16 : Type::kI32;
  const NodeId value = b_.convert(read_gpr(operand(1), Type::kI32), narrow);
  write(0, b_.convert(value, integer_type(0), rule().is_signed));
}

// Bits low..low + width - 1, extended as the rule says. Whole widths become conversions: those
// are what the analysis of indices knows.
NodeId A64Translator::field(NodeId value, unsigned low, unsigned width, Type type) {
  const unsigned bits = type_bits(type);
  if (low + width >= bits) {
    return shifted(value, rule().is_signed ? ARM64_SFT_ASR : ARM64_SFT_LSR, low, type);
  }
  if (width == 8 || width == 16 || width == 32) {
    const Type narrow = width == 8 ? Type::kI8 : width == 16 ? Type::kI16 : Type::kI32;
    const NodeId moved = shifted(value, ARM64_SFT_LSR, low, type);
    return b_.convert(b_.convert(moved, narrow), type, rule().is_signed);
  }
  if (rule().is_signed) {
    const NodeId moved = shifted(value, ARM64_SFT_LSL, bits - low - width, type);
    return shifted(moved, ARM64_SFT_ASR, bits - width, type);
  }
  const NodeId moved = shifted(value, ARM64_SFT_LSR, low, type);
  return b_.pure(TraceOp::kAnd, type, moved, constant(type, low_mask(width)));
}

void A64Translator::field_extract() {
  const Type type = integer_type(0);
  const auto low = static_cast<unsigned>(operand(2).value);
  const auto width = static_cast<unsigned>(operand(3).value);
  write(0, field(read(1, type), low, width, type));
}

void A64Translator::field_insert_in_zero() {
  const Type type = integer_type(0);
  const auto to = static_cast<unsigned>(operand(2).value);
  const auto width = static_cast<unsigned>(operand(3).value);
  write(0, shifted(field(read(1, type), 0, width, type), ARM64_SFT_LSL, to, type));
}

void A64Translator::field_insert() {
  const Type type = integer_type(0);
  const auto to = static_cast<unsigned>(operand(2).value);
  const auto width = static_cast<unsigned>(operand(3).value);
  const uint64_t mask = low_mask(width);
  NodeId inserted = b_.pure(TraceOp::kAnd, type, read(1, type), constant(type, mask));
  inserted = shifted(inserted, ARM64_SFT_LSL, to, type);
  const NodeId kept = b_.pure(TraceOp::kAnd, type, read(0, type), constant(type, ~(mask << to)));
  write(0, b_.pure(TraceOp::kOr, type, kept, inserted));
}

void A64Translator::field_extract_and_insert() {
  const Type type = integer_type(0);
  const auto low = static_cast<unsigned>(operand(2).value);
  const uint64_t mask = low_mask(static_cast<unsigned>(operand(3).value));
  NodeId inserted = shifted(read(1, type), ARM64_SFT_LSR, low, type);
  inserted = b_.pure(TraceOp::kAnd, type, inserted, constant(type, mask));
  const NodeId kept = b_.pure(TraceOp::kAnd, type, read(0, type), constant(type, ~mask));
  write(0, b_.pure(TraceOp::kOr, type, kept, inserted));
}

}  // namespace nrd::lift
