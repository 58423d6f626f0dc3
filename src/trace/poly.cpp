// SPDX-License-Identifier: MIT
// src/trace/poly.cpp: arithmetic of index polynomials. What varies in a loop is in varying.cpp.
#include "trace/poly.h"

#include <algorithm>

#include "trace/builder.h"
#include "trace/scalar_ops.h"

namespace nrd {
namespace {

// Order of terms: higher degrees first, then by atoms.
bool comes_before(const PolyTerm& a, const PolyTerm& b) {
  if (a.degree != b.degree) return a.degree > b.degree;
  return a.atoms < b.atoms;
}

bool same_atoms(const PolyTerm& a, const PolyTerm& b) {
  return a.degree == b.degree && a.atoms == b.atoms;
}

PolyTerm negated(PolyTerm term) {
  term.coefficient = scalar::wrap_neg(term.coefficient);
  return term;
}

// The degrees' sum must fit.
PolyTerm product(const PolyTerm& a, const PolyTerm& b) {
  PolyTerm term;
  term.coefficient = scalar::wrap_mul(a.coefficient, b.coefficient);
  term.degree = static_cast<uint8_t>(a.degree + b.degree);
  const auto x = a.factors();
  const auto y = b.factors();
  std::merge(x.begin(), x.end(), y.begin(), y.end(), term.atoms.begin());
  return term;
}

// `fuel` bounds the work on a graph whose tree is exponentially larger (x + x, then that plus
// itself, ...): without any left, a value is an atom.
Poly expand(const OpTrace& trace, ValueId id, int& fuel) {
  const Value& v = trace[id];
  if (v.type != TraceType::kI64 || --fuel < 0) return Poly::atom(id);
  auto arg = [&](size_t i) { return expand(trace, v.args[i], fuel); };
  switch (v.op) {
    case TraceOp::kConst: return Poly::constant(static_cast<int64_t>(v.bits));
    case TraceOp::kAdd: return arg(0) + arg(1);
    case TraceOp::kSub: return arg(0) - arg(1);
    case TraceOp::kNeg: return Poly() - arg(0);
    case TraceOp::kShl: {
      const std::optional<int64_t> by = arg(1).as_constant();
      if (!by) return Poly::atom(id);
      return arg(0) * Poly::constant(scalar::shift_left(int64_t{1}, *by));
    }
    case TraceOp::kMul: {
      const Poly a = arg(0);
      const Poly b = arg(1);
      return a.degree() + b.degree() > PolyTerm::kMaxDegree ? Poly::atom(id) : a * b;
    }
    default: return Poly::atom(id);
  }
}

}  // namespace

Poly Poly::constant(int64_t value) {
  Poly p;
  p.add_term({.coefficient = value, .degree = 0, .atoms = {}});
  return p;
}

Poly Poly::atom(ValueId id) {
  Poly p;
  p.add_term({.coefficient = 1, .degree = 1, .atoms = {id}});
  return p;
}

std::optional<int64_t> Poly::as_constant() const {
  if (too_large_ || degree() > 0) return std::nullopt;
  return terms_.empty() ? 0 : terms_[0].coefficient;
}

void Poly::add_term(const PolyTerm& term) {
  InlineVector<PolyTerm, 4> merged;
  auto keep = [&](const PolyTerm& t) {
    if (t.coefficient != 0) merged.push_back(t);
  };
  bool placed = false;
  for (const PolyTerm& t : terms_) {
    if (!placed && same_atoms(t, term)) {
      PolyTerm sum = t;
      sum.coefficient = scalar::wrap_add(t.coefficient, term.coefficient);
      keep(sum);
      placed = true;
      continue;
    }
    if (!placed && comes_before(term, t)) {
      keep(term);
      placed = true;
    }
    keep(t);
  }
  if (!placed) keep(term);
  terms_ = std::move(merged);
}

Poly Poly::operator+(const Poly& other) const {
  Poly sum = *this;
  sum.too_large_ |= other.too_large_;
  for (const PolyTerm& t : other.terms_) sum.add_term(t);
  return sum;
}

Poly Poly::operator-(const Poly& other) const {
  Poly difference = *this;
  difference.too_large_ |= other.too_large_;
  for (const PolyTerm& t : other.terms_) difference.add_term(negated(t));
  return difference;
}

Poly Poly::operator*(const Poly& other) const {
  Poly result;
  result.too_large_ =
      too_large_ || other.too_large_ || degree() + other.degree() > PolyTerm::kMaxDegree;
  if (result.too_large_) return result;
  for (const PolyTerm& a : terms_) {
    for (const PolyTerm& b : other.terms_) result.add_term(product(a, b));
  }
  return result;
}

bool Poly::operator==(const Poly& other) const {
  return !too_large_ && !other.too_large_ &&
         std::equal(terms_.begin(), terms_.end(), other.terms_.begin(), other.terms_.end());
}

Poly poly_of(const OpTrace& trace, ValueId id) {
  int fuel = 1000;
  return expand(trace, id, fuel);
}

bool depends_on(const Poly& poly, const Varying& varying) {
  return std::any_of(poly.terms().begin(), poly.terms().end(), [&](const PolyTerm& term) {
    const auto atoms = term.factors();
    return std::any_of(atoms.begin(), atoms.end(), [&](ValueId a) { return varying.values[a]; });
  });
}

bool depends_on(const OpTrace& trace, const Poly& poly, ValueId iv) {
  return depends_on(poly, varying_in(trace, trace[iv].index));
}

std::optional<Linear> linear_in(const Poly& poly, ValueId iv, const Varying& varying) {
  Linear linear;
  for (const PolyTerm& term : poly.terms()) {
    Poly rest = Poly::constant(term.coefficient);
    size_t power = 0;
    for (ValueId atom : term.factors()) {
      if (atom == iv) {
        power++;
      } else if (varying.values[atom]) {
        return std::nullopt;
      } else {
        rest = rest * Poly::atom(atom);
      }
    }
    if (power > 1) return std::nullopt;
    Poly& part = power == 1 ? linear.coefficient : linear.rest;
    part = part + rest;
  }
  return linear;
}

std::optional<Linear> linear_in(const OpTrace& trace, const Poly& poly, ValueId iv) {
  return linear_in(poly, iv, varying_in(trace, trace[iv].index));
}

ValueId value_of(const Poly& poly, TraceBuilder& builder) {
  auto rank = [&](ValueId id) {
    const bool is_iv = builder[id].op == TraceOp::kIv;
    return std::pair(!is_iv, is_iv ? ValueId{builder[id].index} : id);
  };
  auto by_rank = [&](ValueId a, ValueId b) { return rank(a) < rank(b); };
  std::vector<PolyTerm> terms(poly.terms().begin(), poly.terms().end());
  for (PolyTerm& t : terms) std::sort(t.atoms.begin(), t.atoms.begin() + t.degree, by_rank);
  std::sort(terms.begin(), terms.end(), [&](const PolyTerm& a, const PolyTerm& b) {
    if (a.degree != b.degree) return a.degree > b.degree;
    const auto x = a.factors();
    const auto y = b.factors();
    return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end(), by_rank);
  });
  auto make = [&](TraceOp op, ValueId a, ValueId b) {
    return builder.pure(op, TraceType::kI64, a, b);
  };
  ValueId sum = kNoValue;
  for (const PolyTerm& t : terms) {
    // Only after a first term can a minus sign become a difference.
    const bool subtract = sum != kNoValue && t.coefficient < 0 && t.coefficient != INT64_MIN;
    const int64_t coefficient = subtract ? -t.coefficient : t.coefficient;
    ValueId value = coefficient != 1 || t.degree == 0 ? builder.i64(coefficient) : kNoValue;
    for (ValueId atom : t.factors())
      value = value == kNoValue ? atom : make(TraceOp::kMul, value, atom);
    if (sum == kNoValue) {
      sum = value;
    } else {
      sum = make(subtract ? TraceOp::kSub : TraceOp::kAdd, sum, value);
    }
  }
  return sum == kNoValue ? builder.i64(0) : sum;
}

}  // namespace nrd
