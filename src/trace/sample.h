// SPDX-License-Identifier: MIT
// src/trace/sample.h: arguments to try a trace with: what both proofs of SPEC 4 run on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "trace/trace.h"

namespace nrd {

enum class Spread : uint8_t {
  kNormal,   // of either sign, around 1
  kWide,     // magnitudes from 1e-6 to 1e6
  kSpecial,  // one in four is a zero, an infinity, a NaN, a denormal or huge
};

// Arguments by kind, in the order of the trace's parameters.
struct Sample {
  std::vector<int64_t> sizes;
  std::vector<double> numbers;
  std::vector<int> ints;
  std::vector<int64_t> elements;           // of each pointer
  std::vector<std::vector<char>> buffers;  // in the parameters' dtypes, outputs filled too
  std::string text() const;                // "sizes 3 17"
};

// Integers in memory lie in [0, kLoadedIntegers), so that a table they index is that long.
constexpr int64_t kLoadedIntegers = 5;

// Fails where the memory a trace touches cannot be bounded.
Expected<Sample> make_sample(const OpTrace& trace, std::vector<int64_t> sizes, Spread spread,
                             uint64_t seed);

// Sizes worth trying: nothing, one, around vector widths and blocks; equal and mixed. Products
// stay below `most_points`, all of them together below twice that: a proof takes milliseconds.
std::vector<std::vector<int64_t>> sample_sizes(const OpTrace& trace, int64_t most_points);
constexpr int64_t kProofPoints = 1 << 11;

}  // namespace nrd
