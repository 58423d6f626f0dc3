// SPDX-License-Identifier: MIT
// src/lift/int_poly.h: polynomials with integer coefficients over nodes, for indices and counts.
#pragma once

#include <array>
#include <optional>

#include "lift/ir.h"
#include "trace/inline_vector.h"

namespace nrd::lift {

// One term: a coefficient times up to kMaxDegree atoms, sorted; unused places hold kNoNode. The
// constant term has no atoms and so sorts last.
constexpr size_t kMaxDegree = 5;
using Atoms = std::array<NodeId, kMaxDegree>;
constexpr Atoms kNoAtoms{kNoNode, kNoNode, kNoNode, kNoNode, kNoNode};

struct PolyTerm {
  Atoms atoms = kNoAtoms;
  int64_t coefficient = 0;
  bool operator==(const PolyTerm&) const = default;
};

using Terms = InlineVector<PolyTerm, 4>;
struct LinearSplit;

// A sum of terms, sorted by atoms, none with coefficient 0. Coefficients wrap, as 64-bit machine
// arithmetic does.
class IntPoly {
 public:
  IntPoly() = default;
  IntPoly(int64_t constant) {  // NOLINT: implicit
    if (constant != 0) terms_.push_back({kNoAtoms, constant});
  }
  static IntPoly atom(NodeId node) {
    IntPoly p;
    p.terms_.push_back({kNoAtoms, 1});
    p.terms_[0].atoms[0] = node;
    return p;
  }
  // What a product of too many atoms becomes; everything made from it is too large as well.
  static IntPoly too_large() {
    IntPoly p;
    p.too_large_ = true;
    return p;
  }

  const Terms& terms() const { return terms_; }
  bool is_too_large() const { return too_large_; }
  bool is_zero() const { return terms_.empty() && !too_large_; }
  bool is_constant() const {
    return !too_large_ && (terms_.empty() || (terms_.size() == 1 && terms_[0].atoms == kNoAtoms));
  }
  int64_t constant() const {  // the constant term
    if (terms_.empty() || terms_[terms_.size() - 1].atoms != kNoAtoms) return 0;
    return terms_[terms_.size() - 1].coefficient;
  }
  NodeId single_atom() const;  // where this is one atom times 1, else kNoNode
  bool contains(NodeId atom) const;

  IntPoly& operator+=(const IntPoly& other) { return add_scaled(other, 1); }
  IntPoly& operator-=(const IntPoly& other) { return add_scaled(other, -1); }
  IntPoly& add_scaled(const IntPoly& other, int64_t factor);
  friend IntPoly operator+(IntPoly a, const IntPoly& b) { return a += b; }
  friend IntPoly operator-(IntPoly a, const IntPoly& b) { return a -= b; }
  friend IntPoly operator-(const IntPoly& a) { return IntPoly() -= a; }
  friend IntPoly operator*(const IntPoly& a, const IntPoly& b);
  bool operator==(const IntPoly& other) const;

  // Nothing where the atom occurs in a product with itself.
  std::optional<LinearSplit> linear_in(NodeId atom) const;
  // The quotient where this is a multiple of the divisor.
  std::optional<IntPoly> divided_by(int64_t divisor) const;
  std::optional<IntPoly> divided_by(const IntPoly& divisor) const;
  int64_t content() const;    // greatest common divisor of all coefficients but the constant's
  int64_t magnitude() const;  // of the largest coefficient

 private:
  Terms terms_;
  bool too_large_ = false;
};

// The largest coefficient of which sums of a few do not wrap.
constexpr int64_t kLargestExact = int64_t{1} << 56;
// The product over the integers: too large where a coefficient would pass kLargestExact.
IntPoly exact_product(const IntPoly& a, const IntPoly& b);

// poly = rest + atom * slope.
struct LinearSplit {
  IntPoly rest, slope;
};

}  // namespace nrd::lift
