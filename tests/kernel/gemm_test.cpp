// SPDX-License-Identifier: MIT
// tests/kernel/gemm_test.cpp: the GEMM engine on every ISA of this machine: sizes, layouts, dtypes,
// epilogues, guard pages, and the same bits however a product is run.
#include <gtest/gtest.h>

#include "base/env.h"
#include "gemm_case.h"

namespace nrd::gemm {
namespace {

const DeviceProfile& host() {
  static const DeviceProfile profile = DeviceProfile::host(detect_isa());
  return profile;
}

class Gemm : public ::testing::TestWithParam<const jit::Target*> {
 protected:
  const jit::Target& target() const { return *GetParam(); }
  const Family& family() const { return **find_family(target(), host().isa, Numerics::kPlain); }

  void check(const GemmCase& c) const { check_all_ways(c, target(), host()); }
};

TEST_P(Gemm, IsRightAtSmallSizes) {
  const bool is_exhaustive = env("NEREID_TEST_EXHAUSTIVE") == "1";
  std::mt19937 random(test_seed(0));
  for (int64_t m = 1; m <= 40; m++) {
    for (int64_t n = 1; n <= 40; n++) {
      const auto some = static_cast<int64_t>(random() % 40 + 1);  // another one in every run
      for (int64_t k = is_exhaustive ? 1 : some; k <= (is_exhaustive ? 40 : some); k++) {
        const GemmCase c = {.m = m, .n = n, .k = k};
        const GemmRun run(c, target(), host());
        ASSERT_TRUE(run.check(run.run(false, 1)));
        ASSERT_TRUE(run.check(run.run(true, 1)));
      }
    }
  }
}

// The check itself: one element, one unit of its last place away.
TEST_P(Gemm, OneWrongBitIsFound) {
  for (DType out : {DType::kF32, DType::kF16, DType::kBF16}) {
    const GemmCase c = {.m = 9, .n = 40, .k = 333, .c = out};
    const GemmRun run(c, target(), host());
    const GuardedMatrix right = run.run(false, 1);
    ASSERT_TRUE(run.check(right));
    static_cast<unsigned char*>(right.data())[byte_size(out) * 217] ^= 1;
    EXPECT_FALSE(run.check(right)) << word(out);
  }
}

TEST_P(Gemm, IsRightAroundBlockSizes) {
  const int64_t rows = family().rows, columns = family().columns();
  for (int64_t m : {rows - 1, rows, rows + 1, 2 * rows + 1, int64_t{127}, int64_t{130}}) {
    for (int64_t n : {columns - 1, columns, columns + 1, 3 * columns + 5}) {
      for (int64_t k : {int64_t{0}, int64_t{1}, int64_t{511}, int64_t{513}}) {
        check({.m = m, .n = n, .k = k});
      }
    }
  }
}

// Columns of A are packed into rows; threads own parts of them.
TEST_P(Gemm, IsRightInManyTasks) {
  check({.m = 601, .n = 290, .k = 1024, .a_storage = Storage::kColumns});
}

TEST_P(Gemm, HasTheSameBitsHoweverItIsCut) {
  constexpr auto kGroups = LoopOrder::kGroups, kBlocks = LoopOrder::kBlocks;
  // order, steps of k, outer and inner panels of A, panels of B, outer panels of B
  const Blocking cuts[] = {{kGroups, 512, 99, 99, 1, 0}, {kGroups, 64, 99, 2, 3, 0},
                           {kGroups, 64, 99, 2, 2, 99},  {kGroups, 80, 3, 2, 2, 2},
                           {kBlocks, 64, 99, 2, 99, 0},  {kBlocks, 48, 3, 1, 2, 0}};
  for (DType out : {DType::kF32, DType::kF16}) {
    GemmCase c = {.m = 8 * family().rows + 3, .n = 5 * family().columns() + 3, .k = 170};
    c.c = out;
    const GemmRun run(c, target(), host());
    const GuardedMatrix first = run.run(false, 1);
    ASSERT_TRUE(run.check(first));
    for (const Blocking& cut : cuts) {
      for (int threads : {1, 3}) {
        EXPECT_TRUE(GemmRun::same(first, run.run(false, threads, cut)));
        if (cut.b_outer > 0) continue;  // of what is not packed yet
        EXPECT_TRUE(GemmRun::same(first, run.run(true, threads, cut)));
      }
    }
  }
}

TEST_P(Gemm, TakesAnyStrides) {
  const Storage all[] = {Storage::kRows, Storage::kColumns, Storage::kSpaced};
  for (Storage a : all) {
    for (Storage b : all) {
      for (Storage c : all) {
        for (int64_t m : {1, 5, 29, 135}) {
          GemmCase one = {.m = m, .n = 45, .k = 37};
          one.a_storage = a, one.b_storage = b, one.c_storage = c;
          check(one);
        }
      }
    }
  }
}

// Rows 4 KB apart compete for a set of L1 and are packed, and so is A beside many columns; other
// rows are read where they are.
TEST_P(Gemm, HasTheSameBitsWhereverRowsOfALie) {
  for (int64_t n : {70, 2100}) {
    for (int64_t k : {3, 40, 131}) {
      const GemmCase near = {.m = 43, .n = n, .k = k};
      const GuardedMatrix first = GemmRun(near, target(), host()).run(false, 1);
      for (int64_t row : {k + 1, int64_t{512}, int64_t{1024}}) {
        GemmCase apart = near;
        apart.a_row = row;
        check(apart);
        const GemmRun run(apart, target(), host());
        EXPECT_TRUE(GemmRun::same(first, run.run(false, 2))) << apart.text();
      }
    }
  }
}

// Beside few rows of A a B whose rows are contiguous is read as it lies, in blocks of columns that
// threads share out; one row more than a tile has, and it is packed.
TEST_P(Gemm, ReadsRowsOfBAsTheyLieBesideFewRows) {
  const DType all[] = {DType::kF32, DType::kF16, DType::kBF16};
  for (int64_t m = 1; m <= family().rows + 1; m++) {
    for (DType b : all) {
      GemmCase c = {.m = m, .n = 1 + 40 * m, .k = 47, .a = all[m % 3], .b = b, .c = all[m / 3 % 3]};
      c.a_storage = m % 2 == 0 ? Storage::kColumns : Storage::kRows;
      c.has_bias = m % 4 == 1, c.has_residual = m % 4 == 2;
      check(c);
    }
    const GemmCase wide = {.m = m, .n = 9000, .k = 83};
    const GemmRun run(wide, target(), host());
    const GuardedMatrix first = run.run(false, 1);
    ASSERT_TRUE(run.check(first)) << wide.text();
    for (int threads : {2, 3}) EXPECT_TRUE(GemmRun::same(first, run.run(false, threads)));
    EXPECT_TRUE(GemmRun::same(first, run.run(true, 1))) << wide.text();
  }
}

TEST_P(Gemm, TakesAnyMixOfDtypes) {
  const DType all[] = {DType::kF32, DType::kF16, DType::kBF16};
  for (DType a : all) {
    for (DType b : all) {
      for (DType c : all) {
        for (Storage storage : {Storage::kRows, Storage::kColumns, Storage::kSpaced}) {
          check({.m = 21,
                 .n = 39,
                 .k = 35,
                 .a = a,
                 .b = b,
                 .c = c,
                 .a_storage = storage,
                 .b_storage = storage,
                 .c_storage = storage});
          check({.m = 140,
                 .n = 39,
                 .k = 35,
                 .a = a,
                 .b = b,
                 .c = c,
                 .a_storage = storage,
                 .b_storage = storage});
        }
      }
    }
  }
}

TEST_P(Gemm, WidensCodesOfEightBits) {
  for (DType a : {DType::kF8E4M3, DType::kF8E5M2, DType::kF32}) {
    for (Storage storage : {Storage::kRows, Storage::kColumns, Storage::kSpaced}) {
      check({.m = 21,
             .n = 39,
             .k = 131,
             .a = a,
             .b = DType::kF8E4M3,
             .c = DType::kBF16,
             .a_storage = storage,
             .b_storage = storage});
    }
  }
}

// The same bits as a product of matrices that were scaled before.
TEST_P(Gemm, ScalesBlocksWhileItPacks) {
  constexpr int64_t kM = 19, kN = 200, kK = 300, kBlocks = 3;
  for (Storage storage : {Storage::kRows, Storage::kColumns, Storage::kSpaced}) {
    GuardedMatrix a(kM, kK, DType::kF8E4M3, storage), b(kK, kN, DType::kF8E4M3, storage);
    GuardedMatrix a_scale(kM, kBlocks, DType::kF32, storage),
        b_scale(kBlocks, 2, DType::kF32, storage);
    GuardedMatrix wide_a(kM, kK, DType::kF32, storage), wide_b(kK, kN, DType::kF32, storage);
    for (GuardedMatrix* m : {&a, &b, &a_scale, &b_scale}) m->fill(7, false);
    for (int64_t k = 0; k < kK; k++) {
      for (int64_t i = 0; i < kM; i++) wide_a.set(i, k, a.at(i, k) * a_scale.at(i, k / 128));
      for (int64_t j = 0; j < kN; j++) wide_b.set(k, j, b.at(k, j) * b_scale.at(k / 128, j / 128));
    }
    const auto product = [&](const GuardedMatrix& x, const GuardedMatrix& y, bool has_scales) {
      GuardedMatrix c(kM, kN, DType::kF32, Storage::kRows);
      ProductDesc desc = {.m = kM, .n = kN, .k = kK, .a = x.dtype(), .b = y.dtype()};
      desc.a_row = x.row(), desc.a_column = x.column();
      desc.b_row = y.row(), desc.b_column = y.column();
      desc.c_row = kN, desc.c_column = 1;
      if (has_scales) {
        desc.a_blocks = {128, 1, a_scale.column(), a_scale.row()};
        desc.b_blocks = {128, 128, b_scale.row(), b_scale.column()};
      }
      ProductArgs args{x.data(), y.data(), c.data()};
      args.a_scales = static_cast<const float*>(a_scale.data());
      args.b_scales = static_cast<const float*>(b_scale.data());
      const Product made = *Product::make(desc, target(), host());
      Buffer workspace =
          std::move(*Buffer::allocate(made.workspace_bytes() + 64, MemoryMode::kGuarded));
      const auto at = reinterpret_cast<uintptr_t>(workspace.data());
      made.run(args, reinterpret_cast<void*>((at + 63) / 64 * 64), {2, nullptr});
      return c.values();
    };
    EXPECT_EQ(product(a, b, true), product(wide_a, wide_b, false));
  }
}

TEST_P(Gemm, IsExactOnIntegers) {
  for (int64_t m : {3, 64, 200}) {
    check({.m = m, .n = 77, .k = 1030, .is_integer = true});
    check({.m = m,
           .n = 77,
           .k = 600,
           .b_storage = Storage::kColumns,
           .is_integer = true,
           .has_bias = true,
           .has_residual = true});
  }
}

TEST_P(Gemm, ReadsCWithBetaOnly) {
  for (int64_t m : {2, 33, 150}) {
    for (DType c : {DType::kF32, DType::kBF16}) {
      check({.m = m, .n = 50, .k = 1100, .c = c, .has_bias = true, .has_beta = true});
      check({.m = m, .n = 50, .k = 40, .c = c, .c_storage = Storage::kSpaced, .has_beta = true});
    }
  }
}

double gelu_in_double(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }
double silu_in_double(double x) { return x / (1 + std::exp(-x)); }
double relu_in_double(double x) { return x > 0 ? x : 0; }

// As accurate on the sums as math_exhaustive.cpp finds them on every float.
constexpr Activation kActivations[] = {{"gelu", gelu_in_double, 4, 1e-6, 1.13},
                                       {"silu", silu_in_double, 4, 1e-6, 1.1},
                                       {"relu", relu_in_double}};

TEST_P(Gemm, AppliesAnActivationToTheSums) {
  if (catalogue_trace("gelu") == nullptr) GTEST_SKIP() << "built without a decoder";
  for (const Activation& activation : kActivations) {
    for (int64_t m : {1, 16, 150}) {
      for (DType c : {DType::kF32, DType::kF16}) {
        check({.m = m,
               .n = 45,
               .k = 1100,
               .c = c,
               .has_bias = true,
               .has_residual = true,
               .activation = &activation});
      }
    }
  }
}

TEST_P(Gemm, RefusesAnEpilogueThatIsNoFunctionOfOneValue) {
  ProductDesc desc = {.m = 4,
                      .n = 4,
                      .k = 4,
                      .a_row = 4,
                      .a_column = 1,
                      .b_row = 4,
                      .b_column = 1,
                      .c_row = 4,
                      .c_column = 1};
  const OpTrace* softmax = catalogue_trace("softmax");
  if (softmax == nullptr) GTEST_SKIP() << "built without a decoder: nothing is lifted";
  desc.epilogue.apply(*softmax);
  Expected<Product> product = Product::make(desc, target(), host());
  ASSERT_FALSE(product);
  EXPECT_EQ(product.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(product.error().op, "softmax");
}

TEST_P(Gemm, RefusesOtherDtypes) {
  ProductDesc desc = {.m = 4, .n = 4, .k = 4, .a = DType::kI32};
  Expected<Product> product = Product::make(desc, target(), host());
  ASSERT_FALSE(product);
  EXPECT_EQ(product.error().argument, "a");
}

TEST_P(Gemm, UnpacksWhatItPacked) {
  const GuardedMatrix b = [] {
    GuardedMatrix m(37, 70, DType::kBF16, Storage::kColumns);
    m.fill(5, false);
    return m;
  }();
  const PackedLayout layout = *make_packed_layout(family(), DType::kBF16, 37, 70);
  Expected<PackedMatrix> packed = PackedMatrix::make(
      target(), layout, {b.data(), DType::kBF16, b.row(), b.column()}, {2, nullptr});
  ASSERT_TRUE(packed);
  GuardedMatrix back(37, 70, DType::kBF16, Storage::kRows);
  unpack_b(layout, packed->data(), back.data());
  EXPECT_EQ(back.values(), b.values());
}

TEST_P(Gemm, RefusesAPackedMatrixOfAnotherKind) {
  const PackedLayout layout = *make_packed_layout(family(), DType::kF32, 8, 16);
  EXPECT_TRUE(check_packed(layout, family(), 8, 16));
  Expected<void> other_shape = check_packed(layout, family(), 16, 8);
  ASSERT_FALSE(other_shape);
  EXPECT_EQ(other_shape.error().code, ErrorCode::kShapeMismatch);
  const Family other = family();
  Expected<void> other_isa = check_packed(layout, other, 8, 16);
  ASSERT_FALSE(other_isa);
  EXPECT_EQ(other_isa.error().code, ErrorCode::kUnsupported);
  EXPECT_FALSE(make_packed_layout(family(), DType::kF32, INT64_MAX / 4, 64));
  EXPECT_FALSE(make_packed_layout(family(), DType::kF32, 64, INT64_MAX - 1));
}

INSTANTIATE_TEST_SUITE_P(Isa, Gemm, ::testing::ValuesIn(jit::targets(detect_isa())),
                         [](const auto& info) { return std::string(info.param->isa); });

}  // namespace
}  // namespace nrd::gemm
