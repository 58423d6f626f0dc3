// SPDX-License-Identifier: MIT
// tests/unit/api_test.cpp: calls, plans, contexts and hooks of the public API.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>

#include "nereid/nereid.h"

namespace {

using nereid::TensorView;

std::vector<float> ramp(size_t n, float step = 0.125f) {
  std::vector<float> v(n);
  for (size_t i = 0; i < n; i++) v[i] = static_cast<float>(static_cast<int>(i % 23) - 11) * step;
  return v;
}

float silu(float x) { return x / (1 + std::exp(-x)); }

TEST(Api, WrapperTakesVectors) {
  const std::vector<float> x = ramp(100);
  std::vector<float> y(100);
  nereid::silu(x, y);
  for (size_t i = 0; i < x.size(); i++) EXPECT_NEAR(y[i], silu(x[i]), 1e-6f);
}

TEST(Api, OptionsReachTheOperator) {
  const std::vector<float> x = ramp(8), w(8, 2.0f);
  std::vector<float> y(8);
  nereid::rms_norm(TensorView(x, {1, 8}), w, TensorView(y, {1, 8}),
                   {.eps = 3.0, .cast = "before_weight", .threads = 1});
  double squares = 0;
  for (float v : x) squares += v * v;
  for (size_t i = 0; i < 8; i++) EXPECT_NEAR(y[i], 2 * x[i] / std::sqrt(squares / 8 + 3.0), 1e-5);
}

TEST(Api, StridesAndTransposes) {
  const std::vector<float> a = ramp(6), w = ramp(12);  // a[2,3], w[4,3]: an [N,K] weight
  std::vector<float> c(2 * 7, -1);                     // c lies in columns 1 to 4 of 7
  nereid::gemm(TensorView(a, {2, 3}), TensorView(w, {4, 3}).t(),
               TensorView(c, {2, 7}).slice(1, 1, 5));
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 7; j++) {
      float expected = -1;
      if (j >= 1 && j < 5) {
        expected = 0;
        for (int k = 0; k < 3; k++) expected += a[i * 3 + k] * w[(j - 1) * 3 + k];
      }
      EXPECT_FLOAT_EQ(c[i * 7 + j], expected) << i << ", " << j;
    }
}

TEST(Api, LeadingAxesBroadcast) {
  const std::vector<float> x = ramp(2 * 3 * 5), bias = ramp(5, 10);
  std::vector<float> y(x.size());
  nereid::vec_add(TensorView(x, {2, 3, 5}), bias, TensorView(y, {2, 3, 5}));
  for (size_t i = 0; i < x.size(); i++) EXPECT_EQ(y[i], x[i] + bias[i % 5]);
}

TEST(Api, InPlace) {
  std::vector<float> x = ramp(64);
  const std::vector<float> before = x;
  nereid::relu(x, x);
  for (size_t i = 0; i < x.size(); i++) EXPECT_EQ(x[i], std::max(before[i], 0.0f));
}

TEST(Api, EmptyTensors) {
  std::vector<float> nothing, one(1, 5);
  nereid::silu(nothing, nothing);
  nereid::vec_sum(nothing, TensorView(one.data(), {}));
  EXPECT_EQ(one[0], 0);
}

TEST(Api, InfersOutputs) {
  const std::vector<float> a(6), b(12);
  const TensorView av(a, {2, 3}), bv(b, {3, 4});
  nereid::Call call("gemm");
  call.operand("a", av).operand("b", bv);
  const auto shapes = call.infer();
  ASSERT_EQ(shapes.size(), 1u);
  EXPECT_EQ(shapes[0].name, "c");
  EXPECT_EQ(shapes[0].dtype, nereid::f32);
  EXPECT_EQ(shapes[0].sizes, (std::vector<int64_t>{2, 4}));
}

TEST(Api, PlanIsReused) {
  const std::vector<float> w = ramp(16);
  std::vector<float> x = ramp(32), y(32), again(32);
  const TensorView xv(x, {2, 16}), wv(w), yv(y, {2, 16});
  nereid::Call call("rms_norm");
  call.operand("x", xv).constant("w", wv).operand("out", yv);
  const nereid::Plan plan = call.prepare();
  EXPECT_STREQ(plan.info().backend, "cpu");
  EXPECT_NE(std::string(plan.info().text).find("rms_norm rows=2,cols=16 f32"), std::string::npos);
  std::vector<char> memory(plan.workspace_bytes() + 64);
  void* workspace = memory.data();
  size_t room = memory.size();
  std::align(64, plan.workspace_bytes(), workspace, room);
  plan.run({x.data(), nullptr, y.data()}, workspace);
  plan.run({x.data(), nullptr, again.data()});
  EXPECT_EQ(y, again);
  nereid::rms_norm(xv, wv, TensorView(again, {2, 16}));
  EXPECT_EQ(y, again);
}

