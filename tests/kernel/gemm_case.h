// SPDX-License-Identifier: MIT
// tests/kernel/gemm_case.h: one product on one target, its data against guard pages, its result in
// double.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/convert.h"
#include "compiler/catalogue_traces.h"
#include "gemm/packed.h"
#include "gemm/product.h"
#include "jit/code.h"
#include "tests/seed.h"
#include "workbench/memory.h"

namespace nrd::gemm {

// How a matrix lies in memory.
enum class Storage { kRows, kColumns, kSpaced };

// An elementwise function on the sums: its trace, its value in double, and how far the code may lie
// from that: units of the last place, and what holds near its zeros.
struct Activation {
  const char* name;
  double (*in_double)(double);
  double units = 0, absolute = 0;
  double slope = 1;  // the largest
};

struct GemmCase {
  int64_t m = 1, n = 1, k = 1;
  DType a = DType::kF32, b = DType::kF32, c = DType::kF32;
  Numerics numerics = Numerics::kPlain;
  Storage a_storage = Storage::kRows, b_storage = Storage::kRows, c_storage = Storage::kRows;
  int64_t a_row = 0;        // elements from row to row, where rows are contiguous and apart
  bool is_integer = false;  // small integers: every sum is exact
  bool has_bias = false, has_beta = false, has_residual = false;
  const Activation* activation = nullptr;

  std::string text() const {
    std::string s =
        "m=" + std::to_string(m) + " n=" + std::to_string(n) + " k=" + std::to_string(k);
    for (DType d : {a, b, c}) s += " " + std::string(word(d));
    for (Storage x : {a_storage, b_storage, c_storage}) s += " rcs"[static_cast<int>(x) + 1];
    if (a_row > 0) s += " a_row=" + std::to_string(a_row);
    if (has_bias) s += " bias";
    if (has_beta) s += " beta";
    if (has_residual) s += " residual";
    return s;
  }
};

// A matrix whose last element lies against a guard page.
class GuardedMatrix {
 public:
  GuardedMatrix(int64_t rows, int64_t columns, DType dtype, Storage storage, int64_t row = 0)
      : rows_(rows), columns_(columns), dtype_(dtype) {
    row_ = storage == Storage::kColumns ? 1 : columns;
    column_ = storage == Storage::kColumns ? rows : 1;
    if (storage == Storage::kSpaced) {
      column_ = 3;
      row_ = 3 * columns + 2;
    }
    if (row > 0) row_ = row;
    const int64_t last =
        rows > 0 && columns > 0 ? (rows - 1) * row_ + (columns - 1) * column_ + 1 : 0;
    buffer_ = std::move(
        *Buffer::allocate(static_cast<size_t>(last) * byte_size(dtype), MemoryMode::kGuarded));
    std::memset(buffer_.data(), 0xff, buffer_.bytes());  // NaN in every dtype
  }

  void fill(uint32_t stream, bool is_integer) {
    std::mt19937 random(test_seed(stream));
    std::uniform_real_distribution<double> real(-1, 1);
    for (int64_t i = 0; i < rows_; i++) {
      for (int64_t j = 0; j < columns_; j++) {
        double value = real(random);
        if (is_integer) value = static_cast<double>(static_cast<int>(random() % 7) - 3);
        if (dtype_ == DType::kI8)
          value = static_cast<double>(static_cast<int>(random() % 256) - 128);
        if (dtype_ == DType::kU8) value = static_cast<double>(random() % 256);
        set(i, j, value);
      }
    }
  }

  // Row by row.
  std::vector<double> values() const {
    std::vector<double> all;
    for (int64_t i = 0; i < rows_; i++) {
      for (int64_t j = 0; j < columns_; j++) all.push_back(at(i, j));
    }
    return all;
  }
  double at(int64_t i, int64_t j) const {
    uint64_t bits = 0;
    std::memcpy(&bits, element(i, j), byte_size(dtype_));
    return decode(bits, dtype_);
  }
  void set(int64_t i, int64_t j, double value) {
    const uint64_t bits = encode(value, dtype_, Overflow::kIeee);
    std::memcpy(element(i, j), &bits, byte_size(dtype_));
  }

  void* data() const { return buffer_.data(); }
  size_t bytes() const { return buffer_.bytes(); }
  int64_t row() const { return row_; }
  int64_t column() const { return column_; }
  DType dtype() const { return dtype_; }
  OperandMemory memory() const {
    const auto size = static_cast<int64_t>(byte_size(dtype_));
    return {buffer_.data(), row_ * size, column_ * size};
  }

 private:
  char* element(int64_t i, int64_t j) const {
    return static_cast<char*>(buffer_.data()) +
           (i * row_ + j * column_) * static_cast<int64_t>(byte_size(dtype_));
  }
  int64_t rows_, columns_, row_, column_;
  DType dtype_;
  Buffer buffer_;
};

// Half a unit of the last place of f32, relative, with room for products of errors.
constexpr double kHalfUnit = 0x1.001p-24;

// Where an f32 intermediate may lie.
struct Interval {
  double value = 0, bound = 0;

