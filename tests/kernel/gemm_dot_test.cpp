// SPDX-License-Identifier: MIT
// tests/kernel/gemm_dot_test.cpp: the families of the GEMM engine whose panels hold bf16 and 8-bit
// integers, each one that this machine can run, and AMX emulated beside AVX-512: sizes, layouts,
// epilogues, guard pages, same bits.
#include <gtest/gtest.h>

#include "amx_emulator.h"
#include "base/env.h"
#include "gemm_case.h"

namespace nrd::gemm {
namespace {

struct Param {
  const jit::Target* target;
  const Family* family;

  std::string name() const {
    const char* words[] = {"fma", "dot_i16", "dot_u8", "dot_lane", "dot_bf16", "matrix", "tile"};
    return std::string(target->isa) + "_" + std::string(numerics_word(family->numerics)) + "_" +
           words[static_cast<size_t>(family->arithmetic)];
  }
};

// All but those of f32.
std::vector<Param> params() {
  IsaSet isa = detect_isa();
  if (isa.has(Feature::kAvx512) && !isa.has(Feature::kAmxBf16)) {
    emulate_amx();
    isa = isa.with(Feature::kAmxBf16).with(Feature::kAmxInt8);
  }
  std::vector<Param> all;
  for (const jit::Target* target : jit::targets(isa)) {
    for (const Family& family : families()) {
      if (family.isa == target->isa && isa.contains(family.required) &&
          family.numerics != Numerics::kPlain) {
        all.push_back({target, &family});
      }
    }
  }
  return all;
}

class GemmDot : public ::testing::TestWithParam<Param> {
 protected:
  GemmDot() : host_(DeviceProfile::host(family().required)) {}

  const jit::Target& target() const { return *GetParam().target; }
  const Family& family() const { return *GetParam().family; }

  // Of the family's dtypes; c may be given.
  GemmCase make(int64_t m, int64_t n, int64_t k) const {
    GemmCase c = {.m = m, .n = n, .k = k};
    c.numerics = family().numerics;
    c.a = c.b = family().sums_integers() ? DType::kI8 : DType::kBF16;
    c.c = family().sums_integers() ? DType::kI32 : DType::kF32;
    return c;
  }

  // Right, and the same bits packed and plain, on 1, 2 and 3 threads, blocked in two ways; for
  // integers with both signs of a.
  void check(GemmCase c) const {
    check_one(c);
    if (!family().sums_integers()) return;
    c.a = DType::kU8;
    check_one(c);
  }

  void check_one(const GemmCase& c) const {
    ASSERT_EQ(*find_family(target(), host_.isa, c.numerics), &family());
    check_all_ways(c, target(), host_);
  }

