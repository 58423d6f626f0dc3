// SPDX-License-Identifier: MIT
// tests/unit/pointer_guard_test.cpp: the quick check of pointers never passes what the careful one
// refuses, and passes what it accepts.
#include "api/pointer_guard.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/seed.h"

namespace {

using namespace nrd;

OperandDesc operand(DType dtype, Dims sizes, Dims strides) {
  OperandDesc o;
  o.dtype = dtype;
  o.sizes = sizes;
  o.strides = strides;
  return o;
}

Desc bound(const char* op, std::vector<NamedOperand> operands) {
  Expected<Desc> desc = bind(**find_op(op), {}, std::move(operands));
  EXPECT_TRUE(desc) << desc.error().message();
  return *desc;
}

void expect_agreement(const Desc& desc, const std::vector<void*>& pointers) {
  const bool careful = static_cast<bool>(check_pointers(desc, pointers));
  EXPECT_EQ(PointerGuard(desc).passes(pointers.data()), careful)
      << desc.op->name << " " << pointers[0] << " " << pointers[1];
}

void* address(uint64_t at) { return reinterpret_cast<void*>(static_cast<uintptr_t>(at)); }

// Every distance of an output around an input, in bytes.
void slide(const Desc& desc, uint64_t from, uint64_t to) {
  const uint64_t base = 1 << 20;
  for (uint64_t at = base - from; at <= base + to; at++) {
    std::vector<void*> pointers(desc.operands.size(), address(base));
    pointers.back() = address(at);
    if (desc.operands.size() == 3) pointers[1] = address(base + (1 << 16));
    expect_agreement(desc, pointers);
  }
}

TEST(PointerGuard, SlidingOutputs) {
  const Dims sizes{4, 6}, rows{6, 1}, gaps{10, 1}, back{-6, 1}, reversed{-6, -1}, still{0, 1};
  for (const Dims& in : {rows, gaps, back, reversed, still})
    for (const Dims& out : {rows, gaps, back, reversed})
      for (DType dtype : {DType::kF32, DType::kBF16})
        slide(bound("silu",
                    {{"x", operand(DType::kF32, sizes, in)}, {"out", operand(dtype, sizes, out)}}),
              400, 400);
}

TEST(PointerGuard, AnOperatorThatIsNotInPlace) {
  slide(bound("gemm", {{"a", operand(DType::kF32, {3, 3}, {3, 1})},
                       {"b", operand(DType::kF32, {3, 3}, {3, 1})},
                       {"c", operand(DType::kF32, {3, 3}, {3, 1})}}),
        100, 100);
}

TEST(PointerGuard, AddressesThatAreNone) {
  const Desc desc = bound(
      "silu", {{"x", operand(DType::kF32, {8}, {-1})}, {"out", operand(DType::kF32, {8}, {1})}});
  for (uint64_t at : {uint64_t{0}, uint64_t{4}, uint64_t{24}, uint64_t{28}, uint64_t{32},
                      ~uint64_t{3}, ~uint64_t{31}, ~uint64_t{63}}) {
    expect_agreement(desc, {address(at), address(1 << 20)});
    expect_agreement(desc, {address(1 << 20), address(at)});
  }
}

TEST(PointerGuard, NothingToCheck) {
  const Desc empty = bound(
      "silu", {{"x", operand(DType::kF32, {0}, {1})}, {"out", operand(DType::kF32, {0}, {1})}});
  expect_agreement(empty, {nullptr, nullptr});
  expect_agreement(empty, {address(7), address(7)});
}

TEST(PointerGuard, StridesLargerThanMemory) {
  const int64_t huge = int64_t{1} << 58;
  const Desc desc = bound(
      "silu", {{"x", operand(DType::kF32, {4}, {huge})}, {"out", operand(DType::kF32, {4}, {1})}});
  const std::vector<void*> pointers = {address(1 << 20), address(1 << 24)};
  EXPECT_FALSE(PointerGuard(desc).passes(pointers.data()));  // the careful one decides
}

TEST(PointerGuard, RandomViews) {
  std::mt19937 random(test_seed(0));
  auto pick = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  for (int i = 0; i < 20000; i++) {
    const Dims sizes{pick(0, 3), pick(0, 4)};
    const Desc desc =
        bound("silu", {{"x", operand(DType::kF32, sizes, {pick(-8, 8), pick(-3, 3)})},
                       {"out", operand(DType::kF32, sizes, {pick(-8, 8), pick(-3, 3)})}});
    expect_agreement(desc, {address(4096 + static_cast<uint64_t>(pick(0, 30)) * 2),
                            address(4096 + static_cast<uint64_t>(pick(0, 60)) * 2)});
  }
}

}  // namespace
