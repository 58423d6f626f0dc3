// SPDX-License-Identifier: MIT
// tests/compiler/math_check.h: the elementary functions of jit/math.h against libm in double.
#pragma once

#include <cmath>
#include <span>
#include <string_view>

#include "jit/math.h"

namespace nrd::jit {

struct MathFunction {
  std::string_view name;
  V (*make)(Builder&, V);
  double (*exact)(double);
};

inline std::span<const MathFunction> math_functions() {
  static constexpr MathFunction kAll[] = {
      {"exp", math_exp, std::exp},       {"exp2", math_exp2, std::exp2},
      {"expm1", math_expm1, std::expm1}, {"log", math_log, std::log},
      {"log2", math_log2, std::log2},    {"log10", math_log10, std::log10},
      {"log1p", math_log1p, std::log1p}, {"tanh", math_tanh, std::tanh},
      {"erf", math_erf, std::erf},       {"sin", math_sin, std::sin},
      {"cos", math_cos, std::cos},
  };
  return kAll;
}

// out[l] = f(x[l]) for one vector; the block is {helpers, x, y, out}.
struct MathBlock {
  const Helper* helpers = helper_table();
  const float* x = nullptr;
  const float* y = nullptr;
  float* out = nullptr;
  int64_t vectors = 0;
};

// One vector after the other, so that code is worth its call.
template <class Make>
Program math_program(std::string_view name, const Target& target, Make make) {
  Builder b(std::string(name), target, target.lanes(false));
  const int bytes = target.vector_bytes;
  const G x = b.gload({b.block(), {}, 1, 8}), y = b.gload({b.block(), {}, 1, 16});
  const G out = b.gload({b.block(), {}, 1, 24}), left = b.gload({b.block(), {}, 1, 32});
  const Label top = b.label();
  b.loop_begin();
  b.bind(top);
  const V a = b.load(DType::kF32, Lane::kF32, {x});
  const V result = make(b, a, y);
  b.store(DType::kF32, Lane::kF32, {out}, result);
  for (G g : {x, y, out}) b.gop(Op::kGAdd, g, bytes, g);
  b.gop(Op::kGSub, left, 1, left);
  b.branch(Predicate::kGt, left, 0, top);
  b.loop_end();
  b.ret();
  return b.take();
}

// Distance in units of the last place of f32; a wrong NaN or infinity is infinitely far away.
inline double ulp_error(float got, double exact) {
  if (std::isnan(exact) || std::isnan(got)) {
    return std::isnan(exact) && std::isnan(got) ? 0 : INFINITY;
  }
  const auto rounded = static_cast<float>(exact);
  if (got == rounded) {
    if (std::isinf(got)) return 0;
  } else if (std::isinf(got) || std::isinf(rounded)) {
    // The last finite number and infinity are neighbours.
    constexpr double kLast = 0x1.fffffep127;
    const double magnitude = std::isinf(got) ? std::fabs(exact) : std::fabs(got);
    const bool is_near =
        std::signbit(got) == std::signbit(rounded) && magnitude >= kLast * (1 - 0x1p-23);
    return is_near ? 1 : INFINITY;
  }
  int exponent = 0;
  std::frexp(exact, &exponent);
  const double unit = std::ldexp(1.0, std::max(exponent - 24, -149));
  return std::fabs(static_cast<double>(got) - exact) / unit;
}

}  // namespace nrd::jit