  DeviceProfile host_;
};

TEST_P(GemmDot, IsRightAtSmallSizes) {
  const bool is_exhaustive = env("NEREID_TEST_EXHAUSTIVE") == "1";
  std::mt19937 random(test_seed(0));
  for (int64_t m = 1; m <= 40; m++) {
    for (int64_t n = 1; n <= 40; n++) {
      const auto some = static_cast<int64_t>(random() % 70 + 1);  // another one in every run
      for (int64_t k = is_exhaustive ? 1 : some; k <= (is_exhaustive ? 70 : some); k++) {
        GemmCase c = make(m, n, k);
        if (family().sums_integers() && (m + n) % 2 == 0) c.a = DType::kU8;
        const GemmRun run(c, target(), host_);
        ASSERT_TRUE(run.check(run.run(false, 1)));
        ASSERT_TRUE(run.check(run.run(true, 1)));
      }
    }
  }
}

// The check itself: the largest element, off by one where sums are exact. Elsewhere by two units of
// its last place: one may be the other side of a tie.
TEST_P(GemmDot, OneWrongElementIsFound) {
  GemmCase c = make(9, 40, 333);
  if (!family().sums_integers()) c.c = DType::kBF16;
  const GemmRun run(c, target(), host_);
  const GuardedMatrix right = run.run(false, 1);
  ASSERT_TRUE(run.check(right));
  const auto size = [&](int64_t at) { return std::abs(right.at(at / c.n, at % c.n)); };
  int64_t largest = 0;
  for (int64_t at = 0; at < c.m * c.n; at++)
    if (size(at) > size(largest)) largest = at;
  const auto byte = byte_size(c.c) * static_cast<size_t>(largest);
  static_cast<unsigned char*>(right.data())[byte] ^= family().sums_integers() ? 1 : 2;
  EXPECT_FALSE(run.check(right));
}

TEST_P(GemmDot, IsRightAroundBlockSizes) {
  const int64_t rows = family().rows, columns = family().columns();
  for (int64_t m : {rows - 1, rows, rows + 1, 2 * rows + 1, int64_t{127}, int64_t{130}}) {
    for (int64_t n : {columns - 1, columns + 1, 3 * columns + 5}) {
      for (int64_t k : {int64_t{0}, int64_t{1}, int64_t{511}, int64_t{1025}}) check(make(m, n, k));
    }
  }
}

// Several blocks of A and groups of B, shared by threads, each with several blocks of k.
TEST_P(GemmDot, IsRightInManyTasks) { check(make(601, 290, 1700)); }

TEST_P(GemmDot, TakesAnyStrides) {
  const Storage all[] = {Storage::kRows, Storage::kColumns, Storage::kSpaced};
  for (Storage a : all) {
    for (Storage b : all) {
      for (Storage c : all) {
        for (int64_t m : {1, 5, 29, 135}) {
          GemmCase one = make(m, 45, 67);
          one.a_storage = a, one.b_storage = b, one.c_storage = c;
          check(one);
        }
      }
    }
  }
}

TEST_P(GemmDot, WritesAnyFloat) {
  for (DType c : {DType::kF32, DType::kF16, DType::kBF16}) {
    for (int64_t m : {1, 20, 140}) {
      GemmCase one = make(m, 39, 75);
      one.c = c;
      one.has_bias = true;
      // Of 8-bit integers f16 holds few sums.
      if (c != DType::kF16 || !family().sums_integers()) check(one);
    }
  }
}

constexpr Activation kRelu = {"relu", [](double x) { return x > 0 ? x : 0; }};

TEST_P(GemmDot, AppliesAnEpilogue) {
  if (catalogue_trace("relu") == nullptr) GTEST_SKIP() << "built without a decoder";
  for (int64_t m : {2, 33, 150}) {
    GemmCase one = make(m, 50, 1100);
    one.c = DType::kF32;
    one.has_beta = one.has_bias = true;
    one.activation = &kRelu;
    check(one);
  }
}

TEST_P(GemmDot, UnpacksWhatItPacked) {
  const DType dtype = make(1, 1, 1).b;
  for (Storage storage : {Storage::kRows, Storage::kColumns, Storage::kSpaced}) {
    GuardedMatrix b(37, 70, dtype, storage), back(37, 70, dtype, Storage::kRows);
    b.fill(5, false);
    const PackedLayout layout = *make_packed_layout(family(), dtype, 37, 70);
    Expected<PackedMatrix> packed =
        PackedMatrix::make(target(), layout, {b.data(), dtype, b.row(), b.column()}, {2, nullptr});
    ASSERT_TRUE(packed);
    unpack_b(layout, packed->data(), back.data());
    EXPECT_EQ(back.values(), b.values());
  }
}

TEST_P(GemmDot, RefusesOtherDtypes) {
  ProductDesc desc = {.m = 4, .n = 4, .k = 4, .a = DType::kF32, .b = DType::kF32};
  desc.numerics = family().numerics;
  Expected<Product> product = Product::make(desc, target(), host_);
  ASSERT_FALSE(product);
  EXPECT_EQ(product.error().argument, "a");
}

INSTANTIATE_TEST_SUITE_P(Isa, GemmDot, ::testing::ValuesIn(params()),
                         [](const auto& info) { return info.param.name(); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GemmDot);

}  // namespace
}  // namespace nrd::gemm
