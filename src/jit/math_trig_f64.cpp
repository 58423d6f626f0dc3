// SPDX-License-Identifier: MIT
// src/jit/math_trig_f64.cpp: sin and cos of f64 vectors.
//
// As math_trig.cpp: x = n pi/2 + r with pi/2 in three parts, Taylor polynomials of r (|r| <= pi/4,
// remainders below 7e-17), libm where |x| is beyond 1e6.
#include <array>
#include <bit>
#include <span>

#include "jit/math.h"

namespace nrd::jit {
namespace {

constexpr double kLargest = 1e6;
constexpr double kTwoOverPi = 0.63661977236758134;
// All positive, so that the remainder of -0 is -0.
constexpr double kHalfPi1 = 1.5707963267948966, kHalfPi2 = 6.123233995736765e-17,
                 kHalfPi3 = 1.082856673921914e-32;

// (r - sin r) / r^3 and (cos r - 1 + r^2/2) / r^4, in r^2.
constexpr std::array kSin = {1.0 / 6,        -1.0 / 120,        1.0 / 5040,         -1.0 / 362880,
                             1.0 / 39916800, -1.0 / 6227020800, 1.0 / 1307674368000};
constexpr std::array kCos = {
    1.0 / 24,        -1.0 / 720,         1.0 / 40320,         -1.0 / 3628800,
    1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000};

class Wide {
 public:
  explicit Wide(Builder& builder) : b(builder) {}
  V f(double value) { return b.constant(Lane::kF64, std::bit_cast<uint64_t>(value)); }
  V op(Op op, V x, V y) { return b.op2(op, Lane::kF64, x, y); }
  V fma(V x, V y, V z) { return b.op3(Op::kFma, Lane::kF64, x, y, z); }
  V fnma(V x, V y, V z) { return b.op3(Op::kFnma, Lane::kF64, x, y, z); }
  V polynomial(V x, std::span<const double> coefficients) {
    V sum = f(coefficients.back());
    for (size_t i = coefficients.size() - 1; i-- > 0;) sum = fma(sum, x, f(coefficients[i]));
    return sum;
  }
  M has_bit(V q, uint32_t bit) {
    const V one = b.op2(Op::kAnd, Lane::kI32, q, b.constant(Lane::kI32, bit));
    return b.compare(Predicate::kNe, Lane::kI32, one, b.constant(Lane::kI32, 0));
  }

  Builder& b;
};

V sin_of_quarter(Builder& b, V x, uint32_t quarters_ahead, TraceOp op) {
  Wide w(b);
  // Adding 0 turns -0 into 0, whose products leave the sign of a remainder of -0 alone.
  const V n =
      w.op(Op::kAdd, b.op1(Op::kRint, Lane::kF64, w.op(Op::kMul, x, w.f(kTwoOverPi))), w.f(0.0));
  V r = w.fnma(n, w.f(kHalfPi1), x);
  r = w.fnma(n, w.f(kHalfPi2), r);
  r = w.fnma(n, w.f(kHalfPi3), r);
  const V square = w.op(Op::kMul, r, r);
  const V cube = w.op(Op::kMul, square, r);
  const V sine = w.op(Op::kSub, r, w.fma(cube, w.polynomial(square, kSin), w.f(0.0)));
  const V near_one = w.fnma(square, w.f(0.5), w.f(1.0));
  const V cosine = w.fma(w.op(Op::kMul, square, square), w.polynomial(square, kCos), near_one);

  V q = b.op1(Op::kF64ToI32, Lane::kI32, n);
  if (quarters_ahead != 0)
    q = b.op2(Op::kAdd, Lane::kI32, q, b.constant(Lane::kI32, quarters_ahead));
  const V turned = b.select(Lane::kF64, w.has_bit(q, 1), cosine, sine);
  const V negative = w.op(Op::kXor, turned, w.f(-0.0));
  const V result = b.new_vector();
  b.select(Lane::kF64, w.has_bit(q, 2), negative, turned, result);

  const V size = w.op(Op::kAndNot, w.f(-0.0), x);
  const M is_rare = b.compare(Predicate::kUgt, Lane::kF64, size, w.f(kLargest));
  call_for_rare(b, Lane::kF64, is_rare, op, x, {}, result);
  return result;
}

}  // namespace

V math_sin_f64(Builder& b, V x) { return sin_of_quarter(b, x, 0, TraceOp::kSin); }
V math_cos_f64(Builder& b, V x) { return sin_of_quarter(b, x, 1, TraceOp::kCos); }

}  // namespace nrd::jit