  void round() { bound += kHalfUnit * std::abs(value) + 0x1p-150; }  // once to f32
  // Whether some number of the interval becomes `got` when it is rounded to the dtype.
  bool rounds_to(double got, DType dtype) const {
    const auto stored = [&](double x) { return decode(encode(x, dtype, Overflow::kIeee), dtype); };
    return stored(value - bound) <= got && got <= stored(value + bound);
  }
};

// The operands of a case and the ways to run it.
class GemmRun {
 public:
  GemmRun(const GemmCase& c, const jit::Target& target, const DeviceProfile& profile)
      : c_(c),
        target_(target),
        profile_(profile),
        a_(c.m, c.k, c.a, c.a_storage, c.a_row),
        b_(c.k, c.n, c.b, c.b_storage),
        bias_(1, c.n, DType::kF32, Storage::kRows),
        residual_(c.m, c.n, c.c, c.c_storage) {
    a_.fill(1, c.is_integer);
    b_.fill(2, c.is_integer);
    bias_.fill(3, c.is_integer);
    residual_.fill(4, c.is_integer);
  }

  // C, as it came out. With `is_packed` b is packed first; `blocking`: instead of the chosen one.
  GuardedMatrix run(bool is_packed, int threads, std::optional<Blocking> blocking = {}) const {
    GuardedMatrix c(c_.m, c_.n, c_.c, c_.c_storage);
    if (c_.has_beta) std::memcpy(c.data(), residual_.data(), c.bytes());
    ProductArgs args{a_.data(), b_.data(), c.data(), {}};
    ProductDesc desc = describe(c, args);
    desc.is_packed = is_packed;
    Buffer packed = pack(is_packed);
    if (is_packed) args.b = packed.data();
    Expected<Product> product = Product::make(desc, target_, profile_, blocking);
    EXPECT_TRUE(product) << product.error().message();
    if (!product) return c;
    // Behind a guard page as well, aligned as promised.
    const size_t bytes = (product->workspace_bytes() + 63) / 64 * 64;
    Buffer workspace = std::move(*Buffer::allocate(bytes, MemoryMode::kGuarded));
    std::memset(workspace.data(), 0xff, workspace.bytes());
    product->run(args, workspace.data(), {threads, nullptr});
    return c;
  }

  // Whether every element is what the arithmetic that the numerics class promises can give.
  ::testing::AssertionResult check(const GuardedMatrix& c) const {
    const std::vector<double> a = a_.values(), b = b_.values();
    for (int64_t i = 0; i < c_.m; i++) {
      const std::vector<Interval> sums = row_of_sums(a.data() + i * c_.k, b.data());
      for (int64_t j = 0; j < c_.n; j++) {
        const Interval expected = epilogue(sums[static_cast<size_t>(j)], i, j);
        if (expected.rounds_to(c.at(i, j), c_.c)) continue;
        return ::testing::AssertionFailure()
               << c_.text() << " on " << target_.isa << ": c[" << i << "," << j
               << "] = " << c.at(i, j) << ", not " << expected.value << " +- " << expected.bound;
      }
    }
    return ::testing::AssertionSuccess();
  }

  static bool same(const GuardedMatrix& x, const GuardedMatrix& y) {
    return std::memcmp(x.data(), y.data(), x.bytes()) == 0;
  }

 private:
  static constexpr float kAlpha = 0.5f, kBeta = 2.0f;

  ProductDesc describe(const GuardedMatrix& c, ProductArgs& args) const {
    ProductDesc desc;
    desc.m = c_.m, desc.n = c_.n, desc.k = c_.k;
    desc.a = c_.a, desc.b = c_.b;
    desc.numerics = c_.numerics;
    desc.a_row = a_.row(), desc.a_column = a_.column();
    desc.b_row = b_.row(), desc.b_column = b_.column();
    desc.c_row = c.row(), desc.c_column = c.column();
    Epilogue& e = desc.epilogue;
    e.out = c_.c;
    const bool is_contiguous = c.column() == 1;
    if (c_.has_beta) {
      args.operands[static_cast<size_t>(e.multiply({}))] = {&kAlpha, 0, 0};
      const int matrix = e.add_operand({OperandShape::kMatrix, c_.c, is_contiguous});
      const int beta = e.add_operand({});
      e.steps.push_back({.kind = StepKind::kApply,
                         .trace = catalogue_trace("vec_axpy"),
                         .inputs = {matrix, Step::kValue, beta}});
      args.operands[static_cast<size_t>(matrix)] = c.memory();
      args.operands[static_cast<size_t>(beta)] = {&kBeta, 0, 0};
    }
    if (c_.has_bias) {
      OperandMemory bias = bias_.memory();
      bias.row = 0;
      args.operands[static_cast<size_t>(e.add({OperandShape::kColumns, DType::kF32, true}))] = bias;
    }
    if (c_.activation != nullptr) e.apply(*catalogue_trace(c_.activation->name));
    if (c_.has_residual) {
      args.operands[static_cast<size_t>(e.add({OperandShape::kMatrix, c_.c, is_contiguous}))] =
          residual_.memory();
    }
    return desc;
  }

