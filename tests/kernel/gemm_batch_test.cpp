// SPDX-License-Identifier: MIT
// tests/kernel/gemm_batch_test.cpp: products with leading axes have the bits of one product each,
// whatever is shared, however the instances lie, on any number of threads.
#include <gtest/gtest.h>

#include <cstring>

#include "dispatch/registry.h"
#include "tests/kernel/guarded_tensor.h"

namespace nrd {
namespace {

class GemmBatch : public ::testing::Test {
 protected:
  KernelRegistry registry{*Machine::host()};

  std::string run(const char* op, std::vector<NamedOperand> operands, std::vector<void*> pointers,
                  int threads, bool is_constant) {
    Desc desc = *bind(**find_op(op), {}, std::move(operands));
    desc.operands[1].constant = is_constant;
    Expected<KernelChoice> choice = registry.select("cpu", desc);
    EXPECT_TRUE(choice) << choice.error().message();
    std::vector<void*> constants(pointers.size(), nullptr);
    if (is_constant) constants[1] = pointers[1];
    auto prepared = choice->kernel->prepare(desc, constants);
    EXPECT_TRUE(prepared) << prepared.error().message();
    const size_t bytes = ((*prepared)->workspace_bytes() + 63) / 64 * 64;
    Buffer workspace = std::move(*Buffer::allocate(bytes, MemoryMode::kGuarded));
    std::memset(workspace.data(), 0xff, bytes);
    EXPECT_TRUE((*prepared)->run({pointers.data()}, workspace.data(), {threads, nullptr}));
    return choice->kernel->name() + ": " + (*prepared)->note();
  }

  // The batch against one product an instance; `note`: what the kernel says of itself.
  void check(const Dims& leading, const Tensor& a, const Tensor& b, const Tensor& c,
             const std::string& note, const Tensor* bias = nullptr) {
    const char* op = bias ? "gemm_bias" : "gemm";
    std::vector<char> expected;
    int64_t instances = 1;
    for (int64_t size : leading) instances *= size;
    const auto operands = [&](bool is_one) {
      std::vector<NamedOperand> all = {{"a", is_one ? a.core(2) : a.desc},
                                       {"b", is_one ? b.core(2) : b.desc}};
      if (bias) all.push_back({"bias", is_one ? bias->core(1) : bias->desc});
      all.push_back({"c", is_one ? c.core(2) : c.desc});
      return all;
    };
    const auto pointers = [&](int64_t i) {
      std::vector<void*> all = {a.at(leading, i, 2), b.at(leading, i, 2)};
      if (bias) all.push_back(bias->at(leading, i, 1));
      all.push_back(c.at(leading, i, 2));
      return all;
    };
    for (int64_t i = 0; i < instances; i++) run(op, operands(true), pointers(i), 1, false);
    const auto* data = static_cast<const char*>(c.buffer.data());
    expected.assign(data, data + c.buffer.bytes());
    for (int threads : {1, 2, 3}) {
      for (bool is_constant : {false, true}) {
        if (!expected.empty()) std::memset(c.buffer.data(), 0xff, expected.size());
        const std::string text = run(op, operands(false), pointers(0), threads, is_constant);
        EXPECT_NE(text.find(note), std::string::npos) << text;
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), data))
            << text << ", " << threads << " threads";
      }
    }
  }
};

constexpr DType kF32 = DType::kF32;

TEST_F(GemmBatch, FoldsIntoRowsWhatLiesLikeRows) {
  for (int64_t m : {1, 5}) {
    const Tensor a = std::move(Tensor({3, 4, m, 37}, kF32).fill(1));
    const Tensor b = std::move(Tensor({37, 45}, kF32).fill(2));
    check({3, 4}, a, b, Tensor({3, 4, m, 45}, kF32), "tiles");
    const Tensor bias = std::move(Tensor({45}, kF32).fill(3));
    check({3, 4}, a, b, Tensor({3, 4, m, 45}, DType::kBF16), "tiles", &bias);
  }
  const Tensor a = std::move(Tensor({3, 4, 5, 37}, kF32).fill(1));
  const Tensor b = std::move(Tensor({37, 45}, kF32).fill(2));
  std::vector<NamedOperand> operands = {{"a", a.desc}, {"b", b.desc}};
  const Desc desc = *bind(**find_op("gemm"), {}, operands);
  const auto prepared = std::move(*registry.select("cpu", desc)->kernel->prepare(desc, {}));
  EXPECT_EQ(prepared->note().find("products"), std::string::npos) << prepared->note();
}

TEST_F(GemmBatch, RunsOneProductForEachB) {
  const Tensor a = std::move(Tensor({6, 7, 37}, kF32).fill(1));
  const Tensor b = std::move(Tensor({6, 37, 45}, DType::kF16).fill(2));
  check({6}, a, b, Tensor({6, 7, 45}, kF32), "6 products");
  const Tensor bias = std::move(Tensor({6, 45}, kF32).fill(3));
  check({6}, a, b, Tensor({6, 7, 45}, kF32), "6 products", &bias);
}

// Transposed instances do not lie like rows: b is packed once for all of them.
TEST_F(GemmBatch, PacksASharedBOnce) {
  const Tensor a = std::move(Tensor({5, 7, 300}, kF32, {2, 0, 1}).fill(1));
  const Tensor b = std::move(Tensor({300, 45}, kF32, {1, 0}).fill(2));
  check({5}, a, b, Tensor({5, 7, 45}, DType::kF16, {2, 1, 0}), "5 products");
}

TEST_F(GemmBatch, BroadcastsEveryOperand) {
  const Tensor a = std::move(Tensor({4, 1, 9, 20}, kF32).fill(1));
  const Tensor b = std::move(Tensor({3, 20, 33}, kF32).fill(2));
  check({4, 3}, a, b, Tensor({4, 3, 9, 33}, kF32), "products");
  const Tensor one = std::move(Tensor({9, 20}, kF32).fill(1));
  check({3}, one, b, Tensor({3, 9, 33}, kF32), "3 products");
}

TEST_F(GemmBatch, TakesEmptyAxes) {
  const Tensor b = std::move(Tensor({20, 33}, kF32).fill(2));
  check({0, 3}, Tensor({0, 3, 9, 20}, kF32), b, Tensor({0, 3, 9, 33}, kF32), "");
  check({2}, Tensor({2, 9, 0}, kF32), Tensor({2, 0, 33}, kF32), Tensor({2, 9, 33}, kF32), "");
}

TEST(GemmBatchWorkspace, GrowsWithTheCoresAndNotWithTheirSquare) {
  const auto bytes_with = [](int cores) {
    Machine machine = *Machine::host();
    machine.profile.cores = cores;
    const KernelRegistry registry(machine);
    const auto operand = [](const Dims& sizes) {
      return OperandDesc{true, DType::kF32, sizes, contiguous_strides(sizes), false};
    };
    const Desc desc = *bind(**find_op("gemm"), {},
                            {{"a", operand({64, 96, 512})},
                             {"b", operand({64, 512, 512})},
                             {"c", operand({64, 96, 512})}});
    Expected<KernelChoice> choice = registry.select("cpu", desc);
    EXPECT_TRUE(choice) << choice.error().message();
    auto prepared = choice->kernel->prepare(desc, std::vector<void*>(3, nullptr));
    EXPECT_TRUE(prepared) << prepared.error().message();
    return static_cast<double>((*prepared)->workspace_bytes());
  };
  EXPECT_LE(bytes_with(64), 1.5 * 64 / 8 * bytes_with(8));
}

}  // namespace
}  // namespace nrd
