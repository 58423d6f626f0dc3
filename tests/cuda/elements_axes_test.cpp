// SPDX-License-Identifier: MIT
// tests/cuda/elements_axes_test.cpp: leading axes, broadcast and permuted, against straight loops.
#include <gtest/gtest.h>

#include "cuda/launch/loops.h"
#include "ops/desc.h"
#include "target.h"

namespace nrd::cuda {
namespace {

const Implementation& elements() {
  for (const Implementation* family : implementations())
    if (family->name == "elements") return *family;
  throw std::runtime_error("no family of elementwise operators");
}

struct Strided {
  Dims sizes, strides;
  OperandDesc desc() const { return {.dtype = DType::kF32, .sizes = sizes, .strides = strides}; }
  size_t elements() const {
    int64_t last = 0;
    for (int d = 0; d < sizes.size(); d++) last += (sizes[d] - 1) * strides[d];
    return static_cast<size_t>(last + 1);
  }
  // The element at an index of `of` axes, aligned at the right and broadcast.
  size_t at(const std::vector<int64_t>& index) const {
    int64_t place = 0;
    for (int d = 0; d < sizes.size(); d++) {
      const size_t from = index.size() - static_cast<size_t>(sizes.size() - d);
      if (sizes[d] != 1) place += index[from] * strides[d];
    }
    return static_cast<size_t>(place);
  }
};

Strided packed(const Dims& sizes) { return {sizes, contiguous_strides(sizes)}; }

std::vector<float> counted(size_t n, float first) {
  std::vector<float> values(n);
  for (size_t i = 0; i < n; i++) values[i] = first + static_cast<float>(i);
  return values;
}

class ElementAxes : public TargetTest {
 protected:
  void expect_difference(const Strided& x, const Strided& y, const Strided& out) {
    const Op& op = **find_op("vec_sub");
    const Expected<Desc> desc =
        bind(op, {}, {{"x", x.desc()}, {"y", y.desc()}, {"out", out.desc()}});
    ASSERT_TRUE(desc) << desc.error().message();
    const auto made = elements().prepare(*desc, target().target, {});
    ASSERT_TRUE(made) << made.error().message();
    const std::vector<float> x_values = counted(x.elements(), 1);
    const std::vector<float> y_values = counted(y.elements(), 1000);
    DeviceBuffer bx = DeviceBuffer::of(target(), x_values),
                 by = DeviceBuffer::of(target(), y_values);
    DeviceBuffer result(target(), out.elements() * sizeof(float));
    result.fill(0);
    void* const pointers[] = {bx.data(), by.data(), result.data()};
    const Expected<void> launched = (*made)->launch(pointers, nullptr, nullptr);
    ASSERT_TRUE(launched) << launched.error().message();
    ASSERT_TRUE(finish(target()));
    std::vector<float> wanted(out.elements(), 0);
    Loops all;
    for (int d = 0; d < out.sizes.size(); d++) all.sizes.push_back(out.sizes[d]);
    std::vector<int64_t> index(all.sizes.size(), 0);
    for (int64_t i = 0; i < all.count(); i++) {
      int64_t left = i;
      for (size_t d = index.size(); d-- > 0; left /= all.sizes[d]) index[d] = left % all.sizes[d];
      wanted[out.at(index)] = x_values[x.at(index)] - y_values[y.at(index)];
    }
    EXPECT_EQ(result.values<float>(), wanted);
    EXPECT_TRUE(result.check_guards());
  }
};
NRD_ON_EVERY_TARGET(ElementAxes);

TEST_P(ElementAxes, OneRowForAll) {
  expect_difference(packed({5, 7, 24}), packed({24}), packed({5, 7, 24}));
  expect_difference(packed({24}), packed({5, 7, 24}), packed({5, 7, 24}));
}

TEST_P(ElementAxes, AnAxisInTheMiddleIsBroadcast) {
  expect_difference(packed({5, 1, 19}), packed({5, 3, 19}), packed({5, 3, 19}));
  expect_difference(packed({5, 1, 19}), packed({1, 3, 19}), packed({5, 3, 19}));
}

TEST_P(ElementAxes, HalvesOfOneTensor) {
  const Strided half = {{6, 32}, {64, 1}};
  expect_difference(half, half, packed({6, 32}));
}

TEST_P(ElementAxes, PermutedAxes) {
  const Strided turned = {{4, 6, 10}, {1, 4, 24}};
  expect_difference(turned, packed({4, 6, 10}), packed({4, 6, 10}));
  expect_difference(turned, turned, turned);
  expect_difference(packed({4, 6, 10}), packed({4, 6, 10}), turned);
}

TEST_P(ElementAxes, EightAxes) {
  const Dims sizes = {2, 1, 3, 2, 2, 1, 2, 5};
  Strided padded = packed(sizes);
  for (int d = 0; d < 7; d++) padded.strides[d] *= 2;
  expect_difference(padded, packed(sizes), packed(sizes));
}

TEST_P(ElementAxes, NothingToDo) { expect_difference(packed({0, 4}), packed({4}), packed({0, 4})); }

TEST(Loops, FoldWhatIsWalkedAsOne) {
  Loops loops{{2, 1, 3, 4}, {{12, 7, 4, 1}, {0, 0, 4, 1}}};
  loops.fold();
  EXPECT_EQ(loops.sizes, (std::vector<int64_t>{2, 12}));
  EXPECT_EQ(loops.steps[0], (std::vector<int64_t>{12, 1}));
  EXPECT_EQ(loops.steps[1], (std::vector<int64_t>{0, 1}));
}

}  // namespace
}  // namespace nrd::cuda
