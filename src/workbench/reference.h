// SPDX-License-Identifier: MIT
// src/workbench/reference.h: what a case should give: the definition evaluated in double.
//
// A case over 2 GFLOP is checked on a part: the same operator on index subsets of its separable
// axes (tile edges and random ones), which must equal the corresponding part of the whole.
// Operators whose outputs are integers or codes have their f32 build as reference.
#pragma once

#include <optional>
#include <vector>

#include "workbench/case.h"

namespace nrd {

struct ReferenceOutput {
  size_t operand = 0;
  Dims sizes;                      // of the part
  std::vector<int64_t> positions;  // where each element stands in the whole output (contiguous)
  std::vector<double> value;
  // Where a rounding inside the operator hangs on a boundary, anything between is right.
  std::vector<double> low, high;
  // With NaN and Inf among the inputs, f32 may overflow or vanish where double does not: what
  // the f32 build gives there is right too. Empty for other data.
  std::vector<double> f32;
};

struct Reference {
  std::vector<ReferenceOutput> outputs;
  bool exact = false;
  bool sampled = false;
  int round = 0;
  bool widened = false;
};

constexpr double kFullCheckFlops = 2e9;

// Evaluates with `threads` threads. A part is drawn by the case's seed and `round`.
Expected<Reference> make_reference(const Case& c, int threads, int round = 0);

// Before an output is called wrong: where it hangs on several roundings at once, which may go
// opposite ways, more lies between low and high. Takes as long as many references; does nothing
// the second time, or where nothing is rounded inside.
Expected<void> widen_reference(const Case& c, Reference& reference, int threads);

// Freivalds' check of a whole product c = a b (+ bias): both sides times random signs, added up
// over groups of columns. One element that is off by `finds` times the largest of its row, or more,
// is always found; smaller errors hide among the roundings of the others.
struct Projection {
  double off = 0;    // the largest difference of a sum, over its allowance: 1 passes
  double finds = 0;  // the error of one element that no row hides
};
// Nothing where the operator is not a product.
std::optional<Projection> project_product(const Case& c, const std::vector<char>& output,
                                          double tolerance);

}  // namespace nrd
