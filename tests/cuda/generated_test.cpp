// SPDX-License-Identifier: MIT
// tests/cuda/generated_test.cpp: every family of kernels on generated shapes against f64.
//
// Some cases a family on emulated targets, each also in another order of threads, and 72 on a
// device: 504 over the seven families. NEREID_GENERATED_CASES and NEREID_TEST_SEED ask for
// others; the seed is printed.
#include "generated.h"

#include <gtest/gtest.h>

namespace nrd::cuda {
namespace {

constexpr int kCasesEmulated = 4, kCasesOnDevice = 72;
constexpr int64_t kElementsEmulated = 40'000, kElementsOnDevice = 4'000'000;

class Generated : public TargetTest {
 protected:
  void check(Family family) {
    const bool is_emulated = target().is_emulated();
    const auto [seed, cases] = test_draw(is_emulated ? kCasesEmulated : kCasesOnDevice);
    CaseGenerator generator(family, seed, is_emulated ? kElementsEmulated : kElementsOnDevice);
    for (int i = 0; i < cases; i++) {
      const OpCase c = generator.next();
      SCOPED_TRACE(c.text());
      ASSERT_TRUE(is_right(target(), c));
      if (!is_emulated) continue;
      const SeedScope scope(1 + (seed + static_cast<uint64_t>(i)) % 1000);
      ASSERT_TRUE(is_right(target(), c)) << "in another order";
    }
  }
};
NRD_ON_EVERY_TARGET(Generated);

TEST_P(Generated, Elements) { check(Family::kElements); }
TEST_P(Generated, Fp8) { check(Family::kFp8); }
TEST_P(Generated, Glue) { check(Family::kGlue); }
TEST_P(Generated, Products) { check(Family::kProducts); }
TEST_P(Generated, Rows) { check(Family::kRows); }
TEST_P(Generated, RowsBackward) { check(Family::kRowsBackward); }
TEST_P(Generated, Statistics) { check(Family::kStatistics); }

}  // namespace
}  // namespace nrd::cuda
