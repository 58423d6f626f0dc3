// SPDX-License-Identifier: MIT
// tests/cuda/fp8_gemm_batch_test.cpp: leading axes of fp8_gemm, and a constant right side.
#include <gtest/gtest.h>

#include "base/convert.h"
#include "cuda/launch/fp8_gemm_problem.h"
#include "cuda/launch/tables.h"
#include "target.h"

namespace nrd::cuda {
namespace {

struct Given {
  std::string name;
  DType dtype;
  Dims sizes;
  Dims strides = {};  // contiguous unless given
};

Desc bind_gemm(const std::string& scales, const std::vector<Given>& operands) {
  std::vector<NamedOperand> named;
  for (const Given& g : operands)
    named.push_back({g.name,
                     {.dtype = g.dtype,
                      .sizes = g.sizes,
                      .strides = g.strides.empty() ? contiguous_strides(g.sizes) : g.strides}});
  Expected<Desc> desc = bind(**find_op("fp8_gemm"), {{"scales", scales}}, named);
  EXPECT_TRUE(desc) << desc.error().message();
  return *desc;
}

constexpr DType kCodes = DType::kF8E4M3, kF32 = DType::kF32, kBF16 = DType::kBF16;

// ---- which leading axes become rows ----

TEST(Fp8GemmProblem, FoldsWhatLiesLikeRows) {
  const Desc desc = bind_gemm("row_column", {{"a", kCodes, {2, 3, 5, 64}},
                                             {"b", kCodes, {64, 8}, {1, 64}},
                                             {"a_scale", kF32, {2, 3, 5}},
                                             {"b_scale", kF32, {8}},
                                             {"c", kF32, {2, 3, 5, 8}}});
  const Fp8GemmProblem p = read_fp8_gemm(desc);
  EXPECT_EQ(p.m, 30);
  EXPECT_EQ(p.products(), 1);
  EXPECT_EQ(p.a.outer, 64);
  EXPECT_EQ(p.a.inner, 1);
  EXPECT_EQ(p.b.outer, 64);
  EXPECT_EQ(p.b.inner, 1);
  EXPECT_EQ(p.a_scale.outer, 1);
  EXPECT_EQ(p.c.outer, 8);
}

TEST(Fp8GemmProblem, FoldsSingleRows) {
  const Desc desc = bind_gemm("block", {{"a", kCodes, {7, 1, 256}, {300, 17, 1}},
                                        {"b", kCodes, {256, 8}, {1, 256}},
                                        {"a_scale", kF32, {7, 1, 2}},
                                        {"b_scale", kF32, {2, 1}},
                                        {"c", kF32, {7, 1, 8}}});
  const Fp8GemmProblem p = read_fp8_gemm(desc);
  EXPECT_EQ(p.m, 7);
  EXPECT_EQ(p.a.outer, 300);
  EXPECT_EQ(p.a_scale.outer, 2);
  EXPECT_EQ(p.a_scale.inner, 1);
}

TEST(Fp8GemmProblem, KeepsProductsApart) {
  // b differs; a has a gap between its matrices; one scale for all of a that is not given.
  EXPECT_EQ(read_fp8_gemm(bind_gemm("row_column", {{"a", kCodes, {3, 5, 64}},
                                                   {"b", kCodes, {3, 64, 8}},
                                                   {"a_scale", kF32, {3, 5}},
                                                   {"b_scale", kF32, {3, 8}},
                                                   {"c", kF32, {3, 5, 8}}}))
                .products(),
            3);
  const Fp8GemmProblem gap =
      read_fp8_gemm(bind_gemm("tensor", {{"a", kCodes, {3, 5, 64}, {321, 64, 1}},
                                         {"b", kCodes, {64, 8}},
                                         {"a_scale", kF32, {}},
                                         {"b_scale", kF32, {}},
                                         {"c", kF32, {3, 5, 8}}}));
  EXPECT_EQ(gap.products(), 3);
  EXPECT_EQ(gap.offset(gap.a, 2), 642);
  EXPECT_EQ(gap.offset(gap.b, 2), 0);
  EXPECT_EQ(gap.offset(gap.c, 2), 80);
  EXPECT_EQ(read_fp8_gemm(bind_gemm("tensor", {{"a", kBF16, {3, 5, 64}},
                                               {"b", kBF16, {64, 8}},
                                               {"c", kF32, {3, 5, 8}}}))
                .products(),
            3);
}

// ---- and what comes out ----

class Operand {
 public:
  Operand(const TestTarget& target, const OperandDesc& desc, uint64_t seed) : desc_(desc) {
    int64_t last = 0;
    for (int d = 0; d < desc.sizes.size(); d++) last += (desc.sizes[d] - 1) * desc.strides[d];
    const size_t bytes = byte_size(desc.dtype);
    values_.resize(static_cast<size_t>(last + 1));
    std::vector<char> memory(values_.size() * bytes);
    for (size_t i = 0; i < values_.size(); i++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      // Halves from -1 to 1, larger with the index: exact in every dtype, and so are their sums.
      double value = static_cast<double>(static_cast<int64_t>((seed >> 40) % 5) - 2) / 2;
      value *= static_cast<double>(1 + i / 320);
      if (desc.dtype == kF32) value = std::abs(value) + 0.5;  // scales and bias
      const uint64_t code = encode(value, desc.dtype, Overflow::kIeee);
      values_[i] = decode(code, desc.dtype);
      std::memcpy(memory.data() + i * bytes, &code, bytes);
    }
    buffer_ = std::make_unique<DeviceBuffer>(DeviceBuffer::of(target, memory));
  }

