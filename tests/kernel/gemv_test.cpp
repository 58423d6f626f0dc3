// SPDX-License-Identifier: MIT
// tests/kernel/gemv_test.cpp: the matrix-vector product on every ISA of this machine: sizes,
// layouts, dtypes, guard pages, the bits of the compiled definition, the same bits on any threads.
#include "gemm/gemv.h"

#include <gtest/gtest.h>

#include "compiler/catalogue_traces.h"
#include "compiler/operator.h"
#include "gemm_case.h"
#include "ops/evaluate.h"

namespace nrd::gemm {
namespace {

struct GemvCase {
  int64_t m = 1, n = 1;
  DType a = DType::kF32, x = DType::kF32, y = DType::kF32;
  Storage a_storage = Storage::kRows, x_storage = Storage::kRows, y_storage = Storage::kRows;

  std::string text() const {
    std::string s = "m=" + std::to_string(m) + " n=" + std::to_string(n);
    for (DType d : {a, x, y}) s += " " + std::string(word(d));
    for (Storage o : {a_storage, x_storage, y_storage}) s += " rcs"[static_cast<int>(o) + 1];
    return s;
  }
};

OperandDesc vector_desc(const GuardedMatrix& v, int64_t size) {
  return {true, v.dtype(), {size}, {v.column()}, false};
}

class Gemvs : public ::testing::TestWithParam<const jit::Target*> {
 protected:
  const jit::Target& target() const { return *GetParam(); }

  struct Operands {
    explicit Operands(const GemvCase& c)
        : a(c.m, c.n, c.a, c.a_storage), x(1, c.n, c.x, c.x_storage), y(1, c.m, c.y, c.y_storage) {
      a.fill(1, false);
      x.fill(2, false);
    }
    GuardedMatrix a, x, y;
  };

  GuardedMatrix run(const GemvCase& c, int threads) const {
    Operands o(c);
    Expected<Gemv> gemv =
        Gemv::make({c.m, c.n, c.a, c.x, c.y, o.a.row(), o.a.column(), o.x.column(), o.y.column()},
                   target(), 3);
    EXPECT_TRUE(gemv) << gemv.error().message();
    Buffer workspace = std::move(*Buffer::allocate(gemv->workspace_bytes(), MemoryMode::kGuarded));
    std::memset(workspace.data(), 0xff, workspace.bytes());
    gemv->run(o.a.data(), o.x.data(), o.y.data(), workspace.data(), {threads, nullptr});
    return std::move(o.y);
  }

  // What generated code makes of the definition; it copies a strided a first.
  static GuardedMatrix definition(const GemvCase& c) {
    Operands o(c);
    const Desc desc = *bind(**find_op("gemv"), {},
                            {{"a", {true, c.a, {c.m, c.n}, {o.a.row(), o.a.column()}, false}},
                             {"x", vector_desc(o.x, c.n)},
                             {"y", vector_desc(o.y, c.m)}});
    Expected<Evaluation> evaluation =
        Evaluation::prepare(desc, *compile_operator(desc, detect_isa(), {}));
    std::vector<char> workspace(evaluation->workspace_bytes() + 64);
    char* at = workspace.data() + (64 - reinterpret_cast<uintptr_t>(workspace.data()) % 64);
    void* const pointers[] = {o.a.data(), o.x.data(), o.y.data()};
    evaluation->run(pointers, at, {1, nullptr});
    return std::move(o.y);
  }

  // Rows: 64 lanes a chunk of 16384 that are added up in a tree; columns: a chain.
  static double roundings(const GemvCase& c) {
    const auto n = static_cast<double>(c.n);
    return c.a_storage == Storage::kColumns ? n : std::min(n, 16384.0) / 64 + n / 16384 + 8;
  }

  static ::testing::AssertionResult is_near(const GemvCase& c, const GuardedMatrix& y) {
    const Operands o(c);
    for (int64_t i = 0; i < c.m; i++) {
      double sum = 0, size = 0;
      for (int64_t j = 0; j < c.n; j++) {
        sum += o.a.at(i, j) * o.x.at(0, j);
        size += std::abs(o.a.at(i, j) * o.x.at(0, j));
      }
      const Interval expected = {sum, roundings(c) * kHalfUnit * size};
      if (expected.rounds_to(y.at(0, i), c.y)) continue;
      return ::testing::AssertionFailure() << c.text() << ": y[" << i << "] = " << y.at(0, i)
                                           << ", not " << sum << " +- " << expected.bound;
    }
    return ::testing::AssertionSuccess();
  }

