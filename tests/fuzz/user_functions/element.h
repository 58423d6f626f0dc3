// SPDX-License-Identifier: MIT
// tests/fuzz/user_functions/element.h: elements of operands as doubles, rounded by arithmetic of
// our own; random numbers from a counter.
#pragma once

#include <nereid/c.h>

#include <cstdint>

namespace judge {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next();
  int64_t below(int64_t n) { return static_cast<int64_t>(next() % static_cast<uint64_t>(n)); }
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  bool chance(int percent) { return below(100) < percent; }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double normal();
  template <class T, size_t N>
  T pick(const T (&list)[N]) {
    return list[below(static_cast<int64_t>(N))];
  }

 private:
  uint64_t state_;
};

double load(nereid_dtype dtype, const void* at);
void store(nereid_dtype dtype, double value, void* at);  // rounded to nearest even, once
double rounded(nereid_dtype dtype, double value);
bool is_real(nereid_dtype dtype);

}  // namespace judge
