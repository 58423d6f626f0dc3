// SPDX-License-Identifier: MIT
// src/trace/poly.h: integer index expressions as polynomials, so that equal indices look equal.
//
// A Poly is a sum of coefficient * product of atoms. An atom is an i64 value that is no constant
// and no + - * (nor a shift by a constant): sizes, counters, loads, / % min max and selects. Atoms
// are compared by id: build traces with TraceBuilder or parse_trace, which make equal ones once.
// Coefficients wrap, as indices do.
#pragma once

#include <optional>
#include <span>
#include <utility>

#include "trace/inline_vector.h"
#include "trace/trace.h"

namespace nrd {

class TraceBuilder;

struct PolyTerm {
  static constexpr size_t kMaxDegree = 8;
  int64_t coefficient = 0;
  uint8_t degree = 0;
  std::array<ValueId, kMaxDegree> atoms{};  // ascending; the first `degree` count
  bool operator==(const PolyTerm&) const = default;
  std::span<const ValueId> factors() const { return {atoms.data(), degree}; }
};

class Poly {
 public:
  Poly() = default;  // 0
  static Poly constant(int64_t value);
  static Poly atom(ValueId id);

  // Higher degrees first, the constant last; no two terms have the same atoms, no coefficient is 0.
  std::span<const PolyTerm> terms() const { return {terms_.data(), terms_.size()}; }
  bool is_zero() const { return terms_.empty() && !too_large_; }
  std::optional<int64_t> as_constant() const;
  size_t degree() const { return terms_.empty() ? 0 : terms_[0].degree; }

  Poly operator+(const Poly& other) const;
  Poly operator-(const Poly& other) const;
  // Beyond PolyTerm::kMaxDegree nothing is known: such a Poly equals none, itself included.
  Poly operator*(const Poly& other) const;
  bool operator==(const Poly& other) const;

 private:
  void add_term(const PolyTerm& term);

  InlineVector<PolyTerm, 4> terms_;
  bool too_large_ = false;
};

Poly poly_of(const OpTrace& trace, ValueId id);

// Which values, and elements of which parameters, differ between iterations of a loop: by ValueId
// and parameter. What stands outside the loop does not.
struct Varying {
  std::vector<uint8_t> values;
  std::vector<uint8_t> params;
};
Varying varying_in(const OpTrace& trace, uint16_t loop);

// What depends on `seed` (a carried value) within one run of its loop's body.
Varying reached_from(const OpTrace& trace, uint16_t loop, ValueId seed);

bool depends_on(const Poly& poly, const Varying& varying);
bool depends_on(const OpTrace& trace, const Poly& poly, ValueId iv);

// poly = coefficient * iv + rest, neither of which depends on iv.
struct Linear {
  Poly coefficient;
  Poly rest;
};
std::optional<Linear> linear_in(const Poly& poly, ValueId iv, const Varying& varying);
std::optional<Linear> linear_in(const OpTrace& trace, const Poly& poly, ValueId iv);

// The value of a poly whose atoms are the builder's, always in the same form: higher degrees
// first, counters before other atoms.
ValueId value_of(const Poly& poly, TraceBuilder& builder);

}  // namespace nrd
