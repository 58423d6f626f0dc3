// SPDX-License-Identifier: MIT
// tests/unit/api_cache_test.cpp: a repeated call finds its plan, and never another call's.
//
// Each variation of a call runs behind the call it varies, so that a plan of the other is at hand;
// the result must be the one that a context of its own gives, bit by bit.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <thread>

#include "count_allocations.h"
#include "nereid/nereid.h"

namespace {

using nereid::TensorView;

std::vector<float> ramp(size_t n, float step = 0.125f) {
  std::vector<float> v(n);
  for (size_t i = 0; i < n; i++) v[i] = static_cast<float>(static_cast<int>(i % 23) - 11) * step;
  return v;
}

// An rms_norm call with everything that a variation may change.
struct Norm {
  nereid::DType x_dtype = nereid::f32, out_dtype = nereid::f32;
  std::vector<int64_t> sizes = {4, 16};
  std::vector<int64_t> x_strides = {16, 1};
  double eps = 1e-5;
  const char* cast = "after_weight";
  const char* backend = nullptr;
  int threads = 0;

  std::vector<char> run(const nereid::Context* context, bool by_name) const {
    std::vector<float> x = ramp(256, 0.375f), w = ramp(16);
    std::vector<char> out(512, 0);
    const TensorView xv(x.data(), x_dtype, sizes, x_strides);
    const TensorView wv(w.data(), nereid::f32, {sizes.back()});
    const TensorView ov(out.data(), out_dtype, sizes);
    if (by_name)
      nereid::Call("rms_norm", {backend, threads, context})
          .operand("x", xv)
          .operand("w", wv)
          .operand("out", ov)
          .attribute("eps", eps)
          .attribute("cast", cast)
          .run();
    else
      nereid::rms_norm(
          xv, wv, ov,
          {.eps = eps, .cast = cast, .backend = backend, .threads = threads, .context = context});
    return out;
  }
};

struct Variation {
  const char* name;
  std::function<void(Norm&)> change;
};

const Variation kVariations[] = {
    {"nothing", [](Norm&) {}},
    {"dtype of x", [](Norm& n) { n.x_dtype = nereid::bf16; }},
    {"dtype of x, same size", [](Norm& n) { n.x_dtype = nereid::f16; }},
    {"dtype of out", [](Norm& n) { n.out_dtype = nereid::bf16; }},
    {"rows",
     [](Norm& n) {
       n.sizes = {3, 16};
     }},
    {"columns",
     [](Norm& n) {
       n.sizes = {4, 8};
       n.x_strides = {8, 1};
     }},
    {"row stride",
     [](Norm& n) {
       n.x_strides = {32, 1};
     }},
    {"column stride",
     [](Norm& n) {
       n.x_strides = {1, 4};
     }},
    {"broadcast rows",
     [](Norm& n) {
       n.x_strides = {0, 1};
     }},
    {"rank",
     [](Norm& n) {
       n.sizes = {2, 2, 16};
       n.x_strides = {32, 16, 1};
     }},
    {"a number", [](Norm& n) { n.eps = 0.5; }},
    {"a word",
     [](Norm& n) {
       n.cast = "before_weight";
       n.x_dtype = nereid::bf16;
     }},
    {"threads", [](Norm& n) { n.threads = 2; }},
    {"backend", [](Norm& n) { n.backend = "scalar"; }},
};

TEST(ApiCache, AVariedCallIsAnotherCall) {
  const nereid::Context seasoned;
  for (const bool by_name : {false, true})
    for (int round = 0; round < 3; round++)
      for (const Variation& variation : kVariations) {
        Norm plain, varied;
        variation.change(varied);
        plain.run(&seasoned, by_name);
        const std::vector<char> got = varied.run(&seasoned, by_name);
        const nereid::Context fresh;
        EXPECT_EQ(got, varied.run(&fresh, !by_name)) << variation.name << ", by name " << by_name;
      }
}

// Dispatch lines tell which plans were made, and for which backend.
struct Logged {
  std::vector<std::string> lines;
  nereid::Context context{options()};

