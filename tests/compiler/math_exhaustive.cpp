// SPDX-License-Identifier: MIT
// tests/compiler/math_exhaustive.cpp: every float through each elementary function and each unary
// operator, on each ISA of this machine, on all its cores; takes minutes, so ctest runs a sample.
//
//   math_exhaustive [NAME|all] [STEP]      STEP: only every STEP-th float, from a random one on
#include <atomic>
#include <bit>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "compiler/catalogue_traces.h"
#include "compiler/operator.h"
#include "jit/code.h"
#include "machine/isa.h"
#include "math_check.h"
#include "tests/seed.h"

namespace {

using namespace nrd;

// out[i] = f(x[i]) on one ISA.
using Run = std::function<void(const float* x, float* out, size_t count)>;

// What is scanned: the code of each ISA, what it should give, and how far away that may lie: `ulp`
// units of the last place, or `absolute` where cancellation rules.
struct Subject {
  std::string name;
  double (*exact)(double) = nullptr;
  double ulp = 2, absolute = 0;
  std::vector<Run> runs = {};
};

struct Worst {
  double error = -1, absolute = 0;  // ulp, and the largest absolute error of a finite result
  float at = 0, got = 0;
  uint64_t above_one = 0, beyond = 0;

  void add(const Subject& s, float x, float out, double exact) {
    // The nearest float: most are, and need no closer look.
    if (out == static_cast<float>(exact) && out != 0 && error >= 0.5) return;
    double ulp = jit::ulp_error(out, exact);
    if (exact == 0 && out == 0 && std::signbit(exact) != std::signbit(out)) ulp = INFINITY;
    const double away = std::fabs(static_cast<double>(out) - exact);
    above_one += ulp > 1;
    if (away < INFINITY && std::fabs(exact) < 1e6) absolute = std::max(absolute, away);
    if (ulp > s.ulp && !(away <= s.absolute)) beyond++;
    // The worst of those that the absolute limit does not excuse.
    if (away <= s.absolute ? error < 0 : ulp > error) {
      error = ulp;
      at = x;
      got = out;
    }
  }
  void join(const Worst& other) {
    const uint64_t ones = above_one + other.above_one, bad = beyond + other.beyond;
    const double far = std::max(absolute, other.absolute);
    if (other.error > error) *this = other;
    above_one = ones;
    beyond = bad;
    absolute = far;
  }
};

constexpr size_t kBatch = 8192;

// Batches as threads come for them; the worst of each ISA.
std::vector<Worst> scan(const Subject& subject, uint64_t step, uint64_t first) {
  constexpr uint64_t kAll = uint64_t{1} << 32;
  const uint64_t batches = ((kAll - first + step - 1) / step + kBatch - 1) / kBatch;
  std::atomic<uint64_t> next{0};
  using Worsts = std::vector<Worst>;
  std::vector<Worsts> parts(std::max(1u, std::thread::hardware_concurrency()),
                            Worsts(subject.runs.size()));
  auto work = [&](Worsts& worst) {
    std::vector<float> x(kBatch), out(kBatch);
    std::vector<double> exact(kBatch);
    for (uint64_t batch; (batch = next++) < batches;) {
      for (size_t i = 0; i < kBatch; i++) {
        const uint64_t bits = first + (batch * kBatch + i) * step;  // beyond the last: the last
        x[i] = std::bit_cast<float>(static_cast<uint32_t>(std::min(bits, kAll - 1)));
        exact[i] = subject.exact(static_cast<double>(x[i]));
      }
      for (size_t isa = 0; isa < worst.size(); isa++) {
        subject.runs[isa](x.data(), out.data(), kBatch);
        for (size_t i = 0; i < kBatch; i++) worst[isa].add(subject, x[i], out[i], exact[i]);
      }
    }
  };
  std::vector<std::thread> threads;
  for (Worsts& part : parts) threads.emplace_back(work, std::ref(part));
  for (std::thread& thread : threads) thread.join();
  Worsts worst(subject.runs.size());
  for (const Worsts& part : parts)
    for (size_t isa = 0; isa < worst.size(); isa++) worst[isa].join(part[isa]);
  return worst;
}

bool check(const Subject& s, const std::vector<const jit::Target*>& targets, uint64_t step,
           uint64_t first) {
  const std::vector<Worst> worst = scan(s, step, first);
  bool passes = true;
  for (size_t isa = 0; isa < worst.size(); isa++) {
    const Worst& w = worst[isa];
    std::printf(
        "%-9s %-7s %8.4f ulp at %a (%.9g): %.9g, exactly %.17g; most absolute %.3g; above "
        "1 ulp: %" PRIu64 "; beyond the limit: %" PRIu64 "\n",
        s.name.c_str(), std::string(targets[isa]->isa).c_str(), w.error, static_cast<double>(w.at),
        static_cast<double>(w.at), static_cast<double>(w.got), s.exact(static_cast<double>(w.at)),
        w.absolute, w.above_one, w.beyond);
    passes &= w.beyond == 0;
  }
  std::fflush(stdout);
  return passes;
}

[[noreturn]] void fail(const Error& error) {
  std::fprintf(stderr, "%s\n", error.message().c_str());
  std::exit(2);
}

Run function_code(const jit::MathFunction& f, const jit::Target& target) {
  const jit::Program program = jit::math_program(
      f.name, target, [&](jit::Builder& b, jit::V a, jit::G) { return f.make(b, a); });
  const auto bytes = jit::encode(program, target);
  if (!bytes) fail(bytes.error());
  const auto code = jit::make_code(program.name, *bytes);
  if (!code) fail(code.error());
  return [code = *code, lanes = program.lanes](const float* x, float* out, size_t count) {
    jit::MathBlock block;
    block.x = block.y = x;
    block.out = out;
    block.vectors = static_cast<int64_t>(count) / lanes;
    code->entry()(&block);
  };
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double silu(double x) { return x == -INFINITY ? NAN : x / (1 + std::exp(-x)); }
double gelu(double x) { return 0.5 * x * std::erfc(-x * M_SQRT1_2); }
double gelu_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
}

// The catalogue's operators that are one of these functions, as `cpu` runs them.
struct UnaryOperator {
  const char* name;
  double (*exact)(double);
};
constexpr UnaryOperator kOperators[] = {
    {"sigmoid", sigmoid}, {"silu", silu}, {"gelu", gelu}, {"gelu_tanh", gelu_tanh}};

Run operator_code(const UnaryOperator& op, const jit::Target& target) {
  const OpTrace* trace = catalogue_trace(op.name);
  if (!trace) fail(make_error({.code = ErrorCode::kUnknownName, .op = op.name}));
  const auto body =
      compile_trace(*trace, {.dtypes = {DType::kF32, DType::kF32}, .ints = {}}, target);
  if (!body) fail(body.error());
  return [body = *body](const float* x, float* out, size_t count) {
    void* const pointers[] = {const_cast<float*>(x), out};
    const int64_t strides[] = {0, 0};
    body->run({pointers, &count, nullptr, nullptr}, strides, 1, nullptr);
  };
}

}  // namespace

