// SPDX-License-Identifier: MIT
// src/lift/scev_divide.cpp: what is no polynomial: quotients, remainders and extrema, simplified as
// far as they go, are atoms.
#include <limits>
#include <numeric>

#include "lift/scev.h"

namespace nrd::lift {

IntPoly Scev::composite(TraceOp op, const IntPoly& a, const IntPoly& b) {
  const NodeId first = node_of(a);
  const NodeId made = factory_.pure(op, Type::kI64, first, node_of(b));
  const Node& n = function_[made];
  return n.kind == Kind::kConst ? IntPoly(static_cast<int64_t>(n.bits)) : IntPoly::atom(made);
}

IntPoly Scev::divide_floor(const IntPoly& a, const IntPoly& b) {
  if (a.is_too_large() || b.is_too_large()) return IntPoly::too_large();
  if (const auto exact = a.divided_by(b); exact && (b.is_constant() || !a.is_constant()))
    return *exact;
  if (!b.is_constant() || b.constant() <= 0) return composite(TraceOp::kDivFloor, a, b);
  if (const IntPoly plain = without_remainders(a, b); plain != a) return divide_floor(plain, b);
  if (const IntPoly plain = without_reciprocal(a, b); !plain.is_too_large()) return plain;
  const int64_t divisor = b.constant();
  // Whole multiples come out; what stays has a constant from 0 to divisor - 1.
  IntPoly whole, rest;
  for (const PolyTerm& term : a.terms()) {
    if (term.atoms == kNoAtoms) continue;
    IntPoly one(1);
    for (NodeId atom : term.atoms)
      if (atom != kNoNode) one = one * IntPoly::atom(atom);
    const bool comes_out = term.coefficient % divisor == 0;
    (comes_out ? whole : rest)
        .add_scaled(one, comes_out ? term.coefficient / divisor : term.coefficient);
  }
  const int64_t constant = a.constant();
  const int64_t steps = (constant % divisor < 0) ? constant / divisor - 1 : constant / divisor;
  whole += IntPoly(steps);
  const int64_t left = constant - steps * divisor;
  if (rest.is_zero()) return whole;
  const int64_t common = std::gcd(rest.content(), divisor);
  if (common > 1) {
    const IntPoly smaller_rest = *rest.divided_by(common) + IntPoly(left / common);
    return whole + divide_floor(smaller_rest, IntPoly(divisor / common));
  }
  // (x / p + c) / q is (x + c * p) / (p * q).
  const NodeId inner = rest.single_atom();
  if (inner != kNoNode && function_[inner].kind == Kind::kPure &&
      function_[inner].op == TraceOp::kDivFloor) {
    const Node quotient = function_[inner];
    const IntPoly by = of(quotient.args[1]);
    const bool fits = by.is_constant() && by.constant() > 0 &&
                      by.constant() <= std::numeric_limits<int64_t>::max() / divisor;
    if (fits)
      return whole + divide_floor(of(quotient.args[0]) + IntPoly(left * by.constant()),
                                  IntPoly(divisor * by.constant()));
  }
  return whole + composite(TraceOp::kDivFloor, rest + IntPoly(left), b);
}

// Compilers multiply by a reciprocal: x * m >> s is x / d where m * d exceeds 2^s by no more than
// 2^(s - 31), for every x of 31 bits. Too large where it is no such product.
IntPoly Scev::without_reciprocal(const IntPoly& a, const IntPoly& b) {
  const IntPoly none = IntPoly::too_large();
  const int64_t power = b.constant();
  if (power < int64_t{1} << 32 || (power & (power - 1)) != 0) return none;
  const int64_t factor = a.content();
  if (factor < 1 << 24 || factor >= power) return none;
  const auto whole = a.divided_by(factor);
  const int64_t divisor = power / factor + 1;
  const Wide excess = Wide{factor} * divisor - power;
  if (!whole || divisor < 3 || excess > power >> 31) return none;
  return divide_floor(*whole, IntPoly(divisor));
}

// n - n % d is d * (n / d).
IntPoly Scev::without_remainders(const IntPoly& a, const IntPoly& b) {
  for (const PolyTerm& term : a.terms()) {
    const NodeId atom = term.atoms[0];
    if (atom == kNoNode || term.atoms[1] != kNoNode) continue;
    const Node n = function_[atom];
    if (n.kind != Kind::kPure || n.op != TraceOp::kModFloor || of(n.args[1]) != b) continue;
    const IntPoly whole = of(n.args[0]);
    const IntPoly rest =
        a - IntPoly(term.coefficient) * IntPoly::atom(atom) + IntPoly(term.coefficient) * whole;
    if (rest.terms().size() < a.terms().size())
      return rest - IntPoly(term.coefficient) * b * divide_floor(whole, b);
  }
  return a;
}

IntPoly Scev::modulo_floor(const IntPoly& a, const IntPoly& b) {
  if (a.is_too_large() || b.is_too_large()) return IntPoly::too_large();
  if (a.divided_by(b)) return IntPoly(0);
  if (!b.is_constant() || b.constant() <= 0) return composite(TraceOp::kModFloor, a, b);
  const int64_t divisor = b.constant();
  IntPoly rest;
  for (const PolyTerm& term : a.terms()) {
    int64_t coefficient = term.coefficient % divisor;
    if (term.atoms == kNoAtoms && coefficient < 0) coefficient += divisor;
    IntPoly one(1);
    for (NodeId atom : term.atoms)
      if (atom != kNoNode) one = one * IntPoly::atom(atom);
    rest.add_scaled(one, coefficient);
  }
  if (rest.is_constant()) return rest;
  return composite(TraceOp::kModFloor, rest, b);
}

IntPoly Scev::extreme(TraceOp op, const IntPoly& a, const IntPoly& b) {
  if (a.is_too_large() || b.is_too_large()) return IntPoly::too_large();
  const bool is_max = op == TraceOp::kMax;
  if (is_nonnegative(a - b)) return is_max ? a : b;
  if (is_nonnegative(b - a)) return is_max ? b : a;
  return composite(op, a, b);
}

}  // namespace nrd::lift