TEST(Api, ManyThreadsAtOnce) {
  const std::vector<float> a = ramp(24 * 40), b = ramp(40 * 33);
  std::vector<float> expected(24 * 33);
  const TensorView av(a, {24, 40}), bv(b, {40, 33});
  nereid::gemm(av, bv, TensorView(expected, {24, 33}));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++)
    threads.emplace_back([&, t] {
      std::vector<float> c(24 * 33), s(50 + t);
      for (int i = 0; i < 100; i++) {
        nereid::gemm(av, bv, TensorView(c, {24, 33}));
        wrong += c != expected;
        nereid::silu(s, s);  // other shapes in each thread: plans are made side by side
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Api, ThreadCountDoesNotChangeBits) {
  const std::vector<float> x = ramp(64 * 3000, 0.37f), w = ramp(3000);
  std::vector<float> one(x.size()), four(x.size());
  nereid::rms_norm(TensorView(x, {64, 3000}), w, TensorView(one, {64, 3000}), {.threads = 1});
  nereid::rms_norm(TensorView(x, {64, 3000}), w, TensorView(four, {64, 3000}), {.threads = 4});
  EXPECT_EQ(one, four);
}

struct Hooks {
  std::atomic<int> allocations{0}, releases{0}, loops{0};
  std::mutex mutex;
  std::vector<std::string> lines;

  nereid::ContextOptions options() {
    nereid::ContextOptions o;
    o.allocate = [this](size_t bytes, size_t alignment) {
      allocations++;
      return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    };
    o.release = [this](void* memory, size_t) {
      releases++;
      std::free(memory);
    };
    o.log = [this](nereid::LogLevel level, std::string_view line) {
      EXPECT_EQ(level, nereid::LogLevel::dispatch);
      const std::lock_guard lock(mutex);
      lines.emplace_back(line);
    };
    o.parallel_for = [this](int64_t count, const std::function<void(int64_t)>& body) {
      loops++;
      for (int64_t i = count; i-- > 0;) body(i);
    };
    o.executor_width = 4;
    return o;
  }
};

TEST(Api, HooksAreCalled) {
  Hooks hooks;
  const std::vector<float> x = ramp(200000);
  std::vector<float> y(x.size());
  std::vector<uint16_t> half(x.size());
  const TensorView halves(half.data(), nereid::bf16, {static_cast<int64_t>(half.size())});
  {
    const nereid::Context context(hooks.options());
    nereid::silu(x, y, {.context = &context});
    EXPECT_GT(hooks.loops, 0);
    // The definition's build converts 16-bit buffers into a workspace.
    for (int i = 0; i < 3; i++)
      nereid::silu(halves, halves, {.backend = "autovec", .context = &context});
    EXPECT_GT(hooks.allocations, 0);
    EXPECT_LE(hooks.allocations, 3);  // a workspace is used again
  }
  EXPECT_EQ(hooks.allocations, hooks.releases);
  ASSERT_EQ(hooks.lines.size(), 2u);  // one a new plan
  EXPECT_NE(hooks.lines[0].find("silu n=200000 f32 -> cpu "), std::string::npos) << hooks.lines[0];
  for (size_t i = 0; i < x.size(); i++) ASSERT_NEAR(y[i], silu(x[i]), 1e-6f);
}

TEST(Api, AllocatorThatFailsIsAnEnvironmentError) {
  nereid::ContextOptions options;
  options.allocate = [](size_t, size_t) { return nullptr; };
  options.release = [](void*, size_t) {};
  const nereid::Context context(options);
  std::vector<uint16_t> half(64);
  const TensorView halves(half.data(), nereid::bf16, {64});
  nereid::Call call("silu", {.backend = "autovec", .context = &context});
  call.operand("x", halves).operand("out", halves);
  const auto done = call.try_run();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().status, NEREID_ENVIRONMENT);
}

TEST(Api, StrictModeRefusesFallbacks) {
  const nereid::Context strict({.strict = 1});
  std::vector<float> x = ramp(16);
  nereid::Call plain("silu", {.context = &strict});
  const TensorView xs(x);
  plain.operand("x", xs).operand("out", xs);
  // Without generated code every kernel of cpu is one: tests/unit/strict_test.cpp.
  nereid::Call lenient("silu");
  lenient.operand("x", xs).operand("out", xs);
  EXPECT_EQ(static_cast<bool>(plain.try_run()),
            std::string(lenient.prepare().info().kernel).starts_with("jit_"));
  std::vector<uint16_t> half(16), other(8);
  const TensorView strided(half.data(), nereid::bf16, {8}, {2});
  const TensorView packed(other.data(), nereid::bf16, {8});
  try {
    nereid::silu(strided, packed, {.context = &strict});
    FAIL() << "a kernel that converts whole buffers is a fallback";
  } catch (const nereid::KernelError& e) {
    EXPECT_EQ(e.error().status, NEREID_UNSUPPORTED);
    EXPECT_EQ(e.error().op, "silu");
    EXPECT_NE(e.error().got.find("fallback"), std::string::npos) << e.what();
  }
  nereid::silu(strided, packed, {.backend = "autovec", .context = &strict});  // asked for
  nereid::silu(strided, packed);  // the default context is not strict
}

// NEON is every aarch64 CPU's; x86-64's baseline has no back end.
#if defined(__x86_64__)
constexpr const char* kBaselineKernel = "cpu autovec_baseline";
#else
constexpr const char* kBaselineKernel = "cpu jit_neon";
#endif

std::string kernel_of_next_plan(const nereid::CallOptions& options) {
  static std::vector<float> x(8);
  const TensorView view(x);
  nereid::Call call("silu", options);
  call.operand("x", view).operand("out", view);
  const nereid::Plan plan = call.prepare();
  return std::string(plan.info().backend) + " " + plan.info().kernel;
}

TEST(Api, BackendsAreChosenByNameScopeAndContext) {
  const std::string best = kernel_of_next_plan({});
  EXPECT_EQ(best.rfind("cpu ", 0), 0u) << best;
  EXPECT_EQ(kernel_of_next_plan({.backend = "scalar"}), "scalar scalar");
  {
    const auto scope = nereid::use_backend("scalar");
    EXPECT_EQ(kernel_of_next_plan({}), "scalar scalar");
    {
      const auto inner = nereid::use_backend("autovec");
      EXPECT_EQ(kernel_of_next_plan({}).rfind("autovec ", 0), 0u);
    }
    EXPECT_EQ(kernel_of_next_plan({.backend = "cpu"}), best);
  }
  const nereid::Context scalar({.backend = "scalar"}), baseline({.isa = "baseline"});
  EXPECT_EQ(kernel_of_next_plan({.context = &scalar}), "scalar scalar");
  EXPECT_EQ(kernel_of_next_plan({.context = &baseline}), kBaselineKernel);
}

// Those of a device say nothing about operands on the CPU.
TEST(Api, ExplainNamesEveryBackendOfTheCpu) {
  std::vector<float> x(8);
  const TensorView view(x);
  nereid::Call call("silu");
  call.operand("x", view).operand("out", view);
  const std::string text = call.explain();
  for (const auto& backend : nereid::backends()) {
    EXPECT_TRUE(backend.available || !backend.reason.empty());
    if (std::set<std::string>{"cpu", "autovec", "scalar"}.contains(backend.name)) {
      EXPECT_NE(text.find(" " + backend.name), std::string::npos) << text;
    }
    EXPECT_EQ(text.find(" cuda"), std::string::npos) << text;
  }
  EXPECT_NE(text.find("* cpu"), std::string::npos) << text;
}

TEST(Api, OlderCallersWork) {
  std::vector<float> x = {-1, 1};
  const int64_t size = 2;
  nereid_tensor tensor{};
  tensor.struct_size = offsetof(nereid_tensor, strides);  // knew neither strides nor devices
  tensor.data = x.data();
  tensor.dtype = NEREID_F32;
  tensor.rank = 1;
  tensor.sizes = &size;
  tensor.device = 99;  // behind its end: not read
  const nereid_operand operands[] = {{"x", &tensor}, {"out", &tensor}};
  nereid_call call{};
  call.struct_size = offsetof(nereid_call, backend);
  call.op = "relu";
  call.operands = operands;
  call.operand_count = 2;
  call.backend = "no such backend";
  ASSERT_EQ(nereid_run(nullptr, &call), NEREID_OK) << nereid_last_error()->message;
  EXPECT_EQ(x, (std::vector<float>{0, 1}));
}

TEST(Api, WarmUpAndVersion) {
  nereid::warm_up();
  nereid::warm_up({"silu", "gemm"}, {nereid::f32, nereid::bf16});
  EXPECT_THROW(nereid::warm_up({"siluu"}), nereid::KernelError);
  EXPECT_STREQ(nereid::version(), NEREID_VERSION);
}

TEST(Api, ErrorsAsValues) {
  std::vector<float> x(4), y(5);
  const auto done = nereid::attempt([&] { nereid::silu(x, y); });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().status, NEREID_SHAPE_MISMATCH);
  EXPECT_THROW(done.value(), nereid::ShapeMismatchError);
}

}  // namespace
