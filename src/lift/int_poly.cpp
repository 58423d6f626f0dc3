// SPDX-License-Identifier: MIT
// src/lift/int_poly.cpp: see int_poly.h.
#include "lift/int_poly.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace nrd::lift {
namespace {

int64_t wrapping_mul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

int64_t wrapping_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

// a / b where nothing remains. The smallest number by -1 would trap.
std::optional<int64_t> exact_quotient(int64_t a, int64_t b) {
  if (b == -1) return wrapping_mul(a, -1);
  if (b == 0 || a % b != 0) return std::nullopt;
  return a / b;
}

size_t degree(const Atoms& atoms) {
  return static_cast<size_t>(std::find(atoms.begin(), atoms.end(), kNoNode) - atoms.begin());
}

bool product(const Atoms& a, const Atoms& b, Atoms& out) {
  const size_t da = degree(a), db = degree(b);
  if (da + db > kMaxDegree) return false;
  out = kNoAtoms;
  std::merge(a.begin(), a.begin() + da, b.begin(), b.begin() + db, out.begin());
  return true;
}

// a / b as sets with repetition.
bool quotient(const Atoms& a, const Atoms& b, Atoms& out) {
  out = kNoAtoms;
  size_t at = 0, made = 0;
  const size_t da = degree(a), db = degree(b);
  for (size_t i = 0; i < da; i++) {
    if (at < db && a[i] == b[at])
      at++;
    else
      out[made++] = a[i];
  }
  return at == db;
}

}  // namespace

bool IntPoly::operator==(const IntPoly& other) const {
  return too_large_ == other.too_large_ &&
         std::equal(terms_.begin(), terms_.end(), other.terms_.begin(), other.terms_.end());
}

NodeId IntPoly::single_atom() const {
  if (too_large_ || terms_.size() != 1 || terms_[0].coefficient != 1) return kNoNode;
  return degree(terms_[0].atoms) == 1 ? terms_[0].atoms[0] : kNoNode;
}

bool IntPoly::contains(NodeId atom) const {
  return std::any_of(terms_.begin(), terms_.end(), [&](const PolyTerm& t) {
    return std::find(t.atoms.begin(), t.atoms.end(), atom) != t.atoms.end();
  });
}

IntPoly& IntPoly::add_scaled(const IntPoly& other, int64_t factor) {
  too_large_ |= other.too_large_;
  Terms sum;
  auto a = terms_.begin();
  auto b = other.terms_.begin();
  while (a != terms_.end() || b != other.terms_.end()) {
    if (b == other.terms_.end() || (a != terms_.end() && a->atoms < b->atoms)) {
      sum.push_back(*a++);
      continue;
    }
    PolyTerm term{b->atoms, wrapping_mul(b->coefficient, factor)};
    if (a != terms_.end() && a->atoms == b->atoms)
      term.coefficient = wrapping_add(term.coefficient, (a++)->coefficient);
    b++;
    if (term.coefficient != 0) sum.push_back(term);
  }
  terms_ = std::move(sum);
  return *this;
}

IntPoly operator*(const IntPoly& a, const IntPoly& b) {
  IntPoly sum;
  if (a.too_large_ || b.too_large_) return IntPoly::too_large();
  for (const PolyTerm& t : a.terms_) {
    if (t.atoms == kNoAtoms) {
      sum.add_scaled(b, t.coefficient);
      continue;
    }
    IntPoly row;
    for (const PolyTerm& u : b.terms_) {
      PolyTerm term{kNoAtoms, wrapping_mul(t.coefficient, u.coefficient)};
      if (!product(t.atoms, u.atoms, term.atoms)) return IntPoly::too_large();
      if (term.coefficient != 0) row.terms_.push_back(term);
    }
    std::sort(row.terms_.begin(), row.terms_.end(),
              [](const PolyTerm& x, const PolyTerm& y) { return x.atoms < y.atoms; });
    sum += row;
  }
  return sum;
}

std::optional<LinearSplit> IntPoly::linear_in(NodeId atom) const {
  if (too_large_) return std::nullopt;
  LinearSplit split;
  Atoms only = kNoAtoms;
  only[0] = atom;
  for (const PolyTerm& t : terms_) {
    Atoms others;
    if (!quotient(t.atoms, only, others)) {
      split.rest.terms_.push_back(t);
      continue;
    }
    if (std::find(others.begin(), others.end(), atom) != others.end()) return std::nullopt;
    IntPoly slope;
    slope.terms_.push_back({others, t.coefficient});
    split.slope += slope;
  }
  return split;
}

std::optional<IntPoly> IntPoly::divided_by(int64_t divisor) const {
  if (too_large_ || divisor == 0) return std::nullopt;
  IntPoly result = *this;
  for (PolyTerm& t : result.terms_) {
    const std::optional<int64_t> quotient = exact_quotient(t.coefficient, divisor);
    if (!quotient) return std::nullopt;
    t.coefficient = *quotient;
  }
  return result;
}

// Long division by the divisor's first term.
std::optional<IntPoly> IntPoly::divided_by(const IntPoly& divisor) const {
  if (too_large_ || divisor.too_large_ || divisor.terms_.empty()) return std::nullopt;
  if (divisor.is_constant()) return divided_by(divisor.constant());
  IntPoly rest = *this, result;
  const PolyTerm& lead = divisor.terms_[0];
  for (int steps = 0; !rest.terms_.empty(); steps++) {
    const PolyTerm& first = rest.terms_[0];
    IntPoly part;
    part.terms_.push_back({});
    const std::optional<int64_t> factor = exact_quotient(first.coefficient, lead.coefficient);
    if (steps > 16 || !factor || !quotient(first.atoms, lead.atoms, part.terms_[0].atoms))
      return std::nullopt;
    part.terms_[0].coefficient = *factor;
    result += part;
    rest -= part * divisor;
  }
  return result;
}

int64_t IntPoly::magnitude() const {
  uint64_t most = 0;
  for (const PolyTerm& t : terms_) {
    const auto bits = static_cast<uint64_t>(t.coefficient);
    most = std::max(most, t.coefficient < 0 ? 0 - bits : bits);
  }
  return static_cast<int64_t>(std::min<uint64_t>(most, std::numeric_limits<int64_t>::max()));
}

IntPoly exact_product(const IntPoly& a, const IntPoly& b) {
  const int64_t most = a.magnitude(), other = b.magnitude();
  if (other != 0 && most > kLargestExact / other) return IntPoly::too_large();
  return a * b;
}

int64_t IntPoly::content() const {
  int64_t common = 0;
  for (const PolyTerm& t : terms_) {
    if (t.atoms == kNoAtoms) continue;
    if (t.coefficient == std::numeric_limits<int64_t>::min()) return 1;  // has no magnitude
    common = std::gcd(common, t.coefficient);
  }
  return common;
}

}  // namespace nrd::lift
