// SPDX-License-Identifier: MIT
// src/lift/flags.cpp: (what set the flags, condition) -> comparison.
#include "lift/flags.h"

#include <array>
#include <optional>

namespace nrd::lift {
namespace {

using enum Cond;

Cond opposite(Cond cond) { return static_cast<Cond>(static_cast<int>(cond) ^ 1); }

std::optional<Predicate> compare_predicate(Cond cond) {
  switch (cond) {
    case kE: return Predicate::kEq;
    case kNE: return Predicate::kNe;
    case kB: return Predicate::kB;
    case kAE: return Predicate::kAe;
    case kBE: return Predicate::kBe;
    case kA: return Predicate::kA;
    case kL: return Predicate::kLt;
    case kGE: return Predicate::kGe;
    case kLE: return Predicate::kLe;
    case kG: return Predicate::kGt;
    default: return std::nullopt;
  }
}

// Flags of a result alone, where neither carry nor overflow can be set.
std::optional<Predicate> zero_predicate(Cond cond) {
  switch (cond) {
    case kE:
    case kBE: return Predicate::kEq;
    case kNE:
    case kA: return Predicate::kNe;
    case kS:
    case kL: return Predicate::kLt;
    case kNS:
    case kGE: return Predicate::kGe;
    case kLE: return Predicate::kLe;
    case kG: return Predicate::kGt;
    default: return std::nullopt;
  }
}

// ucomiss sets zero, parity and carry together where the operands are unordered.
std::optional<Predicate> x86_float_predicate(Cond cond) {
  switch (cond) {
    case kA: return Predicate::kOgt;
    case kAE: return Predicate::kOge;
    case kB: return Predicate::kUlt;
    case kBE: return Predicate::kUle;
    case kE: return Predicate::kUeq;
    case kNE: return Predicate::kOne;
    case kP: return Predicate::kUno;
    case kNP: return Predicate::kOrd;
    default: return std::nullopt;
  }
}

// fcmp sets carry and overflow where the operands are unordered.
std::optional<Predicate> a64_float_predicate(Cond cond) {
  switch (cond) {
    case kE: return Predicate::kOeq;
    case kNE: return Predicate::kUne;
    case kAE: return Predicate::kUge;
    case kB: return Predicate::kOlt;
    case kS: return Predicate::kOlt;
    case kNS: return Predicate::kUge;
    case kA: return Predicate::kUgt;
    case kBE: return Predicate::kOle;
    case kGE: return Predicate::kOge;
    case kL: return Predicate::kUlt;
    case kG: return Predicate::kOgt;
    case kLE: return Predicate::kUle;
    case kO: return Predicate::kUno;
    case kNO: return Predicate::kOrd;
    default: return std::nullopt;
  }
}

NodeId compare_zero(NodeFactory& f, Predicate predicate, NodeId result) {
  return f.compare(predicate, result, f.constant(f[result].type, 0));
}

bool is_const(const Node& node, uint64_t bits) {
  return node.kind == Kind::kConst && node.bits == bits;
}

NodeId after_compare(NodeFactory& f, NodeId a, NodeId b, Cond cond) {
  if (const auto predicate = compare_predicate(cond)) return f.compare(*predicate, a, b);
  if (cond == kS || cond == kNS) {
    const NodeId difference = f.pure(TraceOp::kSub, f[a].type, a, b);
    return compare_zero(f, cond == kS ? Predicate::kLt : Predicate::kGe, difference);
  }
  const bool overflow = cond == kO || cond == kNO;
  if (overflow && is_const(f[b], 0)) return f.constant(Type::kBool, cond == kNO);
  return kNoNode;
}

NodeId after_and(NodeFactory& f, NodeId a, NodeId b, Cond cond) {
  if (cond == kB || cond == kO) return f.constant(Type::kBool, 0);
  if (cond == kAE || cond == kNO) return f.constant(Type::kBool, 1);
  const auto predicate = zero_predicate(cond);
  if (!predicate) return kNoNode;
  return compare_zero(f, *predicate, f.pure(TraceOp::kAnd, f[a].type, a, b));
}

// a + c compares like a with -c, where -c exists. The carry is the opposite of a borrow.
NodeId after_add_constant(NodeFactory& f, NodeId a, const Node& c, Cond cond) {
  const uint64_t sign = uint64_t{1} << (type_bits(c.type) - 1);
  if (c.bits == 0) return after_compare(f, a, f.constant(c.type, 0), cond);
  const bool is_ordering = cond == kL || cond == kGE || cond == kLE || cond == kG;
  if (is_ordering && c.bits == sign) return kNoNode;
  const bool by_carry = cond == kB || cond == kAE;
  if (!is_ordering && !by_carry) return kNoNode;
  const Cond wanted = by_carry ? opposite(cond) : cond;
  return f.compare(*compare_predicate(wanted), a, f.constant(c.type, 0 - c.bits));
}

NodeId after_add(NodeFactory& f, NodeId a, NodeId b, Cond cond) {
  if (cond == kE || cond == kNE || cond == kS || cond == kNS)
    return compare_zero(f, *zero_predicate(cond), f.pure(TraceOp::kAdd, f[a].type, a, b));
  const Node constant = f[b];
  if (constant.kind == Kind::kConst) return after_add_constant(f, a, constant, cond);
  if (cond != kB && cond != kAE) return kNoNode;
  const NodeId sum = f.pure(TraceOp::kAdd, f[a].type, a, b);
  return f.compare(cond == kB ? Predicate::kB : Predicate::kAe, sum, a);
}

// A condition on the literal flags of ccmp: bit 3 is N, 2 Z, 1 C, 0 V. Carry means "no borrow".
bool holds_for(unsigned nzcv, Cond cond) {
  const bool n = nzcv & 8, z = nzcv & 4, c = nzcv & 2, v = nzcv & 1;
  switch (cond) {
    case kE: return z;
    case kNE: return !z;
    case kAE: return c;
    case kB: return !c;
    case kS: return n;
    case kNS: return !n;
    case kO: return v;
    case kNO: return !v;
    case kA: return c && !z;
    case kBE: return !c || z;
    case kGE: return n == v;
    case kL: return n != v;
    case kG: return !z && n == v;
    case kLE: return z || n != v;
    default: return false;
  }
}

}  // namespace

NodeId resolve_condition(NodeFactory& f, NodeId flags, Cond cond) {
  const Node node = f[flags];
  if (node.kind == Kind::kFlagsIf) {
    const NodeId inner = resolve_condition(f, node.args[1], cond);
    if (inner == kNoNode) return kNoNode;
    const bool literal = holds_for(static_cast<unsigned>(node.bits), cond);
    return f.select(node.args[0], inner, f.constant(Type::kBool, literal));
  }
  if (node.kind != Kind::kFlags) return kNoNode;
  std::optional<Predicate> predicate;
  switch (node.flags) {
    case FlagsKind::kCompare: return after_compare(f, node.args[0], node.args[1], cond);
    case FlagsKind::kAnd: return after_and(f, node.args[0], node.args[1], cond);
    case FlagsKind::kAdd: return after_add(f, node.args[0], node.args[1], cond);
    case FlagsKind::kFloatX86: predicate = x86_float_predicate(cond); break;
    case FlagsKind::kFloatA64: predicate = a64_float_predicate(cond); break;
    case FlagsKind::kNone: break;
  }
  return predicate ? f.compare(*predicate, node.args[0], node.args[1]) : kNoNode;
}

std::string_view cond_word(Cond cond) {
  static constexpr std::array<std::string_view, 16> kWords = {
      "overflow", "no overflow",      "below",          "above or equal",
      "equal",    "not equal",        "below or equal", "above",
      "sign",     "no sign",          "parity",         "no parity",
      "less",     "greater or equal", "less or equal",  "greater"};
  return kWords[static_cast<size_t>(cond)];
}

}  // namespace nrd::lift
