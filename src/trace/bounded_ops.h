// SPDX-License-Identifier: MIT
// src/trace/bounded_ops.h: one operation on bounded values. Private to bounded.cpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "trace/trace.h"

namespace nrd::bounded {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A value of any type. Integers and bools are in `integer`; a bool with a bound is undecided.
struct Slot {
  double value = 0;
  double bound = 0;
  int64_t integer = 0;
  double magnitude = 0;  // of a sum on its way: of all finite terms together
  double terms = 0;      // of a sum on its way: how many
};

// Any operation but leaves, memory and loops. Arguments that the op does not have are ignored.
Slot apply(const OpTrace& trace, const Value& v, const Slot& a, const Slot& b, const Slot& c);

Slot constant(TraceType type, uint64_t bits);

// An element of a table, with a bound that covers those that an uncertain index may mean.
Slot lookup(const TraceTable& table, const Slot& index);

// The chosen one of two, with a bound that covers the other where the choice is undecided.
Slot choose(TraceType type, const Slot& condition, const Slot& yes, const Slot& no);

// A finished float result: own rounding added, f32's range observed. `units` of half a last place;
// `granule`: whether results below the normal range are rounded too (not those of sums).
Slot rounded(TraceType type, double value, double bound, double units, bool granule);

// The next partial sum, without any rounding: sum_done adds that of all terms at once.
Slot sum_step(const Value& v, const Slot& sum, const Slot& a, const Slot& b);
Slot sum_done(TraceType type, const Slot& sum);

// exp, sin, pow and the like: two units of the last place of their own.
Slot apply_function(const Value& v, const Slot& a, const Slot& b);

// Operations whose results or arguments are integers or bools.
Slot apply_integer(const OpTrace& trace, const Value& v, const Slot& a, const Slot& b);
Slot compare(const OpTrace& trace, const Value& v, const Slot& a, const Slot& b);
Slot convert(TraceOp op, TraceType from, TraceType to, const Slot& a);

// 0 * infinity is 0 here: no error, however steep.
inline double times(double slope, double bound) { return bound == 0 ? 0 : slope * bound; }

inline double distance(double a, double b) {
  if (a == b) return 0;
  const double d = std::fabs(a - b);
  return d == d ? d : kInfinity;
}

// How far a monotone function moves within the bound; the end of its domain is an infinity. The
// bound is widened by what its own rounding may have lost: 1.5 less a bound that reaches just below
// zero must not be zero.
template <class F>
double spread(F f, double value, double bound) {
  if (bound == 0 || value != value) return bound == kInfinity ? kInfinity : 0;
  if (bound == kInfinity) return kInfinity;
  bound *= 1 + 0x1p-50;
  const double here = f(value);
  const double above = f(value + bound);
  const double below = f(value - bound);
  if (here != here && above != above && below != below) return 0;
  return std::max(distance(above, here), distance(below, here));
}

}  // namespace nrd::bounded
