// SPDX-License-Identifier: MIT
// src/jit/math_helpers.cpp: the functions, of libm and of integers, that generated code
// calls lane by lane.
#include <array>
#include <cmath>

#include "jit/math.h"
#include "trace/scalar_ops.h"

namespace nrd::jit {
namespace {

template <class T, T (*kFunction)(T)>
void one_argument(const void* a, const void*, void* out, int64_t lanes) {
  for (int64_t i = 0; i < lanes; i++) {
    static_cast<T*>(out)[i] = kFunction(static_cast<const T*>(a)[i]);
  }
}

template <class T, T (*kFunction)(T, T)>
void two_arguments(const void* a, const void* b, void* out, int64_t lanes) {
  for (int64_t i = 0; i < lanes; i++) {
    static_cast<T*>(out)[i] = kFunction(static_cast<const T*>(a)[i], static_cast<const T*>(b)[i]);
  }
}

struct Entry {
  TraceOp op;
  Helper narrow, f64;  // of f32, or of i32
};

#define NRD_ONE(op, name) \
  Entry { TraceOp::op, one_argument<float, name##f>, one_argument<double, name> }
#define NRD_TWO(op, name) \
  Entry { TraceOp::op, two_arguments<float, name##f>, two_arguments<double, name> }

constexpr std::array kEntries = {
    NRD_ONE(kExp, ::exp),
    NRD_ONE(kExp2, ::exp2),
    NRD_ONE(kExpm1, ::expm1),
    NRD_ONE(kLog, ::log),
    NRD_ONE(kLog2, ::log2),
    NRD_ONE(kLog10, ::log10),
    NRD_ONE(kLog1p, ::log1p),
    NRD_ONE(kTanh, ::tanh),
    NRD_ONE(kErf, ::erf),
    NRD_ONE(kSin, ::sin),
    NRD_ONE(kCos, ::cos),
    NRD_ONE(kTan, ::tan),
    NRD_ONE(kAtan, ::atan),
    NRD_ONE(kAsin, ::asin),
    NRD_ONE(kAcos, ::acos),
    NRD_ONE(kSinh, ::sinh),
    NRD_ONE(kCosh, ::cosh),
    NRD_ONE(kErfc, ::erfc),
    NRD_ONE(kCbrt, ::cbrt),
    NRD_TWO(kPow, ::pow),
    NRD_TWO(kAtan2, ::atan2),
    NRD_TWO(kFmod, ::fmod),
    NRD_TWO(kHypot, ::hypot),
    Entry{TraceOp::kDivFloor, two_arguments<int32_t, scalar::div_floor<int32_t>>, nullptr},
    Entry{TraceOp::kModFloor, two_arguments<int32_t, scalar::mod_floor<int32_t>>, nullptr},
};

#undef NRD_ONE
#undef NRD_TWO

constexpr std::array<Helper, 2 * kEntries.size()> make_table() {
  std::array<Helper, 2 * kEntries.size()> table{};
  for (size_t i = 0; i < kEntries.size(); i++) {
    table[2 * i] = kEntries[i].narrow;
    table[2 * i + 1] = kEntries[i].f64;
  }
  return table;
}

constexpr std::array<Helper, 2 * kEntries.size()> kTable = make_table();

}  // namespace

const Helper* helper_table() { return kTable.data(); }

void call_for_rare(Builder& b, Lane lane, M is_rare, TraceOp op, V x, V y, V result) {
  const Label call = b.label(), done = b.label();
  b.branch_any(is_rare, call);
  b.jump(done);
  b.bind(call);
  const V exact = b.call_lanes(lane, helper_number(op, lane), x, y);
  b.select(lane, is_rare, exact, result, result);
  b.bind(done);
}

int helper_number(TraceOp op, Lane lane) {
  for (size_t i = 0; i < kEntries.size(); i++) {
    if (kEntries[i].op == op) return static_cast<int>(2 * i + (lane == Lane::kF64 ? 1 : 0));
  }
  return -1;
}

}  // namespace nrd::jit
