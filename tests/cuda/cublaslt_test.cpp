// SPDX-License-Identifier: MIT
// tests/cuda/cublaslt_test.cpp: the calls that the peer cublaslt makes, on a cuBLASLt of our own
// that runs on the host and reads its descriptors as the documentation says.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>

#include "base/convert.h"
#include "peers/cublaslt_matmul.h"
#include "workbench/case.h"
#include "workbench/data.h"
#include "workbench/reference.h"

namespace nrd::cublaslt {
namespace {

// Attributes in the order they were set; the space of a descriptor holds the pointer.
using Attributes = std::map<int, std::vector<char>>;
std::vector<std::unique_ptr<Attributes>>& pool() {
  static std::vector<std::unique_ptr<Attributes>> all;
  return all;
}
Attributes& attributes(const MatmulDesc* desc) { return *pool()[desc->data[0]]; }

template <class T>
T get(const MatmulDesc* desc, int name, T otherwise) {
  auto found = attributes(desc).find(name);
  if (found == attributes(desc).end()) return otherwise;
  T value{};
  EXPECT_EQ(found->second.size(), sizeof value) << name;
  std::memcpy(&value, found->second.data(), sizeof value);
  return value;
}

Status desc_init(MatmulDesc* desc, size_t, int compute, int scale) {
  EXPECT_EQ(compute, kCompute32F);
  EXPECT_EQ(scale, kReal32F);
  desc->data[0] = pool().size();
  pool().push_back(std::make_unique<Attributes>());
  return 0;
}
Status desc_set(MatmulDesc* desc, int name, const void* value, size_t bytes) {
  const char* first = static_cast<const char*>(value);
  // A copy of a descriptor has attributes of its own from its first change on.
  pool().push_back(std::make_unique<Attributes>(attributes(desc)));
  desc->data[0] = pool().size() - 1;
  attributes(desc)[name] = {first, first + bytes};
  return 0;
}
Status layout_init(MatrixLayout* layout, size_t, int type, uint64_t rows, uint64_t cols,
                   int64_t ld) {
  *layout = {{static_cast<uint64_t>(type), rows, cols, static_cast<uint64_t>(ld)}};
  return 0;
}

DType dtype_of(uint64_t type) {
  switch (type) {
    case kReal16F: return DType::kF16;
    case kReal16BF: return DType::kBF16;
    case kRealE4M3: return DType::kF8E4M3;
    default: return DType::kF32;
  }
}

// Element (row, column) of a column-major matrix.
struct Matrix {
  const void* data;
  const MatrixLayout* layout;
  double at(uint64_t row, uint64_t column) const {
    const DType dtype = dtype_of(layout->data[0]);
    EXPECT_LT(row, layout->data[1]);
    EXPECT_LT(column, layout->data[2]);
    double value = 0;
    convert(static_cast<const char*>(data) + (row + column * layout->data[3]) * byte_size(dtype),
            dtype, &value, DType::kF64, 1);
    return value;
  }
  double op(int transposed, uint64_t row, uint64_t column) const {
    return transposed == kOpT ? at(column, row) : at(row, column);
  }
};

double scale_at(const MatmulDesc* desc, int pointer, int mode, uint64_t index) {
  const auto* scales = get<const float*>(desc, pointer, nullptr);
  if (scales == nullptr) return 1;
  return scales[get<int32_t>(desc, mode, 0) == kScaleOuterVector ? index : 0];
}

Status matmul(Handle, const MatmulDesc* desc, const void* alpha, const void* a,
              const MatrixLayout* a_layout, const void* b, const MatrixLayout* b_layout,
              const void* beta, const void*, const MatrixLayout*, void* d,
              const MatrixLayout* d_layout, const Algorithm*, void*, size_t, cuda::Stream) {
  EXPECT_EQ(*static_cast<const float*>(alpha), 1);
  EXPECT_EQ(*static_cast<const float*>(beta), 0);
  const Matrix first{a, a_layout}, second{b, b_layout};
  const int ta = get<int32_t>(desc, kTransA, kOpN), tb = get<int32_t>(desc, kTransB, kOpN);
  const bool fp8 = a_layout->data[0] == kRealE4M3;
  if (fp8 && (ta != kOpT || tb != kOpN)) return 15;  // as the hardware: k contiguous
  const uint64_t m = d_layout->data[1], n = d_layout->data[2];
  const uint64_t k = a_layout->data[ta == kOpT ? 1 : 2];
  const DType out = dtype_of(d_layout->data[0]);
  for (uint64_t column = 0; column < n; column++) {
    for (uint64_t row = 0; row < m; row++) {
      double sum = 0;
      for (uint64_t p = 0; p < k; p++) sum += first.op(ta, row, p) * second.op(tb, p, column);
      sum *= scale_at(desc, kAScalePointer, kAScaleMode, row) *
             scale_at(desc, kBScalePointer, kBScaleMode, column);
      if (get<int32_t>(desc, kEpilogue, 1) == kEpilogueBias) {
        double bias = 0;
        convert(get<const char*>(desc, kBiasPointer, nullptr) + row * byte_size(out), out, &bias,
                DType::kF64, 1);
        sum += bias;
      }
      convert(&sum, DType::kF64,
              static_cast<char*>(d) + (row + column * d_layout->data[3]) * byte_size(out), out, 1);
    }
  }
  return 0;
}

Api host_api() {
  Api api;
  api.version = [] { return size_t{130100}; };
  api.status_text = [](Status) { return "refused"; };
  api.desc_init = desc_init;
  api.desc_set = desc_set;
  api.layout_init = layout_init;
  api.matmul = matmul;
  return api;
}

Case make(const char* op, const char* dtypes, nrd::Attributes options = {}, bool b_kn = false,
          std::vector<std::string> optional = {}) {
  CaseSpec spec;
  spec.op = op;
  spec.request.sizes = {{"m", 5}, {"n", 7}, {"k", 16}};
  spec.request.dtypes = dtypes;
  spec.request.attributes = std::move(options);
  spec.request.optional = std::move(optional);
  spec.b_kn = b_kn;
  Expected<Case> c = make_case(spec);
  EXPECT_TRUE(c) << c.error().message();
  return std::move(*c);
}

void expect_right(const Case& c) {
  const Api api = host_api();
  Expected<Matmul> product = Matmul::read(c.desc, api);
  ASSERT_TRUE(product) << product.error().message();
  std::vector<std::vector<char>> memory(c.desc.operands.size(), std::vector<char>(4096));
  std::vector<void*> pointers;
  for (size_t i = 0; i < memory.size(); i++) {
    const bool input = !c.desc.signature().operands[i].output;
    if (c.desc.operands[i].present && input) fill_operand(c, i, memory[i].data());
    pointers.push_back(c.desc.operands[i].present ? memory[i].data() : nullptr);
  }
  ASSERT_EQ(product->run(nullptr, pointers.data(), {}, nullptr, 0, nullptr), 0);
  Expected<Reference> reference = make_reference(c, 1);
  ASSERT_TRUE(reference);
  const ReferenceOutput& want = reference->outputs.front();
  const DType dtype = c.desc.operands[want.operand].dtype;
  std::vector<double> got(want.value.size());
  convert(memory[want.operand].data(), dtype, got.data(), DType::kF64, got.size());
  const double unit = dtype == DType::kBF16 ? 1e-2 : dtype == DType::kF16 ? 2e-3 : 1e-5;
  for (size_t i = 0; i < got.size(); i++)
    EXPECT_NEAR(got[i], want.value[i], unit * (1 + std::fabs(want.value[i])))
        << c.text() << " at " << i;
}

TEST(Cublaslt, PlainProducts) {
  for (const char* dtype : {"f32", "f16", "bf16"}) {
    expect_right(make("gemm", dtype));
    expect_right(make("gemm", dtype, {}, true));
    expect_right(make("gemm_bias", dtype));
  }
  expect_right(make("gemm", "bf16,bf16->f32"));
}

TEST(Cublaslt, EightBitProducts) {
  for (const char* dtype : {"bf16", "f16", "f32"}) {
    for (const char* scales : {"tensor", "row_column"}) {
      for (const char* accumulate : {"fast", "precise"})
        expect_right(
            make("fp8_gemm", dtype,
                 {{"scales", std::string(scales)}, {"accumulate", std::string(accumulate)}}));
    }
  }
  expect_right(make("fp8_gemm", "bf16", {{"scales", std::string("row_column")}}, false, {"bias"}));
}

TEST(Cublaslt, RefusalsSayWhy) {
  const Api api = host_api();
  auto refused = [&](const Case& c, const char* word) {
    Expected<Matmul> product = Matmul::read(c.desc, api);
    ASSERT_FALSE(product) << c.text();
    EXPECT_EQ(product.error().code, ErrorCode::kUnsupported);
    EXPECT_NE(product.error().message().find(word), std::string::npos) << product.error().message();
  };
  refused(make("fp8_gemm", "bf16", {{"scales", std::string("block")}}), "scales");
  refused(make("fp8_gemm", "bf16", {}, true), "contiguous");
  refused(make("fp8_gemm", "f32", {}, false, {"bias"}), "bias");
  refused(make("gemm", "i8"), "dtype");
  Api older = api;
  older.version = [] { return size_t{120400}; };
  const Case rows = make("fp8_gemm", "bf16", {{"scales", std::string("row_column")}});
  ASSERT_FALSE(Matmul::read(rows.desc, older));
}

}  // namespace
}  // namespace nrd::cublaslt
