// SPDX-License-Identifier: MIT
// tests/unit/api_packed_test.cpp: packed matrices of the C++ API: products with epilogues, back to
// what they were, as files, in groups.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <random>

#include "nereid/nereid.h"
#include "tests/seed.h"

namespace {

using nereid::DType;
using nereid::PackedMatrix;
using nereid::Tensor;
using nereid::TensorView;

Tensor random_tensor(DType dtype, std::initializer_list<int64_t> sizes, unsigned seed) {
  const Tensor values(nereid::f32, sizes), to(dtype, sizes);
  std::mt19937 random(nrd::test_seed(seed));
  std::uniform_real_distribution<float> real(-1, 1);
  for (int64_t i = 0; i < values.count(); i++) values.data<float>()[i] = real(random);
  nereid::cast(values, to);
  return to;
}

std::vector<float> values_of(const TensorView& x) {
  const Tensor wide(nereid::f32, x.sizes());
  nereid::cast(x, wide);
  return {wide.data<float>(), wide.data<float>() + wide.count()};
}

size_t bytes_of(const Tensor& x) {
  return static_cast<size_t>(x.count()) * nereid::byte_size(x.dtype());
}

bool same_bits(const Tensor& x, const Tensor& y) {
  return bytes_of(x) == bytes_of(y) &&
         std::memcmp(x.data<char>(), y.data<char>(), bytes_of(x)) == 0;
}

// A file of this test, gone with it.
struct TemporaryFile {
  TemporaryFile()
      : path((std::filesystem::temp_directory_path() /
              ("nereid_packed_" + std::to_string(getpid()) + "_" + std::to_string(count++)))
                 .string()) {}
  ~TemporaryFile() { std::filesystem::remove(path); }
  static inline int count = 0;
  std::string path;
};

// A matrix that is held in panels can be a file; without generated code none is.
bool has_panels() {
  const TemporaryFile file;
  try {
    nereid::pack_b(random_tensor(nereid::f32, {2, 2}, 1)).save(file.path);
  } catch (const nereid::KernelError&) {
    return false;
  }
  return true;
}

constexpr DType kFloats[] = {nereid::f32, nereid::f16, nereid::bf16};

TEST(PackedProduct, HasTheBitsOfGemmForEveryDtypeAndThreadCount) {
  for (DType a_dtype : kFloats) {
    for (DType b_dtype : kFloats) {
      const Tensor a = random_tensor(a_dtype, {37, 300}, 1),
                   w = random_tensor(b_dtype, {45, 300}, 2);
      const PackedMatrix packed = nereid::pack_b(TensorView(w).t());
      const Tensor plain(nereid::f32, {37, 45}), with(nereid::f32, {37, 45});
      nereid::gemm(a, TensorView(w).t(), plain);
      for (int threads : {1, 2, 3}) {
        nereid::gemm(a, packed, with, {.threads = threads});
        EXPECT_TRUE(same_bits(plain, with)) << threads;
      }
    }
  }
}

struct EpilogueCase {
  Tensor a = random_tensor(nereid::f32, {2, 9, 70}, 1), b = random_tensor(nereid::f32, {70, 45}, 2);
  Tensor bias = random_tensor(nereid::bf16, {45}, 3), scale = random_tensor(nereid::f32, {45}, 4);
  Tensor residual = random_tensor(nereid::f32, {2, 9, 45}, 5);

  void check(const nereid::PackedGemmOptions& options, double (*activation)(double), double factor,
             bool scales_columns, const Tensor& c) const {
    nereid::gemm(a, nereid::pack_b(b), c, options);
    const std::vector<float> got = values_of(c), x = values_of(a), y = values_of(b),
                             added = values_of(bias), factors = values_of(scale),
                             last = values_of(residual);
    for (size_t i = 0; i < got.size(); i++) {
      const size_t row = i / 45, column = i % 45;
      double sum = 0;
      for (size_t k = 0; k < 70; k++) sum += double(x[row * 70 + k]) * y[k * 45 + column];
      sum *= scales_columns ? factors[column] : factor;
      if (options.bias) sum += added[column];
      if (activation) sum = activation(sum);
      if (options.residual) sum += last[i];
      ASSERT_NEAR(got[i], sum, c.dtype() == nereid::f32 ? 2e-5 : 5e-2) << i;
    }
  }
};

double silu(double x) { return x / (1 + std::exp(-x)); }
double gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }
double tanh_of(double x) { return std::tanh(x); }

TEST(PackedProduct, AppliesScaleBiasActivationAndResidualInThisOrder) {
  const EpilogueCase e;
  const float half = 0.5f;
  const TensorView number(&half, {});
  for (DType dtype : {nereid::f32, nereid::bf16}) {
    const Tensor c(dtype, {2, 9, 45});
    e.check({}, nullptr, 1, false, c);
    e.check({.scale = number}, nullptr, 0.5, false, c);
    e.check({.bias = e.bias, .scale = e.scale}, nullptr, 1, true, c);
    e.check({.bias = e.bias, .activation = "silu", .scale = number}, silu, 0.5, false, c);
    e.check({.activation = "gelu", .residual = e.residual}, gelu, 1, false, c);
    e.check({.bias = e.bias, .activation = "tanh", .residual = e.residual, .scale = e.scale},
            tanh_of, 1, true, c);
  }
}