  double at(std::initializer_list<int64_t> index) const {
    // Missing leading axes are broadcast.
    int64_t offset = 0;
    const int skip = static_cast<int>(index.size()) - desc_.sizes.size();
    for (int d = 0; d < desc_.sizes.size(); d++)
      offset += std::min(index.begin()[d + skip], desc_.sizes[d] - 1) * desc_.strides[d];
    return values_[static_cast<size_t>(offset)];
  }
  void* data() const { return buffer_->data(); }
  const DeviceBuffer& buffer() const { return *buffer_; }

 private:
  OperandDesc desc_;
  std::vector<double> values_;
  std::unique_ptr<DeviceBuffer> buffer_;
};

class Fp8GemmBatch : public TargetTest {
 protected:
  const Implementation& implementation() const {
    for (const Implementation* i : implementations())
      if (i->name == "fp8_gemm") return *i;
    ADD_FAILURE() << "no fp8_gemm";
    return *implementations().front();
  }

  std::vector<Operand> make_operands(const Desc& desc) const {
    std::vector<Operand> operands;
    for (size_t i = 0; i < desc.operands.size(); i++)
      operands.emplace_back(target(), desc.operands[i], i + 1);
    return operands;
  }

  static std::vector<void*> pointers_of(const std::vector<Operand>& operands) {
    std::vector<void*> pointers;
    for (const Operand& operand : operands) pointers.push_back(operand.data());
    return pointers;
  }