int main(int argc, char** argv) {
  const std::string wanted = argc > 1 ? argv[1] : "all";
  const uint64_t step = std::max<uint64_t>(1, argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
  const uint64_t first = run_seed() % step;
  std::printf("again with: NEREID_TEST_SEED=%" PRIu64 " %s %s %" PRIu64 "\n", run_seed(), argv[0],
              wanted.c_str(), step);
  const std::vector<const jit::Target*> targets = jit::targets(detect_isa());
  if (targets.empty()) fail(make_error({.code = ErrorCode::kUnsupported, .op = "generated code"}));
  int scanned = 0, wrong = 0;
  for (const jit::MathFunction& f : jit::math_functions()) {
    if (wanted != "all" && wanted != f.name) continue;
    Subject subject{std::string(f.name), f.exact};
    for (const jit::Target* target : targets) subject.runs.push_back(function_code(f, *target));
    scanned++;
    wrong += !check(subject, targets, step, first);
  }
  for (const UnaryOperator& op : kOperators) {
    if (wanted != "all" && wanted != op.name) continue;
    Subject subject{op.name, op.exact, 4, 1e-6};
    for (const jit::Target* target : targets) subject.runs.push_back(operator_code(op, *target));
    scanned++;
    wrong += !check(subject, targets, step, first);
  }
  if (scanned == 0) fail(make_error({.code = ErrorCode::kUnknownName, .op = wanted}));
  return wrong == 0 ? 0 : 1;
}
