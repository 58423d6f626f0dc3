// SPDX-License-Identifier: MIT
// tests/unit/api_views_test.cpp: the ways to make a view: ranks of run time, const memory, strides,
// devices; what each of them refuses, and in which words.
#include <gtest/gtest.h>
#include <nereid/nereid.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using nereid::Axes;
using nereid::Device;
using nereid::Tensor;
using nereid::TensorView;

std::vector<int64_t> list(std::span<const int64_t> axes) { return {axes.begin(), axes.end()}; }

template <class Function>
std::string message_of(Function&& function) {
  const auto done = nereid::attempt(function);
  return done ? "no error" : done.error().message;
}

TEST(Views, SizesOfAnyIntegerTypeAndOfARankOfRunTime) {
  std::vector<float> x(24);
  const size_t rows = 4, cols = 6;
  const int two = 2;
  EXPECT_EQ(list(TensorView(x.data(), {rows, cols}).sizes()), (std::vector<int64_t>{4, 6}));
  EXPECT_EQ(list(TensorView(x, {two, rows, int64_t{3}}).sizes()), (std::vector<int64_t>{2, 4, 3}));
  const std::vector<int64_t> wide = {2, 3, 4};
  const std::vector<int> narrow = {2, 3, 4};
  const std::array<size_t, 3> unsigned_sizes = {2, 3, 4};
  const unsigned char bytes[] = {2, 3, 4};
  const std::initializer_list<int64_t> named = {2, 3, 4};
  for (const Axes& sizes : {Axes(wide), Axes(narrow), Axes(unsigned_sizes), Axes(bytes),
                            Axes(named), Axes(std::span<const int64_t>(wide))}) {
    const TensorView view(x, sizes);
    EXPECT_EQ(view.rank(), 3);
    EXPECT_EQ(list(view.strides()), (std::vector<int64_t>{12, 4, 1}));
    EXPECT_EQ(view.shape_text(), "[2, 3, 4]");
  }
  for (size_t rank = 0; rank <= NEREID_MAX_RANK; rank++) {
    const std::vector<size_t> ones(rank, 1);
    EXPECT_EQ(TensorView(x.data(), ones).rank(), static_cast<int>(rank));
    EXPECT_EQ(Tensor(nereid::bf16, ones).count(), 1);
  }
}

TEST(Views, OfConstMemoryInEveryForm) {
  const std::vector<float> x = {1, 2, 3, 4};
  const float* floats = x.data();
  const void* anything = floats;
  const float array[] = {1, 2, 3, 4};
  const std::vector<int> sizes = {2, 2};
  std::vector<float> y(4);
  const TensorView views[] = {TensorView(x),
                              TensorView(x, sizes),
                              TensorView(array),
                              TensorView(array, {2, 2}),
                              TensorView(floats, sizes),
                              TensorView(floats, {2, 2}, {2, 1}),
                              TensorView(anything, nereid::f32, sizes),
                              TensorView(anything, nereid::f32, {2, 2}, {2, 1}),
                              TensorView(std::span<const float>(x), {2, 2}),
                              TensorView(floats, {4}).reshape(sizes),
                              TensorView(floats, {4}).as_strided({2, 2}, {2, 1})};
  for (const TensorView& view : views) {
    EXPECT_TRUE(view.read_only());
    const TensorView out = TensorView(y).reshape(view.sizes());
    nereid::relu(view, out);
    EXPECT_EQ(y, x);
    EXPECT_EQ(message_of([&] { nereid::relu(out, view); }).find("relu: out: got"), 0u);
  }
  EXPECT_FALSE(TensorView(y.data(), sizes).read_only());
  EXPECT_FALSE(TensorView(static_cast<void*>(y.data()), nereid::f32, sizes).read_only());
  EXPECT_FALSE(TensorView(nullptr, nereid::f32, sizes).read_only());
}

TEST(Views, StridedInOneStep) {
  std::vector<float> x = {0, 1, 2, 3, 4, 5, 6, 7}, y(4);
  nereid::relu(TensorView(x.data(), {2, 2}, {4, 2}), TensorView(y, {2, 2}));
  EXPECT_EQ(y, (std::vector<float>{0, 2, 4, 6}));
  nereid::relu(TensorView(x, {2, 2}, std::vector<int>{4, 3}), TensorView(y, {2, 2}));
  EXPECT_EQ(y, (std::vector<float>{0, 3, 4, 7}));
  nereid::relu(TensorView(x, {4}, {0}), TensorView(y));  // one element, four times
  EXPECT_EQ(y, (std::vector<float>(4, 0)));
  nereid::relu(TensorView(x.data() + 3, {4}, {-1}), TensorView(y));
  EXPECT_EQ(y, (std::vector<float>{3, 2, 1, 0}));
  EXPECT_EQ(TensorView(x, {0, 9}, {100, 100}).count(), 0);  // touches nothing
}

