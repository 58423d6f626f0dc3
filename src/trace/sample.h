// SPDX-License-Identifier: MIT
// src/trace/sample.h: arguments to try a trace with: what both proofs run on.
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

// So many values are tried of what leads to an index, so that a table they index is short.
constexpr int64_t kLoadedIntegers = 5;

// Fails where the memory a trace touches cannot be bounded.
Expected<Sample> make_sample(const OpTrace& trace, std::vector<int64_t> sizes, Spread spread,
                             uint64_t seed);

// The smallest sizes, all of them up to a limit that falls with the number of sizes: what tells
// which sizes a function is defined for.
std::vector<std::vector<int64_t>> small_sizes(const OpTrace& trace);

// Integers of which one or two are negative: what attributes may be, and sizes never are. A choice
// of few points each.
std::vector<std::vector<int64_t>> negative_integers(const OpTrace& trace);

// Integers of which one is as large as no size is.
std::vector<std::vector<int64_t>> large_integers(const OpTrace& trace);

// Sizes worth trying: nothing, one, around vector widths and blocks; equal and mixed. Products
// stay below `most_points`, all of them together below twice that: a proof takes milliseconds.
std::vector<std::vector<int64_t>> sample_sizes(const OpTrace& trace, int64_t most_points);
constexpr int64_t kProofPoints = 1 << 11;

// What one run of a sample may take. Usual ones take a few thousand steps.
constexpr int64_t kProofSteps = int64_t{1} << 18;

// Sizes and ints, in the order of the trace's parameters, and their names.
std::vector<int64_t> integers(const OpTrace& trace, const Sample& sample);
std::vector<std::string> integer_names(const OpTrace& trace);

// An input and an output, counted as the trace's pointers.
struct InPlacePair {
  size_t input = 0, output = 0;
  bool operator==(const InPlacePair&) const = default;
};
// Those that a call may give as the same memory. What is touched of operands of one shape may
// differ at the ends (out[i] = x[i - 1]); operands of other shapes may be as long by chance, so
// pairs are told both from all samples and for the one that is asked for.
class InPlacePairs {
 public:
  InPlacePairs(const OpTrace& trace, const std::vector<Sample>& samples);
  std::vector<InPlacePair> of(const Sample& sample) const;

 private:
  std::vector<InPlacePair> possible_, alike_;  // alike: in every sample that is not tiny
};
// The sample for such a pair: input and output are as long as the longer one and hold the same.
Sample with_shared(Sample sample, const InPlacePair& pair);

}  // namespace nrd
