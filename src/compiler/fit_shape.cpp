// SPDX-License-Identifier: MIT
// src/compiler/fit_shape.cpp: products of integers first, then sums and products of two terms.
#include "compiler/fit_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace nrd {
namespace {

constexpr size_t kMostAxes = 3;

// An integer, or its quotient by a number, in every trial.
struct Term {
  std::string text;
  std::vector<int64_t> values;
};

std::vector<Term> terms_of(const Trials& t) {
  std::vector<Term> list;
  auto add = [&](std::string text, auto value) {
    Term term{std::move(text), {}};
    for (const std::vector<int64_t>& trial : t.values) term.values.push_back(value(trial));
    list.push_back(std::move(term));
  };
  const size_t count = t.names.size();
  for (size_t i = 0; i < count; i++) add(t.names[i], [i](const auto& trial) { return trial[i]; });
  for (size_t i = 0; i < count; i++)
    for (const int64_t d : t.divisors) {
      add(fmt::format("floor({}/{})", t.names[i], d),
          [i, d](const auto& trial) { return trial[i] / d; });
      add(fmt::format("ceil({}/{})", t.names[i], d),
          [i, d](const auto& trial) { return (trial[i] + d - 1) / d; });
    }
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < count; j++) {
      if (i == j) continue;
      add(fmt::format("floor({}/{})", t.names[i], t.names[j]),
          [i, j](const auto& trial) { return trial[i] / trial[j]; });
      add(fmt::format("ceil({}/{})", t.names[i], t.names[j]),
          [i, j](const auto& trial) { return (trial[i] + trial[j] - 1) / trial[j]; });
    }
  return list;
}

// How a product of integers compares with the elements.
struct Match {
  bool covers = true;   // never smaller
  bool exact = true;    // in every trial
  bool aligned = true;  // equal where blocks are whole
  size_t equal = 0;     // trials in which it is
  size_t close = 0;     // trials in which at most a quarter of it is too much
};

Match match(const Trials& t, std::span<const int64_t> elements, const std::vector<size_t>& sizes) {
  Match m;
  for (size_t k = 0; k < elements.size(); k++) {
    int64_t product = 1;
    for (const size_t s : sizes) product *= t.values[k][s];
    m.covers = m.covers && product >= elements[k];
    m.exact = m.exact && product == elements[k];
    if (k < t.aligned) m.aligned = m.aligned && product == elements[k];
    m.equal += product == elements[k];
    m.close += product >= elements[k] && product - elements[k] <= product / 4;
  }
  return m;
}

// Which integers, in ascending order and each perhaps several times: the matrix n x n.
std::vector<std::vector<size_t>> products_of(size_t integers) {
  std::vector<std::vector<size_t>> list, last = {{}};
  for (size_t rank = 0; rank < kMostAxes; rank++) {
    std::vector<std::vector<size_t>> longer;
    for (const std::vector<size_t>& p : last)
      for (size_t s = p.empty() ? 0 : p.back(); s < integers; s++) {
        longer.push_back(p);
        longer.back().push_back(s);
      }
    list.insert(list.end(), longer.begin(), longer.end());
    last = std::move(longer);
  }
  return list;
}

// `loosely`: what holds all and is close to it in most trials will do.
std::optional<Shape> fit_product(const Trials& t, std::span<const int64_t> elements, bool loosely) {
  std::optional<std::vector<size_t>> whole, most;
  size_t most_equal = elements.size() / 2;
  for (const std::vector<size_t>& sizes : products_of(t.names.size())) {
    const Match m = match(t, elements, sizes);
    if (m.exact) {
      whole = sizes;
      break;
    }
    if (m.aligned && !whole) whole = sizes;
    const size_t fitting = loosely ? m.close : m.equal;
    if (m.covers && fitting > most_equal) most = sizes, most_equal = fitting;
  }
  const std::optional<std::vector<size_t>>& found = whole ? whole : most;
  if (!found) return std::nullopt;
  Shape shape;
  shape.sizes = *found;
  for (const size_t s : *found) shape.axes.push_back(t.names[s]);
  return shape;
}

std::string plus(std::string text, int64_t offset) {
  if (offset == 0) return text;
  return fmt::format("{}{}{}", text, offset > 0 ? "+" : "-", offset > 0 ? offset : -offset);
}

std::string times(int64_t factor, const std::string& text) {
  return factor == 1 ? text : fmt::format("{}*{}", factor, text);
}

// c0 + c1*a + c2*b + c3*a*b
using Coefficients = std::array<int64_t, 4>;

