// SPDX-License-Identifier: MIT
// src/trace/linear_form.cpp: arithmetic on linear forms.
#include "trace/linear_form.h"

namespace nrd {
namespace {

// a + factor * b; false where that overflows.
bool multiply_add(int64_t a, int64_t b, int64_t factor, int64_t& out) {
  int64_t product = 0;
  return !__builtin_mul_overflow(b, factor, &product) && !__builtin_add_overflow(a, product, &out);
}

}  // namespace

int64_t LinearForm::factor_of(ValueId atom) const {
  for (const Term& term : terms)
    if (term.atom == atom) return term.factor;
  return 0;
}

std::optional<LinearForm> add(const LinearForm& a, const LinearForm& b, int64_t factor) {
  LinearForm sum;
  if (!multiply_add(a.constant, b.constant, factor, sum.constant)) return std::nullopt;
  size_t i = 0, j = 0;
  while (i < a.terms.size() || j < b.terms.size()) {
    const bool first =
        j == b.terms.size() || (i < a.terms.size() && a.terms[i].atom <= b.terms[j].atom);
    const bool second =
        i == a.terms.size() || (j < b.terms.size() && b.terms[j].atom <= a.terms[i].atom);
    LinearForm::Term term{first ? a.terms[i].atom : b.terms[j].atom, 0};
    if (!multiply_add(first ? a.terms[i].factor : 0, second ? b.terms[j].factor : 0, factor,
                      term.factor))
      return std::nullopt;
    i += first;
    j += second;
    if (term.factor != 0) sum.terms.push_back(term);
  }
  return sum;
}

std::optional<LinearForm> scale(const LinearForm& a, int64_t factor) {
  return add(LinearForm::number(0), a, factor);
}

std::optional<LinearForm> substitute(const LinearForm& a, ValueId atom, const LinearForm& by) {
  const int64_t factor = a.factor_of(atom);
  std::optional<LinearForm> rest = add(a, LinearForm::of(atom), -factor);
  return rest ? add(*rest, by, factor) : std::nullopt;
}

}  // namespace nrd
