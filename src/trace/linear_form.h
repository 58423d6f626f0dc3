// SPDX-License-Identifier: MIT
// src/trace/linear_form.h: integers as sums of values times constants, where sizes are known
// numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/trace.h"

namespace nrd {

// 32*i0 + i1 - 1. Exact: an operation whose numbers would overflow has no result.
struct LinearForm {
  struct Term {
    ValueId atom = kNoValue;
    int64_t factor = 0;  // never 0
  };
  std::vector<Term> terms;  // ascending by atom
  int64_t constant = 0;

  static LinearForm number(int64_t value) { return {{}, value}; }
  static LinearForm of(ValueId atom) { return {{{atom, 1}}, 0}; }
  bool is_number() const { return terms.empty(); }
  int64_t factor_of(ValueId atom) const;  // 0 where it does not occur
};

// a + factor * b
std::optional<LinearForm> add(const LinearForm& a, const LinearForm& b, int64_t factor = 1);
std::optional<LinearForm> scale(const LinearForm& a, int64_t factor);
// `atom` replaced by another form.
std::optional<LinearForm> substitute(const LinearForm& a, ValueId atom, const LinearForm& by);

}  // namespace nrd
