// SPDX-License-Identifier: MIT
// tests/cuda/op_case_test.cpp: the harness accepts a right kernel and rejects planted wrong ones.
#include "op_case.h"

#include <gtest/gtest.h>

#include "cuda/launch/error.h"
#include "cuda/launch/launch.cuh"

namespace nrd::cuda {
namespace {

enum class Fault { kNone, kWrongValue, kSkipsLast, kWritesBehind, kChangesInput, kDrifts, kHangs };
Fault planted = Fault::kNone;
int launches = 0;

struct Vector {
  float* data;
  int64_t stride;
};

__global__ void add_kernel(Vector x, Vector y, Vector out, int64_t n, Fault fault, int launch) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (fault == Fault::kHangs && i == 0) __syncwarp(3);
  if (i >= n + (fault == Fault::kWritesBehind)) return;
  if (fault == Fault::kSkipsLast && i == n - 1) return;
  float sum = x.data[i * x.stride] + y.data[i * y.stride];
  if (fault == Fault::kWrongValue && i == 5) sum += 0.01f;
  if (fault == Fault::kDrifts && i == 5) sum += static_cast<float>(launch % 2) * 1e-6f;
  if (fault == Fault::kChangesInput) x.data[i * x.stride] = 0;
  out.data[i * out.stride] = sum;
}

class Add : public Operation {
 public:
  explicit Add(const Desc& desc) : n_(desc.axes[0]) {
    for (size_t i = 0; i < 3; i++) strides_[i] = desc.operands[i].strides[0];
  }
  Expected<void> launch(void* const* p, void*, Stream) const override {
    if (n_ == 0) return {};
    const auto vector = [&](size_t i) { return Vector{static_cast<float*>(p[i]), strides_[i]}; };
    const auto blocks = static_cast<unsigned>((n_ + 63) / 64);
    NRD_CUDA_TRY(emulated::launch(add_kernel, {.grid = blocks, .block = 64}, vector(0), vector(1),
                                  vector(2), n_, planted, launches++));
    return {};
  }

 private:
  int64_t n_;
  int64_t strides_[3];
};

const Implementation kAdd = {
    .name = "add",
    .serves = [](const Op& op) { return op.name == "vec_add"; },
    .accepts = [](const Desc& desc, const Target&) -> Expected<void> {
      if (desc.operands[0].dtype == DType::kF32) return {};
      return make_error({.code = ErrorCode::kUnsupported, .argument = "x", .got = "not f32"});
    },
    .prepare = [](const Desc& desc, const Target&,
                  std::span<void* const>) -> Expected<std::unique_ptr<Operation>> {
      return std::unique_ptr<Operation>(std::make_unique<Add>(desc));
    }};

OpCase add_case(int64_t n) { return {.op = "vec_add", .sizes = {{"n", n}}, .own = &kAdd}; }
const TestTarget& emulated_target() { return targets().front(); }

class Harness : public ::testing::TestWithParam<Fault> {
 protected:
  void TearDown() override { planted = Fault::kNone; }
};

TEST_F(Harness, AcceptsARightKernel) {
  for (int64_t n : {0, 1, 63, 64, 65, 200}) EXPECT_TRUE(is_right(emulated_target(), add_case(n)));
  OpCase c = add_case(100);
  c.layouts["x"] = {.step = 3, .misalignment = 4};
  c.layouts["out"] = {.step = 2};
  EXPECT_TRUE(is_right(emulated_target(), c));
  EXPECT_TRUE(gives_same_bits(emulated_target(), c, add_case(100)));
  OpCase in_place = add_case(100);
  in_place.in_place = "x";
  EXPECT_TRUE(is_right(emulated_target(), in_place));
  EXPECT_TRUE(is_right_in_any_order(emulated_target(), c));
}

TEST_P(Harness, RejectsAWrongKernel) {
  planted = GetParam();
  OpCase c = add_case(100);
  EXPECT_FALSE(is_right(emulated_target(), c));
  c.layouts["out"] = {.step = 2};
  EXPECT_FALSE(is_right(emulated_target(), c));
}
INSTANTIATE_TEST_SUITE_P(Faults, Harness,
                         ::testing::Values(Fault::kWrongValue, Fault::kSkipsLast,
                                           Fault::kWritesBehind, Fault::kChangesInput,
                                           Fault::kDrifts, Fault::kHangs));

TEST_F(Harness, SaysWhyNothingAccepts) {
  OpCase c = add_case(100);
  c.dtypes = "bf16";
  EXPECT_TRUE(is_refused(emulated_target(), c, "not f32"));
}

class EveryTarget : public TargetTest {};

TEST_P(EveryTarget, KeepsWhatIsWrittenToIt) {
  const std::vector<float> values = {1, 2, 3};
  DeviceBuffer buffer = DeviceBuffer::of(target(), values, 4);
  EXPECT_EQ(buffer.values<float>(), values);
  EXPECT_TRUE(buffer.check_guards());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 256, 4u);
}
NRD_ON_EVERY_TARGET(EveryTarget);

}  // namespace
}  // namespace nrd::cuda