TEST(Views, OnADevice) {
  float* elsewhere = reinterpret_cast<float*>(0x1000);
  const std::vector<int> sizes = {2, 3};
  const Device second = Device::cuda(1);
  const TensorView views[] = {TensorView(elsewhere, sizes, second),
                              TensorView(elsewhere, {2, 3}, {3, 1}, second),
                              TensorView(elsewhere, nereid::f32, sizes, second),
                              TensorView(elsewhere, nereid::f32, sizes, {3, 1}, second),
                              TensorView(elsewhere, nereid::f32, {2, 3}, Device{NEREID_CUDA, 1}),
                              TensorView(elsewhere, {6}, second).reshape(sizes)};
  for (const TensorView& view : views) {
    EXPECT_EQ(view.device(), second);
    EXPECT_EQ(view.c().device, NEREID_CUDA);
    EXPECT_EQ(view.c().device_index, 1);
    EXPECT_EQ(list(view.strides()), (std::vector<int64_t>{3, 1}));
    EXPECT_FALSE(view.read_only());
  }
  const float* constant = elsewhere;
  EXPECT_TRUE(TensorView(constant, sizes, second).read_only());
  EXPECT_TRUE(TensorView(elsewhere, sizes).device().is_cpu());
}

TEST(Views, MistakesAreNamed) {
  std::vector<float> x(6);
  EXPECT_EQ(message_of([&] {
              TensorView(x, {2, 4});
            }),
            "TensorView: sizes: got [2, 4], allowed: sizes that 6 elements fill");
  EXPECT_EQ(message_of([&] {
              TensorView(x.data(), {2, -3});
            }),
            "TensorView: sizes: got [2, -3], allowed: sizes of 0 or more");
  EXPECT_EQ(message_of([&] { TensorView(x.data(), std::vector<int>(9, 1)); }),
            "TensorView: sizes: got 9 axes, allowed: at most 8 axes");
  EXPECT_EQ(message_of([&] { TensorView(x.data(), {~size_t{0}}); }),
            "TensorView: sizes: got 18446744073709551615, allowed: at most 9223372036854775807");
  EXPECT_EQ(message_of([&] {
              TensorView(x.data(), {2, 3}, {1});
            }),
            "TensorView: strides: got [1], allowed: one stride for each size of [2, 3]");
  EXPECT_EQ(message_of([&] {
              TensorView(x, {2, 3}, {4, 1});
            }),
            "TensorView: strides: got [4, 1] of sizes [2, 3], up to element 6, allowed: a view "
            "inside the 6 elements");
  EXPECT_EQ(message_of([&] { TensorView(x, {3}, {-1}); }),
            "TensorView: strides: got [-1], allowed: strides of 0 or more, as the view begins at "
            "the first element");
  EXPECT_EQ(message_of([&] {
              TensorView(x, {int64_t{1} << 62, 8}, {8, 1});
            }).find("TensorView"),
            0u);
  EXPECT_EQ(message_of([&] {
              Tensor(nereid::f64, {int64_t{1} << 62, 8});
            }),
            "Tensor: sizes: got [4611686018427387904, 8], allowed: at most 9223372036854775807 "
            "bytes");
  EXPECT_EQ(message_of([&] { Tensor(nereid::f32, {-1}); }),
            "TensorView: sizes: got [-1], allowed: sizes of 0 or more");
}

TEST(Views, PlansTakeConstInputsAndRefuseConstOutputs) {
  const std::vector<float> x = {-1, 2};
  std::vector<float> y(2);
  const TensorView in(x), out(y);
  nereid::Call call("relu");
  const nereid::Plan plan = call.operand("x", in).operand("out", out).prepare();
  plan.run({x.data(), y.data()});
  EXPECT_EQ(y, (std::vector<float>{0, 2}));
  EXPECT_EQ(message_of([&] {
              plan.run({x.data(), x.data()});
            }),
            "Plan::run: pointer 1: got const memory, allowed: memory that can be written, as this "
            "operand is an output");
}