  nereid::ContextOptions options(const std::string& backend = {}) {
    nereid::ContextOptions o;
    o.backend = backend;
    o.log = [this](nereid::LogLevel, std::string_view line) { lines.emplace_back(line); };
    return o;
  }
};

TEST(ApiCache, EveryVariationHasOnePlan) {
  Logged logged;
  std::vector<size_t> new_plans;
  for (int round = 0; round < 3; round++)
    for (const Variation& variation : kVariations) {
      const size_t before = logged.lines.size();
      Norm varied;
      variation.change(varied);
      varied.run(&logged.context, false);
      varied.run(&logged.context, true);  // the same call in other words: the same plan
      const bool is_new = round == 0 && std::strcmp(variation.name, "threads") != 0;
      EXPECT_EQ(logged.lines.size() - before, is_new ? 1u : 0u) << variation.name;
    }
  EXPECT_NE(logged.lines.back().find("-> scalar scalar"), std::string::npos) << logged.lines.back();
}

TEST(ApiCache, NamesAreComparedByContent) {
  std::vector<float> x = {-1, 2}, y = {3, 5}, out(2);
  const TensorView xv(x), yv(y), ov(out);
  char op[] = "vec_sub", first[] = "x", second[] = "y";
  auto run = [&] {
    nereid::Call call(op);
    call.operand(first, xv).operand(second, yv).operand("out", ov).run();
    return out;
  };
  for (int round = 0; round < 3; round++) {
    std::memcpy(op, "vec_sub", sizeof op);
    EXPECT_EQ(run(), (std::vector<float>{-4, -3}));
    std::memcpy(op, "vec_add", sizeof op);
    EXPECT_EQ(run(), (std::vector<float>{2, 7}));
    std::memcpy(op, "vec_sub", sizeof op);
    std::swap(first[0], second[0]);
    EXPECT_EQ(run(), (std::vector<float>{4, 3}));
    std::swap(first[0], second[0]);
  }
}

TEST(ApiCache, WordsAreComparedByContent) {
  Norm before, after;
  char cast[] = "before_weight";
  before.x_dtype = after.x_dtype = nereid::bf16;
  before.cast = "before_weight";
  const std::vector<char> expected_after = after.run(nullptr, false);
  const std::vector<char> expected_before = before.run(nullptr, false);
  ASSERT_NE(expected_after, expected_before);
  before.cast = cast;
  EXPECT_EQ(before.run(nullptr, false), expected_before);
  std::strcpy(cast, "after_weight");
  EXPECT_EQ(before.run(nullptr, false), expected_after);
  char backend[] = "scalar";
  after.backend = backend;
  EXPECT_EQ(after.run(nullptr, false), expected_after);
  std::memcpy(backend, "scalaa", sizeof backend);
  EXPECT_THROW(after.run(nullptr, false), nereid::KernelError);
}

TEST(ApiCache, PointersAreCheckedEveryTime) {
  std::vector<float> memory(64, 1.0f);
  float* at = memory.data();
  const TensorView x(at, {8}), out(at + 8, {8});
  for (int round = 0; round < 2; round++) {
    nereid::silu(x, out);
    nereid::silu(x, x);  // in place: exactly the same elements
    EXPECT_THROW(nereid::silu(x, TensorView(at + 4, {8})), nereid::KernelError);
    EXPECT_THROW(nereid::silu(TensorView(at + 4, {8}), x), nereid::KernelError);
    EXPECT_THROW(nereid::silu(x, TensorView(static_cast<float*>(nullptr), {8})),
                 nereid::KernelError);
    EXPECT_THROW(nereid::silu(TensorView(reinterpret_cast<char*>(at) + 2, nereid::f32, {8}), out),
                 nereid::KernelError);
    EXPECT_THROW(nereid::silu(x, TensorView(static_cast<const float*>(at + 8), {8})),
                 nereid::KernelError);
  }
}

TEST(ApiCache, IndicesAreCheckedEveryTime) {
  const std::vector<float> table = ramp(12);
  std::vector<float> out(6);
  std::vector<int32_t> ids = {0, 3, 1, 1};
  const int64_t two[] = {2}, step[] = {2};
  const TensorView tv(table, {4, 3}), ov(out, {2, 3});
  for (const TensorView& view :
       {TensorView(ids.data(), {2}), TensorView(ids.data(), nereid::i32, two, step)})
    for (int32_t id : {3, 4, 2, -1, 0}) {
      ids[0] = id;
      const auto done = nereid::attempt([&] { nereid::embedding(tv, view, ov); });
      EXPECT_EQ(static_cast<bool>(done), id >= 0 && id < 4) << id;
      if (done) {
        EXPECT_EQ(out[0], table[static_cast<size_t>(id) * 3]);
      } else {
        EXPECT_EQ(done.error().argument, "ids");
      }
    }
}

TEST(ApiCache, ScopedBackendsComeAndGo) {
  Logged logged;
  std::vector<float> x = ramp(24);
  for (int round = 0; round < 2; round++) {
    nereid::silu(x, x, {.context = &logged.context});
    const auto scope = nereid::use_backend("scalar");
    nereid::silu(x, x, {.context = &logged.context});
    const auto inner = nereid::use_backend("autovec");
    nereid::silu(x, x, {.context = &logged.context});
  }
  ASSERT_EQ(logged.lines.size(), 3u);
  EXPECT_NE(logged.lines[0].find("-> cpu "), std::string::npos) << logged.lines[0];
  EXPECT_NE(logged.lines[1].find("-> scalar "), std::string::npos) << logged.lines[1];
  EXPECT_NE(logged.lines[2].find("-> autovec "), std::string::npos) << logged.lines[2];
}

TEST(ApiCache, ANewContextAtAnOldAddressIsNew) {
  std::vector<float> x = ramp(24);
  for (int i = 0; i < 20; i++) {
    const std::string backend = i % 2 ? "scalar" : "autovec";
    Logged logged;
    logged.context = nereid::Context(logged.options(backend));
    nereid::silu(x, x, {.context = &logged.context});
    ASSERT_EQ(logged.lines.size(), 1u);
    EXPECT_NE(logged.lines[0].find("-> " + backend), std::string::npos) << logged.lines[0];
  }
}

TEST(ApiCache, MoreShapesThanPlaces) {
  Logged logged;
  constexpr size_t kShapes = 700;
  std::vector<float> x = ramp(kShapes), y(kShapes), expected(kShapes);
  nereid::relu(x, expected);
  for (int round = 0; round < 2; round++)
    for (size_t n = 1; n <= kShapes; n++) {
      std::fill(y.begin(), y.end(), -7.0f);
      nereid::relu(std::span(x.data(), n), std::span(y.data(), n), {.context = &logged.context});
      ASSERT_TRUE(
          std::equal(y.begin(), y.begin() + static_cast<std::ptrdiff_t>(n), expected.begin()))
          << n;
      if (n < kShapes) {
        ASSERT_EQ(y[n], -7.0f);
      }
    }
  EXPECT_EQ(logged.lines.size(), kShapes);  // the context still knew what the thread did not
}

// A caller's parallel_for that calls operators itself, enough to fill the thread's places.
TEST(ApiCache, CallsInsideACall) {
  std::vector<float> other = ramp(300);
  int inside = 0;
  nereid::ContextOptions options;
  options.parallel_for = [&](int64_t count, const std::function<void(int64_t)>& body) {
    for (int64_t i = 0; i < count; i++) {
      if (inside++ < 4)
        for (size_t n = 1; n <= 300; n++) {
          const std::span<float> part(other.data(), n);
          nereid::relu(part, part);
        }
      body(i);
    }
  };
  options.executor_width = 2;
  const nereid::Context context(options);
  const std::vector<float> x = ramp(100000);
  std::vector<float> y(x.size());
  for (int i = 0; i < 3; i++) nereid::relu(x, y, {.context = &context});
  EXPECT_GT(inside, 0);
  for (size_t i = 0; i < x.size(); i++) ASSERT_EQ(y[i], std::max(x[i], 0.0f));
}

TEST(ApiCache, ThreadsHavePlacesOfTheirOwn) {
  const nereid::Context context;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++)
    threads.emplace_back([&, t] {
      const auto scope = nereid::use_backend(t % 2 ? "scalar" : "cpu");
      for (size_t i = 0; i < 200; i++) {
        const size_t n = 1 + (i * 7 + static_cast<size_t>(t)) % 40;
        std::vector<float> x = ramp(n), y(n);
        nereid::vec_scale(x, y, {.scale = t + 1.0, .context = i % 3 ? &context : nullptr});
        for (size_t k = 0; k < n; k++) wrong += y[k] != x[k] * static_cast<float>(t + 1);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ApiCache, RepeatedCallsDoNotAllocate) {
  const std::vector<float> x = ramp(64), w = ramp(16);
  std::vector<float> y(64);
  std::vector<uint16_t> half(64), other(64);
  const std::vector<int32_t> ids = {1, 0};
  const TensorView xv(x, {4, 16}), wv(w), yv(y, {4, 16}), rows(y.data(), {2, 16});
  const TensorView from(half.data(), nereid::bf16, {64}), to(other.data(), nereid::bf16, {64});
  nereid::Call prepared("silu");
  prepared.operand("x", from).operand("out", to);
  const nereid::Plan plan = prepared.prepare();
  const nereid::PackedMatrix packed = nereid::pack_b(TensorView(x, {16, 4}));
  std::vector<float> product(16);
  // Many tasks for several threads.
  const std::vector<float> many(size_t{601} * 1024, 1.0f), weights(size_t{1024} * 290, 1.0f);
  const nereid::PackedMatrix large = nereid::pack_b(TensorView(weights, {1024, 290}));
  std::vector<float> large_product(size_t{601} * 290);
  auto run = [&] {
    nereid::silu(x, y);
    nereid::gemm(xv, packed, TensorView(product, {4, 4}), {.activation = "silu"});
    nereid::gemm(TensorView(many, {601, 1024}), large, TensorView(large_product, {601, 290}));
    nereid::silu(from, to);  // with a workspace
    nereid::rms_norm(xv, wv, yv, {.eps = 1e-5, .cast = "before_weight"});
    nereid::embedding(xv, ids, rows);
    nereid::Call("silu").operand("x", xv).operand("out", yv).run();
    plan.run({half.data(), other.data()});
  };
  run();
  const int64_t before = allocations();
  run();
  EXPECT_EQ(allocations(), before);
}

}  // namespace
