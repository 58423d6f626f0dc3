// SPDX-License-Identifier: MIT
// src/compiler/fit_shape.h: a shape as text from the number of elements that trials gave.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace nrd {

// Integers of a function and values to try them with. In the first `aligned` trials every integer
// is a multiple of many numbers, so that blocks are whole; in the others nothing is.
struct Trials {
  std::vector<std::string> names;
  std::vector<std::vector<int64_t>> values;
  size_t aligned = 0;
  std::vector<int64_t> divisors;  // that the function divides by
};
Trials make_trials(std::vector<std::string> names, std::vector<int64_t> divisors);

struct Shape {
  std::vector<std::string> axes;  // outermost first: "m", "ceil(n/32)", "n+1", "16"
  std::vector<size_t> sizes;      // which integers the axes are, where each is one as it stands
};

// The simplest shape with as many elements in every trial, or one of plain integers that is equal
// where blocks are whole (an operand of pairs is x[n]; calls with an odd n will be refused), or
// that is never smaller and mostly equal or, failing all that, close. Nothing where none of those
// fits.
std::optional<Shape> fit_shape(const Trials& trials, std::span<const int64_t> elements);

}  // namespace nrd