  // Launches with a c of its own and returns it; it is contiguous and f32.
  std::vector<float> run(const Desc& desc, std::vector<void*> pointers,
                         const std::vector<void*>& constants = {},
                         std::string* note = nullptr) const {
    auto operation = implementation().prepare(desc, target().target, constants);
    EXPECT_TRUE(operation) << operation.error().message();
    if (!operation) return {};
    int64_t count = 1;
    for (int64_t size : desc.operands.back().sizes) count *= size;
    DeviceBuffer c(target(), static_cast<size_t>(count) * sizeof(float));
    DeviceBuffer workspace(target(), (*operation)->workspace_bytes());
    workspace.fill(0xff);
    pointers.back() = c.data();
    const Expected<void> done = (*operation)->launch(pointers.data(), workspace.data(), nullptr);
    EXPECT_TRUE(done) << explained(target(), done.error()).message();
    EXPECT_TRUE(finish(target()));
    EXPECT_TRUE(workspace.check_guards());
    EXPECT_TRUE(c.check_guards());
    if (note) *note = (*operation)->note();
    return c.values<float>();
  }
};

TEST_P(Fp8GemmBatch, MultipliesEveryMatrix) {
  // a has a batch of 2x3, b one of 3 and so have its scales; bias is for all.
  const Desc desc = bind_gemm("row_column", {{"a", kCodes, {2, 3, 5, 64}},
                                             {"b", kCodes, {3, 64, 9}},
                                             {"a_scale", kF32, {2, 1, 5}},
                                             {"b_scale", kF32, {3, 9}},
                                             {"bias", kF32, {9}},
                                             {"c", kF32, {2, 3, 5, 9}}});
  const std::vector<Operand> operands = make_operands(desc);
  const std::vector<float> c = run(desc, pointers_of(operands));
  ASSERT_EQ(c.size(), 270u);
  const Operand &a = operands[0], &b = operands[1], &a_scale = operands[2], &b_scale = operands[3],
                &bias = operands[4];
  size_t at = 0;
  for (int64_t x = 0; x < 2; x++)
    for (int64_t y = 0; y < 3; y++)
      for (int64_t i = 0; i < 5; i++)
        for (int64_t j = 0; j < 9; j++, at++) {
          double sum = 0;
          for (int64_t k = 0; k < 64; k++) sum += a.at({x, y, i, k}) * b.at({x, y, k, j});
          sum = sum * a_scale.at({x, y, i}) * b_scale.at({x, y, j}) + bias.at({x, y, j});
          ASSERT_EQ(c[at], static_cast<float>(sum)) << x << " " << y << " " << i << " " << j;
        }
}

TEST_P(Fp8GemmBatch, QuantisesEachMatrixApart) {
  const Desc desc = bind_gemm(
      "tensor", {{"a", kBF16, {3, 5, 64}}, {"b", kBF16, {64, 9}}, {"c", kF32, {3, 5, 9}}});
  const std::vector<Operand> operands = make_operands(desc);
  const std::vector<float> all = run(desc, pointers_of(operands));
  ASSERT_EQ(all.size(), 135u);
  const Desc one =
      bind_gemm("tensor", {{"a", kBF16, {5, 64}}, {"b", kBF16, {64, 9}}, {"c", kF32, {5, 9}}});
  for (size_t x = 0; x < 3; x++) {
    std::vector<void*> pointers = pointers_of(operands);
    pointers[0] = static_cast<uint16_t*>(pointers[0]) + x * 320;
    const std::vector<float> c = run(one, pointers);
    ASSERT_EQ(c.size(), 45u);
    EXPECT_TRUE(std::equal(c.begin(), c.end(), all.begin() + static_cast<ptrdiff_t>(x * 45))) << x;
  }
}

// On a device b is prepared once; whoever prepares it, the bits are those of an ordinary run.
TEST_P(Fp8GemmBatch, KeepsAConstantRightSide) {
  if (target().is_emulated()) GTEST_SKIP() << "memory of its own needs a device";
  for (DType dtype : {kCodes, kBF16}) {
    std::vector<Given> given = {
        {"a", kCodes, {5, 160}}, {"b", dtype, {160, 9}}, {"a_scale", kF32, {5}}};
    if (dtype == kCodes) given.push_back({"b_scale", kF32, {9}});
    given.push_back({"c", kF32, {5, 9}});
    Desc desc = bind_gemm("row_column", given);
    const std::vector<Operand> operands = make_operands(desc);
    const std::vector<float> plain = run(desc, pointers_of(operands));
    desc.operands[1].constant = true;
    std::vector<void*> constants(desc.operands.size(), nullptr);
    constants[1] = operands[1].data();
    std::string note;
    EXPECT_EQ(run(desc, pointers_of(operands), constants, &note), plain);
    EXPECT_NE(note.find("b prepared once"), std::string::npos) << note;
  }
}

NRD_ON_EVERY_TARGET(Fp8GemmBatch);

}  // namespace
}  // namespace nrd::cuda