  // Plain: the very bits, one chain of f32 multiply-adds in the order of k. Integers: the sum.
  // Pairs of bf16: products are exact, and each enters the sum with one rounding, to odd at worst.
  std::vector<Interval> row_of_sums(const double* a, const double* b) const {
    const auto n = static_cast<size_t>(c_.n);
    std::vector<float> chains(n);
    std::vector<double> sums(n), sizes(n);
    for (int64_t k = 0; k < c_.k; k++) {
      const double* row = b + k * c_.n;
      for (size_t j = 0; j < n; j++) {
        if (c_.numerics == Numerics::kPlain) {
          chains[j] = std::fma(static_cast<float>(a[k]), static_cast<float>(row[j]), chains[j]);
        } else {
          sums[j] += a[k] * row[j];
          sizes[j] += std::abs(a[k] * row[j]);
        }
      }
    }
    std::vector<Interval> row(n);
    for (size_t j = 0; j < n; j++) {
      if (c_.numerics == Numerics::kPlain) {
        row[j].value = static_cast<double>(chains[j]);
      } else if (c_.numerics == Numerics::kInt8) {
        row[j].value = sums[j];
        if (c_.c != DType::kI32) row[j].round();
      } else {
        row[j] = {sums[j], 2 * static_cast<double>(c_.k) * kHalfUnit * sizes[j]};
      }
    }
    return row;
  }

  Interval epilogue(Interval sum, int64_t i, int64_t j) const {
    const bool is_exact = c_.is_integer;  // every step
    if (c_.has_beta) {
      sum.value = kAlpha * sum.value + kBeta * residual_.at(i, j);  // powers of two
      sum.bound *= kAlpha;
      if (!is_exact) sum.round();
    }
    if (c_.has_bias) {
      sum.value += bias_.at(0, j);
      if (!is_exact) sum.round();
    }
    if (c_.activation != nullptr) {
      sum.value = c_.activation->in_double(sum.value);
      sum.bound = sum.bound * c_.activation->slope + c_.activation->absolute +
                  c_.activation->units * 2 * kHalfUnit * std::abs(sum.value);
    }
    if (c_.has_residual) {
      sum.value += residual_.at(i, j);
      if (!is_exact) sum.round();
    }
    return sum;
  }

  Buffer pack(bool is_packed) const {
    if (!is_packed) return {};
    const Family& family = **find_family(target_, profile_.isa, c_.numerics);
    const PackedLayout layout = *make_packed_layout(family, c_.b, c_.k, c_.n);
    Buffer packed = std::move(*Buffer::allocate(layout.bytes(), MemoryMode::kGuarded));
    const Matrix b = {b_.data(), c_.b, b_.row(), b_.column()};
    EXPECT_TRUE(pack_b(target_, layout, b, packed.data(), {2, nullptr}));
    return packed;
  }

  GemmCase c_;
  const jit::Target& target_;
  const DeviceProfile& profile_;
  GuardedMatrix a_, b_, bias_, residual_;
};

// Caches so small that a product of modest size has several blocks of everything.
inline DeviceProfile with_tiny_caches(DeviceProfile profile) {
  profile.cores = 3;
  profile.caches = {{"L1", 2 << 10, 1}, {"L2", 8 << 10, 1}, {"L3", 32 << 10, 4}, {"DRAM", 0, 1}};
  return profile;
}

// Right, and the same bits packed and plain, on 1, 2 and 3 threads, blocked in two ways.
inline void check_all_ways(const GemmCase& c, const jit::Target& target,
                           const DeviceProfile& profile) {
  const GemmRun run(c, target, profile);
  const GuardedMatrix first = run.run(false, 1);
  ASSERT_TRUE(run.check(first));
  EXPECT_TRUE(GemmRun::same(first, run.run(true, 1))) << c.text() << ": packed";
  for (int threads : {2, 3}) {
    EXPECT_TRUE(GemmRun::same(first, run.run(threads == 2, threads)))
        << c.text() << ": " << threads << " threads";
  }
  const DeviceProfile tiny = with_tiny_caches(profile);
  const GemmRun blocked(c, target, tiny);
  EXPECT_TRUE(GemmRun::same(first, blocked.run(false, 3))) << c.text() << ": other blocks";
  EXPECT_TRUE(GemmRun::same(first, blocked.run(true, 2))) << c.text() << ": other blocks, packed";
}

}  // namespace nrd::gemm
