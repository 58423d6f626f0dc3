// SPDX-License-Identifier: MIT
// tests/cuda/generated.h: shapes that nobody chose: cases of every family of kernels, drawn from a
// seed.
#pragma once

#include <random>
#include <string_view>

#include "op_case.h"

namespace nrd::cuda {

enum class Family { kElements, kFp8, kGlue, kProducts, kRows, kRowsBackward, kStatistics };
constexpr Family kFamilies[] = {Family::kElements,  Family::kFp8,  Family::kGlue,
                                Family::kProducts,  Family::kRows, Family::kRowsBackward,
                                Family::kStatistics};
std::string_view word(Family family);

// Of tests/seed.h, which prints it, and NEREID_GENERATED_CASES or so many.
struct Draw {
  uint64_t seed;
  int cases;
};
Draw test_draw(int cases);

// Draws cases of one family. `elements` is about how many the largest operand of a case has, as far
// as what is to be tested allows it: gradients sometimes have more rows than their kernel has
// blocks.
class CaseGenerator {
 public:
  CaseGenerator(Family family, uint64_t seed, int64_t elements)
      : family_(family), random_(seed), elements_(elements) {}
  OpCase next();

 private:
  // From `least` to `most`, small ones as likely as large ones: uniform in the logarithm.
  int64_t size(int64_t least, int64_t most);
  int64_t below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }
  bool chance(int one_in) { return below(one_in) == 0; }
  template <class T, size_t N>
  T one_of(const T (&all)[N]) {
    return all[below(static_cast<int64_t>(N))];
  }
  const char* float_type();
  // The rows that `elements_` leaves room for.
  int64_t rows_of(int64_t cols);
  // Now and then an operand that is padded or misaligned.
  void disturb(OpCase& c, std::initializer_list<const char*> operands);
  struct Heads {
    int64_t hidden, head_dim;
  };
  Heads heads();

  OpCase elements();
  OpCase fp8();
  OpCase glue();
  OpCase product();
  OpCase rows();
  OpCase rows_backward();
  OpCase statistics();

  Family family_;
  std::mt19937_64 random_;
  int drawn_ = 0;
  int64_t elements_;
};

}  // namespace nrd::cuda