  void check(const GemvCase& c) const {
    const GuardedMatrix first = run(c, 1);
    ASSERT_TRUE(is_near(c, first));
    for (int threads : {2, 3}) {
      EXPECT_TRUE(GemmRun::same(first, run(c, threads))) << c.text() << ", " << threads;
    }
    if (c.a_storage == Storage::kColumns && c.n > 1) return;  // chains: another order
    if (catalogue_trace("gemv") == nullptr) return;           // nothing was lifted in this build
    EXPECT_TRUE(GemmRun::same(first, definition(c))) << c.text() << ": not the definition's bits";
  }
};

TEST_P(Gemvs, IsRightAtSmallSizes) {
  for (int64_t m = 1; m <= 40; m++) {
    for (int64_t n = 1; n <= 40; n++) {
      for (Storage a : {Storage::kRows, Storage::kColumns}) {
        const GemvCase c = {.m = m, .n = n, .a_storage = a};
        ASSERT_TRUE(is_near(c, run(c, 1)));
      }
    }
  }
}

TEST_P(Gemvs, HasTheBitsOfTheDefinitionAroundLanesAndChunks) {
  for (int64_t n : {0, 1, 15, 63, 64, 65, 127, 128, 129, 1000, 16383, 16384, 16385, 32845}) {
    for (int64_t m : {1, 3, 6, 7, 8, 29}) {
      for (Storage a : {Storage::kRows, Storage::kColumns, Storage::kSpaced}) {
        check({.m = m, .n = n, .a_storage = a});
      }
    }
  }
  check({.m = 0, .n = 5});
}

TEST_P(Gemvs, TakesAnyMixOfDtypesAndStrides) {
  const DType all[] = {DType::kF32, DType::kF16, DType::kBF16};
  const Storage storages[] = {Storage::kRows, Storage::kColumns, Storage::kSpaced};
  for (DType a : all) {
    for (DType x : all) {
      for (DType y : all) {
        for (Storage storage : storages) {
          for (Storage vectors : {Storage::kRows, Storage::kSpaced}) {
            check({11, 77, a, x, y, storage, vectors, vectors});
            if (a == x) check({6, 16500, a, x, y, storage, vectors, vectors});
          }
        }
      }
    }
  }
}

TEST_P(Gemvs, SharesRowsOutToThreads) {
  for (Storage a : {Storage::kRows, Storage::kColumns, Storage::kSpaced}) {
    for (int64_t n : {511, 512, 517, 1030, 2600}) check({.m = 301, .n = n, .a_storage = a});
    check({.m = 301, .n = 517, .a = DType::kBF16, .y = DType::kF16, .a_storage = a});
  }
}

// What the loops over elements use stays in registers; the outer loop's pointers may wait in
// memory.
TEST_P(Gemvs, SpillsNoVectors) {
  for (GemvOrder order : {GemvOrder::kRows, GemvOrder::kColumns}) {
    for (DType a : {DType::kF32, DType::kF16, DType::kBF16}) {
      const bool is_by_columns = order == GemvOrder::kColumns;
      const GemvSpec spec = {&target(), order, a, DType::kF32,
                             is_by_columns ? kGemvColumns : gemv_rows(target())};
      const jit::Program program = write_gemv_kernel(spec);
      EXPECT_EQ(jit::verify_program(program), "");
      int spills = -1;
      ASSERT_TRUE(jit::encode(program, target(), &spills));
      EXPECT_LE(spills, 4) << spec.key();  // a, y, before, groups
    }
  }
}

TEST_P(Gemvs, RefusesOtherDtypes) {
  Expected<Gemv> gemv = Gemv::make({.m = 4, .n = 4, .x = DType::kI8}, target(), 1);
  ASSERT_FALSE(gemv);
  EXPECT_EQ(gemv.error().argument, "x");
}

INSTANTIATE_TEST_SUITE_P(Isa, Gemvs, ::testing::ValuesIn(jit::targets(detect_isa())),
                         [](const auto& info) { return std::string(info.param->isa); });

}  // namespace
}  // namespace nrd::gemm
