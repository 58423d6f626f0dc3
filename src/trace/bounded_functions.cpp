// SPDX-License-Identifier: MIT
// src/trace/bounded_functions.cpp: the functions of mathematics on values with bounds.
#include <numbers>

#include "trace/bounded_ops.h"

namespace nrd::bounded {
namespace {

constexpr double kFunctionUnits = 4;  // two units: what our exp, log, ... promise

double sine_bound(double slope, double bound) {
  if (bound == 0) return 0;
  return std::min(std::fabs(slope) * bound + bound * bound / 2, bound == kInfinity ? kInfinity : 2);
}

double tangent_bound(double value, double bound) {
  auto branch = [](double x) { return std::floor(x * std::numbers::inv_pi + 0.5); };
  if (branch(value - bound) != branch(value + bound)) return kInfinity;
  return spread([](double x) { return std::tan(x); }, value, bound);
}

double cosh_bound(double value, double bound) {
  const double ends = spread([](double x) { return std::cosh(x); }, value, bound);
  return bound > std::fabs(value) ? std::max(ends, std::cosh(value) - 1) : ends;
}

// Monotone in each argument where the base is positive, so the corners say it all.
double power_bound(const Slot& a, const Slot& b) {
  if (a.bound == 0 && b.bound == 0) return 0;
  if (!(a.value - a.bound > 0)) return kInfinity;
  const double here = std::pow(a.value, b.value);
  double most = 0;
  for (const double x : {a.value - a.bound, a.value + a.bound}) {
    for (const double y : {b.value - b.bound, b.value + b.bound})
      most = std::max(most, distance(std::pow(x, y), here));
  }
  return most;
}

double angle_bound(const Slot& y, const Slot& x) {
  if (x.bound == 0 && y.bound == 0) return 0;
  const double radius = std::hypot(x.value, y.value) - x.bound - y.bound;
  const bool at_cut = x.value < x.bound && std::fabs(y.value) <= y.bound;
  if (!(radius > 0) || at_cut) return kInfinity;
  return (x.bound + y.bound) / radius;
}

double remainder_bound(const Slot& a, const Slot& b) {
  if (a.bound == 0 && b.bound == 0) return 0;
  if (b.bound != 0) return kInfinity;
  const bool same =
      std::trunc((a.value - a.bound) / b.value) == std::trunc((a.value + a.bound) / b.value);
  return same ? a.bound : kInfinity;
}

Slot function(TraceType type, double value, double bound) {
  return rounded(type, value, bound, kFunctionUnits, true);
}

template <class F>
Slot monotone(TraceType type, F f, const Slot& a) {
  return function(type, f(a.value), spread(f, a.value, a.bound));
}

}  // namespace

Slot apply_function(const Value& v, const Slot& a, const Slot& b) {
  const TraceType t = v.type;
  switch (v.op) {
    case TraceOp::kExp:
      return monotone(
          t, [](double x) { return std::exp(x); }, a);
    case TraceOp::kExp2:
      return monotone(
          t, [](double x) { return std::exp2(x); }, a);
    case TraceOp::kExpm1:
      return monotone(
          t, [](double x) { return std::expm1(x); }, a);
    case TraceOp::kLog:
      return monotone(
          t, [](double x) { return std::log(x); }, a);
    case TraceOp::kLog2:
      return monotone(
          t, [](double x) { return std::log2(x); }, a);
    case TraceOp::kLog10:
      return monotone(
          t, [](double x) { return std::log10(x); }, a);
    case TraceOp::kLog1p:
      return monotone(
          t, [](double x) { return std::log1p(x); }, a);
    case TraceOp::kTanh:
      return monotone(
          t, [](double x) { return std::tanh(x); }, a);
    case TraceOp::kErf:
      return monotone(
          t, [](double x) { return std::erf(x); }, a);
    case TraceOp::kErfc:
      return monotone(
          t, [](double x) { return std::erfc(x); }, a);
    case TraceOp::kAtan:
      return monotone(
          t, [](double x) { return std::atan(x); }, a);
    case TraceOp::kAsin:
      return monotone(
          t, [](double x) { return std::asin(x); }, a);
    case TraceOp::kAcos:
      return monotone(
          t, [](double x) { return std::acos(x); }, a);
    case TraceOp::kSinh:
      return monotone(
          t, [](double x) { return std::sinh(x); }, a);
    case TraceOp::kCbrt:
      return monotone(
          t, [](double x) { return std::cbrt(x); }, a);
    case TraceOp::kCosh: return function(t, std::cosh(a.value), cosh_bound(a.value, a.bound));
    case TraceOp::kSin:
      return function(t, std::sin(a.value), sine_bound(std::cos(a.value), a.bound));
    case TraceOp::kCos:
      return function(t, std::cos(a.value), sine_bound(std::sin(a.value), a.bound));
    case TraceOp::kTan: return function(t, std::tan(a.value), tangent_bound(a.value, a.bound));
    case TraceOp::kPow: return function(t, std::pow(a.value, b.value), power_bound(a, b));
    case TraceOp::kAtan2: return function(t, std::atan2(a.value, b.value), angle_bound(a, b));
    case TraceOp::kHypot: return function(t, std::hypot(a.value, b.value), a.bound + b.bound);
    default: return {.value = std::fmod(a.value, b.value), .bound = remainder_bound(a, b)};
  }
}

}  // namespace nrd::bounded