TEST(PackedProduct, EveryBackendGivesTheEpilogue) {
  const EpilogueCase e;
  const Tensor c(nereid::f32, {2, 9, 45});
  for (const char* backend : {"cpu", "autovec", "scalar"}) {
    e.check({.bias = e.bias,
             .activation = "silu",
             .residual = e.residual,
             .backend = backend,
             .scale = e.scale},
            silu, 1, true, c);
  }
  // No generated code for this level: the matrix is held as definitions read it.
  const nereid::Context plain({.isa = "baseline"});
  const PackedMatrix packed = nereid::pack_b(e.b, &plain);
  nereid::gemm(e.a, packed, c, {.bias = e.bias, .context = &plain});
  const Tensor back(nereid::f32, {70, 45});
  packed.unpack(back);
  EXPECT_TRUE(same_bits(back, e.b));
}

TEST(PackedProduct, ReadsAResidualThatIsC) {
  const EpilogueCase e;
  const Tensor apart(nereid::f32, {2, 9, 45}), in_place(nereid::f32, {2, 9, 45});
  std::memcpy(in_place.data<char>(), e.residual.data<char>(), bytes_of(in_place));
  const PackedMatrix packed = nereid::pack_b(e.b);
  nereid::gemm(e.a, packed, apart, {.residual = e.residual});
  nereid::gemm(e.a, packed, in_place, {.residual = in_place, .threads = 3});
  EXPECT_TRUE(same_bits(apart, in_place));
}

TEST(PackedProduct, TakesEmptyMatrices) {
  const std::vector<float> bias = {1, 2};
  const Tensor none(nereid::f32, {0, 2}), a(nereid::f32, {3, 0}), c(nereid::f32, {3, 2});
  nereid::gemm(a, nereid::pack_b(none), c, {.bias = bias});
  EXPECT_EQ(values_of(c), (std::vector<float>{1, 2, 1, 2, 1, 2}));
}

TEST(Unpack, GivesBackWhatWasPacked) {
  for (DType dtype : kFloats) {
    const Tensor w = random_tensor(dtype, {45, 37}, 7), back(dtype, {45, 37}),
                 rows(dtype, {37, 45});
    const PackedMatrix packed = nereid::pack_b(TensorView(w).t());
    packed.unpack(TensorView(back).t());
    EXPECT_TRUE(same_bits(w, back));
    packed.unpack(rows);
    EXPECT_EQ(values_of(rows), values_of(TensorView(w).t()));
  }
  std::vector<int8_t> w(15 * 6), back(15 * 6);
  for (size_t i = 0; i < w.size(); i++) w[i] = static_cast<int8_t>(i * 37);
  nereid::pack_b(TensorView(w, {15, 6})).unpack(TensorView(back, {15, 6}));
  EXPECT_EQ(w, back);
}

TEST(PackedFile, IsMappedWithTheSameBits) {
  if (!has_panels()) GTEST_SKIP() << "no generated code here";
  for (DType dtype : kFloats) {
    const TemporaryFile file;
    const Tensor w = random_tensor(dtype, {300, 77}, 1), a = random_tensor(dtype, {5, 300}, 2);
    const PackedMatrix packed = nereid::pack_b(w);
    packed.save(file.path);
    for (bool verify : {false, true}) {
      const PackedMatrix mapped = PackedMatrix::map(file.path, verify);
      EXPECT_EQ(mapped.k(), 300);
      EXPECT_EQ(mapped.n(), 77);
      EXPECT_EQ(mapped.info().dtype, packed.info().dtype);
      EXPECT_EQ(mapped.bytes(), packed.bytes());
      const Tensor back(dtype, {300, 77}), with(nereid::f32, {5, 77}), c(nereid::f32, {5, 77});
      mapped.unpack(back);
      EXPECT_TRUE(same_bits(w, back));
      nereid::gemm(a, packed, c);
      nereid::gemm(a, mapped, with, {.threads = 2});
      EXPECT_TRUE(same_bits(c, with));
    }
  }
}

nereid_packed* pack(const TensorView& b) {
  nereid_packed* packed = nullptr;
  const nereid_tensor tensor = b.c();
  EXPECT_EQ(nereid_pack_b(nullptr, &tensor, &packed), NEREID_OK) << nereid_last_error()->message;
  return packed;
}