TEST(Choices, EnumsAndWordsAreTheSame) {
  std::vector<float> x = {1, 2, 3, 4}, cos(4, 0.5f), sin(4, 0.5f), by_enum(4), by_word(4), other(4);
  const TensorView rows(x, {1, 1, 4}), c(cos, {1, 4}), s(sin, {1, 4});
  nereid::rope(rows, c, s, TensorView(by_enum, {1, 1, 4}), {.pairs = nereid::Pairs::interleaved});
  nereid::rope(rows, c, s, TensorView(by_word, {1, 1, 4}), {.pairs = "interleaved"});
  nereid::rope(rows, c, s, TensorView(other, {1, 1, 4}));
  EXPECT_EQ(by_enum, by_word);
  EXPECT_NE(by_enum, other);
  const nereid::RopeOptions half;
  EXPECT_TRUE(half.pairs.is(nereid::Pairs::half));
  EXPECT_STREQ(half.pairs.word(), "half");
  const std::string wrong = message_of([&] {
    nereid::rope(rows, c, s, TensorView(other, {1, 1, 4}), {.pairs = "halves"});
  });
  EXPECT_NE(wrong.find("'halves'"), std::string::npos) << wrong;
  EXPECT_NE(wrong.find("half"), std::string::npos) << wrong;
}

// What a program can choose is what the operators say, word for word and in their order.
TEST(Choices, EveryWordOfTheRegistryHasAnEnumerator) {
  std::vector<std::string> words;
  for (const nereid::OperatorInfo& op : nereid::operators())
    for (const nereid::AttributeInfo& attribute : op.attributes)
      if (op.name == "rms_norm" || op.name == "fp8_dequantize" || op.name == "rope_table")
        words.insert(words.end(), attribute.values.begin(), attribute.values.end());
  using G = nereid::Granularity;
  const std::vector<std::string> expected = {word(nereid::Cast::after_weight),
                                             word(nereid::Cast::before_weight),
                                             nereid::word(false),
                                             nereid::word(true),
                                             word(G::tensor),
                                             word(G::row),
                                             word(G::column),
                                             word(G::block_1x128),
                                             word(G::block_128x128)};
  EXPECT_EQ(words, expected);
  EXPECT_STREQ(word(static_cast<G>(99)), "none of the enumerators");
}

TEST(Choices, ACallByNameTakesThem) {
  const std::vector<int32_t> positions = {1};
  const TensorView p(positions);
  const Tensor cos(nereid::f32, {1, 4}), sin(nereid::f32, {1, 4});
  nereid::Call("rope_table")
      .operand("positions", p)
      .operand("cos", cos.view())
      .operand("sin", sin.view())
      .attribute("truncate", true)
      .run();
  EXPECT_NEAR(cos.data<float>()[0], 0.5403023, 1e-6);
  const std::vector<float> x = {3, 4};
  const TensorView rows(x, {1, 2});
  std::vector<float> w = {1, 1}, y(2);
  const TensorView weight(w), out(y, {1, 2});
  nereid::Call("rms_norm")
      .operand("x", rows)
      .operand("w", weight)
      .operand("out", out)
      .attribute("cast", nereid::Cast::before_weight)
      .run();
  EXPECT_NEAR(y[0] / y[1], 0.75, 1e-6);
}

TEST(Functions, HoldWhatStdFunctionHolds) {
  int calls = 0;
  nereid::Function<int(int)> f = [&calls, kept = std::vector<int>{1, 2, 3}](int i) {
    calls++;
    return kept[static_cast<size_t>(i)];
  };
  const nereid::Function<int(int)> copy = f;
  f = nullptr;
  EXPECT_FALSE(f);
  EXPECT_EQ(copy(2), 3);
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(nereid::Function<int(int)>(std::function<int(int)>()));
  EXPECT_FALSE(nereid::Function<int(int)>(static_cast<int (*)(int)>(nullptr)));
  EXPECT_EQ(nereid::Function<int(int)>(std::function<int(int)>(copy))(0), 1);
  const nereid::Function<void()> drops = [&calls] { return calls++; };
  drops();
  EXPECT_EQ(calls, 3);
}

TEST(Ownership, TheLastCopyGivesBack) {
  const auto alive = std::make_shared<int>(1);
  {
    nereid::Function<long()> f = [alive] { return alive.use_count(); };
    EXPECT_EQ(f(), 2);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
      threads.emplace_back([f] {
        for (int k = 0; k < 1000; k++) {
          nereid::Function<long()> copy = f;
          const nereid::Function<long()> moved = std::move(copy);
        }
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(alive.use_count(), 2);
  }
  EXPECT_EQ(alive.use_count(), 1);
  Tensor tensor(nereid::f32, {4});
  const Tensor same = tensor;
  EXPECT_EQ(same.data<float>(), tensor.data<float>());
  tensor = Tensor();
  EXPECT_FALSE(tensor);
  same.data<float>()[3] = 1;  // still there
}

}  // namespace