// Gauss with exact fractions is not needed: the determinant of small integers fits.
std::optional<Coefficients> solve(std::array<std::array<__int128, 5>, 4> rows, size_t unknowns) {
  __int128 previous = 1;  // Bareiss: every division is exact
  for (size_t c = 0; c < unknowns; c++) {
    size_t pivot = c;
    while (pivot < unknowns && rows[pivot][c] == 0) pivot++;
    if (pivot == unknowns) return std::nullopt;
    std::swap(rows[c], rows[pivot]);
    for (size_t r = 0; r < unknowns; r++) {
      if (r == c) continue;
      const __int128 factor = rows[r][c];
      for (size_t k = 0; k < 5; k++)
        rows[r][k] = (rows[r][k] * rows[c][c] - factor * rows[c][k]) / previous;
    }
    previous = rows[c][c];
  }
  Coefficients x{};
  for (size_t c = 0; c < unknowns; c++) {
    if (rows[c][4] % rows[c][c] != 0) return std::nullopt;
    x[c] = static_cast<int64_t>(rows[c][4] / rows[c][c]);
  }
  return x;
}

std::optional<Coefficients> fit_two(const Trials& t, std::span<const int64_t> elements,
                                    const Term& a, const Term* b) {
  const size_t unknowns = b ? 4 : 2, count = elements.size();
  std::array<std::array<__int128, 5>, 4> rows{};
  for (size_t r = 0; r < unknowns; r++) {
    const size_t k = t.aligned + r;  // trials in which rounding shows
    const __int128 x = a.values[k], y = b ? b->values[k] : 0;
    rows[r] = {1, x, y, x * y, elements[k]};
  }
  const std::optional<Coefficients> c = solve(rows, unknowns);
  if (!c) return std::nullopt;
  for (size_t k = 0; k < count; k++) {
    const __int128 x = a.values[k], y = b ? b->values[k] : 0;
    if ((*c)[0] + (*c)[1] * x + (*c)[2] * y + (*c)[3] * x * y != elements[k]) return std::nullopt;
  }
  return c;
}

// One axis, or two where the sum is a product: (a + p) * (b + q).
Shape shape_of(const Coefficients& c, const Term& a, const Term* b) {
  if (!b || (c[2] == 0 && c[3] == 0)) return {{plus(times(c[1], a.text), c[0])}, {}};
  if (c[3] == 1 && c[0] == c[1] * c[2]) return {{plus(a.text, c[2]), plus(b->text, c[1])}, {}};
  std::string text;
  auto add = [&](int64_t factor, const std::string& term) {
    if (factor == 0) return;
    const std::string part = times(factor < 0 ? -factor : factor, term);
    text += factor < 0 ? "-" + part : (text.empty() ? "" : "+") + part;
  };
  add(c[3], a.text + "*" + b->text);
  add(c[1], a.text);
  add(c[2], b->text);
  return {{plus(text, c[0])}, {}};
}

}  // namespace

Trials make_trials(std::vector<std::string> names, std::vector<int64_t> divisors) {
  // Products of three stay below 2^31: indices may be computed in int. The first integer, often the
  // length of everything, is mostly the largest.
  constexpr int64_t kWhole = 192, kMultiples[] = {2, 3, 1, 4, 5}, kFirstMultiple[] = {6, 7, 1};
  constexpr int64_t kOdd[] = {41, 67, 29, 53, 83, 47, 71, 59};
  constexpr int64_t kFirstOdd[] = {331, 353, 31, 367, 379, 43, 383, 389, 397};
  Trials t;
  std::sort(divisors.begin(), divisors.end());
  divisors.erase(std::unique(divisors.begin(), divisors.end()), divisors.end());
  t.names = std::move(names);
  t.divisors = std::move(divisors);
  auto add = [&](int64_t first, std::span<const int64_t> others, int64_t scale, size_t shift) {
    std::vector<int64_t>& trial = t.values.emplace_back();
    for (size_t i = 0; i < t.names.size(); i++)
      trial.push_back(scale * (i == 0 ? first : others[(i + shift) % others.size()]));
  };
  for (size_t k = 0; k < std::size(kFirstMultiple); k++)
    add(kFirstMultiple[k], kMultiples, kWhole, k);
  t.aligned = t.values.size();
  for (size_t k = 0; k < std::size(kFirstOdd); k++) add(kFirstOdd[k], kOdd, 1, k);
  return t;
}

std::optional<Shape> fit_shape(const Trials& t, std::span<const int64_t> elements) {
  const bool constant = std::all_of(elements.begin(), elements.end(),
                                    [&](int64_t e) { return e == elements.front(); });
  if (constant)
    return elements.front() == 1 ? Shape{} : Shape{{fmt::format("{}", elements.front())}, {}};
  if (std::optional<Shape> product = fit_product(t, elements, false)) return product;
  const std::vector<Term> terms = terms_of(t);
  for (const Term& a : terms)
    if (const std::optional<Coefficients> c = fit_two(t, elements, a, nullptr))
      return shape_of(*c, a, nullptr);
  for (size_t i = 0; i < terms.size(); i++)
    for (size_t j = i + 1; j < terms.size(); j++)
      if (const std::optional<Coefficients> c = fit_two(t, elements, terms[i], &terms[j]))
        return shape_of(*c, terms[i], &terms[j]);
  return fit_product(t, elements, true);
}

}  // namespace nrd