// The form stands in the plan, the panels come with each run.
TEST(PackedTensor, OnePlanServesAllLayersOfAShape) {
  if (!has_panels()) GTEST_SKIP() << "no generated code here";
  const Tensor a = random_tensor(nereid::bf16, {7, 33}, 1), c(nereid::f32, {7, 20}),
               expected(nereid::f32, {7, 20}), bias = random_tensor(nereid::f32, {20}, 2);
  const TensorView a_view(a), c_view(c), bias_view(bias);
  const nereid_tensor ta = a_view.c(), tc = c_view.c(), tbias = bias_view.c();
  nereid_plan* plan = nullptr;
  for (unsigned layer : {3, 4, 5}) {
    const Tensor b = random_tensor(nereid::bf16, {33, 20}, layer);
    nereid_packed* packed = pack(b);
    nereid_tensor tb{};
    tb.struct_size = sizeof tb;
    ASSERT_EQ(nereid_packed_tensor(packed, NEREID_BF16, &tb), NEREID_OK);
    EXPECT_NE(tb.form, nullptr);
    const nereid_operand operands[] = {{"a", &ta}, {"b", &tb}, {"bias", &tbias}, {"c", &tc}};
    nereid_call call{};
    call.struct_size = sizeof call;
    call.op = "gemm+bias+silu";
    call.operands = operands;
    call.operand_count = 4;
    if (!plan) {
      ASSERT_EQ(nereid_prepare(nullptr, &call, &plan), NEREID_OK) << nereid_last_error()->message;
    }
    void* const data[] = {ta.data, tb.data, tbias.data, tc.data};
    ASSERT_EQ(nereid_plan_run(plan, data, 4, nullptr, 0, 2), NEREID_OK)
        << nereid_last_error()->message;
    nereid::gemm(a, nereid::pack_b(b), expected, {.bias = bias, .activation = "silu"});
    EXPECT_TRUE(same_bits(c, expected)) << layer;
    call.backend = "scalar";  // knows nothing of panels, and says so
    EXPECT_EQ(nereid_run(nullptr, &call), NEREID_UNSUPPORTED);
    EXPECT_NE(std::string(nereid_last_error()->message).find("panels"), std::string::npos)
        << nereid_last_error()->message;
    nereid_packed_destroy(packed);
  }
  nereid_plan_destroy(plan);
}

// A mapping lives on when the file is replaced or removed by name.
TEST(PackedFile, OutlivesItsName) {
  if (!has_panels()) GTEST_SKIP() << "no generated code here";
  const Tensor w = random_tensor(nereid::f32, {64, 64}, 1);
  const TemporaryFile file;
  nereid::pack_b(w).save(file.path);
  const PackedMatrix mapped = PackedMatrix::map(file.path);
  nereid::pack_b(random_tensor(nereid::f32, {8, 8}, 2)).save(file.path);
  std::filesystem::remove(file.path);
  const Tensor back(nereid::f32, {64, 64});
  mapped.unpack(back);
  EXPECT_TRUE(same_bits(w, back));
}

TEST(Grouped, HasTheBitsOfOneCallEach) {
  // Experts: different rows, one of them none, one with leading axes, two of one matrix.
  const std::vector<int64_t> rows = {1, 40, 0, 7, 150, 3};
  std::vector<Tensor> a, c, expected;
  std::vector<PackedMatrix> weights;
  std::vector<nereid::PackedProduct> products;
  const Tensor bias = random_tensor(nereid::f32, {96}, 9);
  for (size_t i = 0; i < rows.size(); i++) {
    a.push_back(random_tensor(nereid::f32, {2, rows[i], 200}, static_cast<unsigned>(i)));
    c.emplace_back(nereid::bf16, std::initializer_list<int64_t>{2, rows[i], 96});
    expected.emplace_back(nereid::bf16, std::initializer_list<int64_t>{2, rows[i], 96});
    weights.push_back(i == 3 ? weights[1]
                             : nereid::pack_b(random_tensor(nereid::bf16, {200, 96},
                                                            static_cast<unsigned>(20 + i))));
    const nereid::PackedGemmOptions options = {.bias = bias, .activation = "silu"};
    nereid::gemm(a[i], weights[i], expected[i], options);
    products.push_back({a[i], weights[i], c[i], options});
  }
  // Not a matrix of rows: two products.
  const Tensor turned_c(nereid::f32, {40, 2, 96}), turned_expected(nereid::f32, {40, 2, 96});
  const TensorView out = TensorView(turned_c).transpose(0, 1);
  nereid::gemm(TensorView(a[1]), weights[0], TensorView(turned_expected).transpose(0, 1));
  products.push_back({a[1], weights[0], out, {}});
  const Tensor by_steps(nereid::f32, {2, 40, 96});
  products.push_back({a[1], weights[0], by_steps, {.backend = "autovec"}});
  for (int threads : {1, 2, 3}) {
    for (Tensor& t : c) std::memset(t.data<char>(), 0xff, bytes_of(t));
    nereid::gemm_grouped(products, threads);
    for (size_t i = 0; i < rows.size(); i++) EXPECT_TRUE(same_bits(c[i], expected[i])) << i;
    EXPECT_TRUE(same_bits(turned_c, turned_expected));
  }
  nereid::gemm_grouped({});
}

}  // namespace
