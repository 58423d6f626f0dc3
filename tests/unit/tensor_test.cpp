// SPDX-License-Identifier: MIT
// tests/unit/tensor_test.cpp: sizes, strides, and which bytes a view touches.
#include "base/tensor.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <vector>

namespace nrd {
namespace {

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

TEST(Dims, PushAndPrint) {
  Dims dims{2, 3};
  dims.push_back(4);
  dims.push_front(1);
  EXPECT_EQ(dims, (Dims{1, 2, 3, 4}));
  EXPECT_FALSE(dims == (Dims{1, 2, 3}));
  EXPECT_EQ(to_string(dims), "[1, 2, 3, 4]");
  EXPECT_EQ(to_string(Dims{}), "[]");
}

TEST(Dims, ContiguousStrides) {
  EXPECT_EQ(contiguous_strides({2, 3, 4}), (Dims{12, 4, 1}));
  EXPECT_EQ(contiguous_strides({}), Dims{});
  EXPECT_EQ(contiguous_strides({2, 0, 4}), (Dims{4, 4, 1}));
}

TEST(ElementCount, CountsAndRefuses) {
  EXPECT_EQ(*element_count({2, 3}, 4), 6);
  EXPECT_EQ(*element_count({}, 4), 1);
  EXPECT_EQ(*element_count({kHuge, kHuge, 0}, 8), 0);
  EXPECT_EQ(*element_count({kHuge}, 1), kHuge);
  EXPECT_FALSE(element_count({kHuge}, 2));
  EXPECT_FALSE(element_count({int64_t{1} << 32, int64_t{1} << 31}, 1));
  EXPECT_FALSE(element_count({int64_t{1} << 40, int64_t{1} << 40, int64_t{1} << 48}, 1));
  const Expected<int64_t> negative = element_count({2, -3}, 4);
  ASSERT_FALSE(negative);
  EXPECT_EQ(negative.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(negative.error().message(), "sizes: got [2, -3], allowed: sizes of 0 or more");
}

TEST(TensorView, Contiguous) {
  float data[24];
  TensorView view = make_view(data, DType::kF32, {2, 3, 4});
  EXPECT_TRUE(view.is_contiguous());
  EXPECT_EQ(view.count(), 24);
  view.strides = {12, 1, 3};
  EXPECT_FALSE(view.is_contiguous());
  view = make_view(data, DType::kF32, {2, 1, 4});
  view.strides[1] = 999;  // of one element
  EXPECT_TRUE(view.is_contiguous());
  view.sizes[0] = 0;
  view.strides = {-5, 0, 7};
  EXPECT_TRUE(view.is_contiguous());
  EXPECT_EQ(view.count(), 0);
}

TEST(ByteRange, NegativeZeroAndHugeStrides) {
  float data[24];
  char* base = reinterpret_cast<char*>(data);
  TensorView view = make_view(data + 12, DType::kF32, {2, 3});
  view.strides = {-4, 1};
  EXPECT_EQ(byte_range(view).first, base + 8 * 4);
  EXPECT_EQ(byte_range(view).last, base + 15 * 4);
  view.strides = {0, 0};
  EXPECT_EQ(byte_range(view).first, base + 12 * 4);
  EXPECT_EQ(byte_range(view).last, base + 13 * 4);
  view.sizes = {2, 0};
  EXPECT_EQ(byte_range(view).first, byte_range(view).last);
  view.sizes = {3, 3};
  view.strides = {kHuge, 1};
  EXPECT_TRUE(overlap(view, make_view(data, DType::kF32, {1}))) << "refused, not wrapped";
}

TEST(Overlap, RangesDevicesAndInterleaving) {
  float data[24];
  const TensorView low = make_view(data, DType::kF32, {12});
  const TensorView high = make_view(data + 12, DType::kF32, {12});
  EXPECT_FALSE(overlap(low, high));
  EXPECT_TRUE(overlap(low, make_view(data + 11, DType::kF32, {2})));
  EXPECT_FALSE(overlap(low, make_view(data + 3, DType::kF32, {0})));
  TensorView other = low;
  other.device = {DeviceKind::kCuda, 0};
  EXPECT_FALSE(overlap(low, other));
  TensorView even = make_view(data, DType::kF32, {12});
  TensorView odd = make_view(data + 1, DType::kF32, {12});
  even.strides = odd.strides = {2};
  EXPECT_TRUE(overlap(even, odd)) << "careful by design: see tensor.h";
}

TEST(Overlap, SameElements) {
  float data[24];
  const TensorView view = make_view(data, DType::kF32, {4, 6});
  EXPECT_TRUE(same_elements(view, view));
  TensorView other = view;
  other.strides = {1, 4};
  EXPECT_FALSE(same_elements(view, other));
  EXPECT_FALSE(same_elements(view, make_view(data, DType::kI32, {4, 6})));
  EXPECT_FALSE(same_elements(view, make_view(data + 1, DType::kF32, {4, 6})));
}

// Every element lies in the range, and both ends are reached.
RC_GTEST_PROP(ByteRange, IsTheHullOfTheElements, ()) {
  static std::vector<double> memory(1);
  const int rank = *rc::gen::inRange(0, 4);
  TensorView view = make_view(memory.data(), DType::kF64, {});
  for (int i = 0; i < rank; i++) {
    view.sizes.push_back(*rc::gen::inRange<int64_t>(1, 5));
    view.strides.push_back(*rc::gen::inRange<int64_t>(-20, 20));
  }
  int64_t lowest = 0, highest = 0;
  for (int64_t flat = 0; flat < view.count(); flat++) {
    int64_t rest = flat, offset = 0;
    for (int i = rank - 1; i >= 0; i--) {
      offset += rest % view.sizes[i] * view.strides[i];
      rest /= view.sizes[i];
    }
    lowest = std::min(lowest, offset);
    highest = std::max(highest, offset);
  }
  const auto base = reinterpret_cast<intptr_t>(memory.data());
  const ByteRange range = byte_range(view);
  RC_ASSERT(reinterpret_cast<intptr_t>(range.first) == base + lowest * 8);
  RC_ASSERT(reinterpret_cast<intptr_t>(range.last) == base + highest * 8 + 8);
}

}  // namespace
}  // namespace nrd
