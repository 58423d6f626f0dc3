// SPDX-License-Identifier: MIT
// tests/compiler/math_accuracy_test.cpp: the elementary functions on a sample of all floats, on
// every ISA; math_exhaustive.cpp tries them all.
#include <bit>
#include <cstring>
#include <limits>
#include <random>

#include "base/convert.h"
#include "jit_interpreter.h"
#include "lower_run.h"
#include "math_check.h"
#include "tests/seed.h"

namespace nrd::jit {
namespace {

// Runs a program on as many floats as fill whole vectors.
std::vector<float> run(const Program& program, const Machine& machine, const std::vector<float>& x,
                       const std::vector<float>& y) {
  EXPECT_EQ(verify_program(program), "");
  std::vector<float> out(x.size());
  MathBlock block;
  block.x = x.data();
  block.y = y.data();
  block.out = out.data();
  block.vectors = static_cast<int64_t>(x.size()) / program.lanes;
  if (!machine.is_native) {
    Interpreter(program).run(&block);
    return out;
  }
  const auto bytes = encode(program, machine.target);
  EXPECT_TRUE(bytes) << bytes.error().message();
  const auto code = make_code(program.name, *bytes);
  EXPECT_TRUE(code) << code.error().message();
  (*code)->entry()(&block);
  return out;
}

// Every `step`-th float, and the special ones with their neighbours. A multiple of 64 of them.
std::vector<float> floats(uint64_t step) {
  std::vector<float> x;
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += step) {
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  for (float special : {0.0f, 1.0f, 0.5f, 2.0f, 0.625f, 3.95f, 10.0f, 88.72284f, -87.33655f,
                        -103.97208f, 1e6f, 0x1p-126f, std::numeric_limits<float>::infinity()}) {
    for (int32_t away = -2; away <= 2; away++) {
      const auto bits = std::bit_cast<uint32_t>(special) + static_cast<uint32_t>(away);
      x.push_back(std::bit_cast<float>(bits));
      x.push_back(-x.back());
    }
  }
  while (x.size() % 64 != 0) x.push_back(1.0f);
  return x;
}

class MathTest : public ::testing::TestWithParam<MathFunction> {};

TEST_P(MathTest, IsWithinTwoUnits) {
  const MathFunction& f = GetParam();
  for (const Machine& machine : machines()) {
    const std::vector<float> x = floats(machine.is_native ? 2053 : 65537);
    const Program program =
        math_program(f.name, machine.target, [&](Builder& b, V a, G) { return f.make(b, a); });
    const std::vector<float> out = run(program, machine, x, x);
    for (size_t i = 0; i < x.size(); i++) {
      const double exact = f.exact(static_cast<double>(x[i]));
      ASSERT_LE(ulp_error(out[i], exact), 2)
          << machine.target.isa << " " << f.name << "(" << x[i] << ") is " << out[i];
      if (x[i] != 0) continue;
      ASSERT_EQ(std::signbit(out[i]), std::signbit(exact)) << f.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Functions, MathTest,
                         ::testing::ValuesIn(math_functions().begin(), math_functions().end()),
                         [](const auto& info) { return std::string(info.param.name); });

V load_second(Builder& b, G y) { return b.load(DType::kF32, Lane::kF32, {y}); }

TEST(MathAccuracy, PowOfAllKindsOfNumbers) {
  std::mt19937 generator(test_seed(3));
  std::vector<float> x, y;
  std::uniform_real_distribution<double> exponent(-20, 20), product(-152, 130);
  const float special[] = {0, 1, 2, 3, 0.5f, INFINITY, NAN, 1e-42f, 1e38f, 2.5f};
  for (int i = 0; i < 1 << 16; i++) {
    const double log2_x = exponent(generator) * (i % 2 == 0 ? 1 : 0.03);
    x.push_back(static_cast<float>(std::exp2(log2_x)));
    y.push_back(static_cast<float>(product(generator) / log2_x));
    if (i % 8 != 0) continue;
    x.back() = special[generator() % 10] * (generator() % 2 == 0 ? 1.0f : -1.0f);
    y.back() = special[generator() % 10] * (generator() % 2 == 0 ? 1.0f : -1.0f);
  }
  for (const Machine& machine : machines()) {
    const Program program = math_program("pow", machine.target, [](Builder& b, V a, G second) {
      return math_pow(b, a, load_second(b, second));
    });
    const std::vector<float> out = run(program, machine, x, y);
    for (size_t i = 0; i < x.size(); i++) {
      const double exact = std::pow(static_cast<double>(x[i]), static_cast<double>(y[i]));
      ASSERT_LE(ulp_error(out[i], exact), 2)
          << machine.target.isa << " " << x[i] << "^" << y[i] << " is " << out[i];
    }
  }
}

TEST(MathAccuracy, DivisionByOneNumber) {
  std::mt19937 generator(test_seed(5));
  auto any_float = [&] { return std::bit_cast<float>(static_cast<uint32_t>(generator())); };
  std::vector<float> divisors = {1, -3, 448, 0, -0.0f, INFINITY, NAN, 1e-45f, 0x1p-126f, 3e38f};
  for (int i = 0; i < 40; i++) divisors.push_back(any_float());
  std::vector<float> x(4096);
  for (const Machine& machine : machines()) {
    for (float s : divisors) {
      for (float& v : x) v = any_float();
      x[0] = INFINITY, x[1] = NAN, x[2] = 0, x[3] = s;
      const std::vector<float> same(x.size(), s);
      const Program program =
          math_program("divide", machine.target, [&](Builder& b, V a, G second) {
            return math_divide(b, a, math_prepare_division(b, load_second(b, second)));
          });
      const std::vector<float> out = run(program, machine, x, same);
      for (size_t i = 0; i < x.size(); i++) {
        ASSERT_LE(ulp_error(out[i], static_cast<double>(x[i]) / static_cast<double>(s)), 1.6)
            << machine.target.isa << " " << x[i] << " / " << s << " is " << out[i];
      }
    }
  }
}

// Down to where exp(-2x) overflows; from there on it is 0.
TEST(MathAccuracy, OnePlusTanh) {
  std::vector<float> x;
  for (int i = -60 * 64; i < 20 * 64; i++) x.push_back(static_cast<float>(i) / 64 + 1e-4f);
  for (const Machine& machine : machines()) {
    const Program program = math_program("one_plus_tanh", machine.target, [](Builder& b, V a, G) {
      return math_one_plus_tanh(b, a);
    });
    const std::vector<float> out = run(program, machine, x, x);
    for (size_t i = 0; i < x.size(); i++) {
      const double exact = 2 / (1 + std::exp(-2 * static_cast<double>(x[i])));
      if (x[i] < -43) {
        ASSERT_LE(out[i], 1e-37f) << x[i];
      } else {
        ASSERT_LE(ulp_error(out[i], exact), 2) << machine.target.isa << " " << x[i];
      }
    }
  }
}

TEST(MathAccuracy, RoundToHasTheBitsOfTheDefinition) {
  for (const Machine& machine : machines()) {
    const std::vector<float> x = floats(machine.is_native ? 769 : 65537);
    for (DType dtype : {DType::kF32, DType::kF16, DType::kBF16, DType::kF8E4M3, DType::kF8E5M2}) {
      const Program program = math_program("round_to", machine.target, [&](Builder& b, V a, G) {
        return math_round_to(b, a, dtype);
      });
      const std::vector<float> out = run(program, machine, x, x);
      for (size_t i = 0; i < x.size(); i++) {
        const auto want = dtype == DType::kF32
                              ? x[i]
                              : static_cast<float>(round_through(x[i], dtype, Overflow::kSaturate));
        if (std::isnan(want) && std::isnan(out[i])) continue;
        ASSERT_EQ(std::bit_cast<uint32_t>(out[i]), std::bit_cast<uint32_t>(want))
            << machine.target.isa << " " << word(dtype) << " of " << x[i];
      }
    }
  }
}

TEST(MathAccuracy, EveryFunctionOfATraceHasAHelper) {
  for (int op = static_cast<int>(TraceOp::kExp); op <= static_cast<int>(TraceOp::kHypot); op++) {
    for (Lane lane : {Lane::kF32, Lane::kF64}) {
      const int number = helper_number(static_cast<TraceOp>(op), lane);
      ASSERT_GE(number, 0) << trace_op_word(static_cast<TraceOp>(op));
      EXPECT_NE(helper_table()[number], nullptr);
    }
  }
  EXPECT_EQ(helper_number(TraceOp::kAdd, Lane::kF32), -1);
}

// out[l] = f(x[l]) on doubles, one vector a call.
std::vector<double> run_wide(V (*make)(Builder&, V), const Machine& machine,
                             const std::vector<double>& x) {
  Builder b("wide", machine.target, machine.target.lanes(true));
  const V value = b.load(DType::kF64, Lane::kF64, {b.gload({b.block(), {}, 1, 8})});
  b.store(DType::kF64, Lane::kF64, {b.gload({b.block(), {}, 1, 24})}, make(b, value));
  b.ret();
  const Runnable code(b.take(), machine);
  std::vector<double> out(x.size());
  for (size_t i = 0; i < x.size(); i += static_cast<size_t>(machine.target.lanes(true))) {
    const Helper* helpers = helper_table();
    const void* block[] = {helpers, &x[i], nullptr, &out[i]};
    code.run(block);
  }
  return out;
}

// Against long double: within 2 units of the last place of f64.
TEST(MathF64, SineAndCosine) {
  std::mt19937_64 random(test_seed(11));
  std::vector<double> x = {0.0,
                           -0.0,
                           1e-300,
                           -1e-310,
                           1e6,
                           -1e6,
                           1.0000001e6,
                           1e9,
                           -1e300,
                           std::numeric_limits<double>::infinity(),
                           std::numeric_limits<double>::quiet_NaN(),
                           M_PI,
                           -M_PI_2,
                           3 * M_PI_4};
  for (int i = 0; i < 4000; i++)
    x.push_back(std::uniform_real_distribution(-1.0, 1.0)(random) *
                std::pow(10.0, static_cast<double>(i % 8) - 1));
  while (x.size() % 8 != 0) x.push_back(1.0);
  for (const Machine& machine : machines())
    for (bool is_sine : {true, false}) {
      const std::vector<double> got = run_wide(is_sine ? math_sin_f64 : math_cos_f64, machine, x);
      for (size_t i = 0; i < x.size(); i++) {
        const long double wide = x[i];
        const long double exact = is_sine ? std::sin(wide) : std::cos(wide);
        if (std::isnan(static_cast<double>(exact))) {
          EXPECT_TRUE(std::isnan(got[i])) << x[i];
          continue;
        }
        const double unit = std::nextafter(std::fabs(static_cast<double>(exact)), 2.0) -
                            std::fabs(static_cast<double>(exact));
        EXPECT_LE(std::fabs(static_cast<double>(got[i] - exact)), 2 * unit)
            << (is_sine ? "sin " : "cos ") << x[i] << " on " << machine.target.isa;
        EXPECT_EQ(std::signbit(got[i]), std::signbit(static_cast<double>(exact))) << x[i];
      }
    }
}

}  // namespace
}  // namespace nrd::jit
