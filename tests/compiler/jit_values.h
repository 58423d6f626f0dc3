// SPDX-License-Identifier: MIT
// tests/compiler/jit_values.h: numbers that tell implementations apart.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "tests/seed.h"

namespace nrd::jit {

inline std::vector<uint32_t> special_f32() {
  std::vector<uint32_t> bits;
  const float values[] = {0.0f,
                          0.5f,
                          1.0f,
                          1.5f,
                          2.5f,
                          3.0f,
                          1e-3f,
                          1e10f,
                          2147483520.0f,
                          2147483648.0f,
                          8388607.5f,
                          std::numeric_limits<float>::max(),
                          std::numeric_limits<float>::min(),
                          std::numeric_limits<float>::denorm_min(),
                          std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN()};
  for (float value : values) {
    bits.push_back(std::bit_cast<uint32_t>(value));
    bits.push_back(std::bit_cast<uint32_t>(-value));
  }
  bits.push_back(0x007fffff);
  bits.push_back(0x7f800001);  // a signalling NaN
  bits.push_back(0xffffffff);
  return bits;
}

inline std::vector<uint64_t> special_f64() {
  std::vector<uint64_t> bits;
  for (uint32_t code : special_f32()) {
    bits.push_back(std::bit_cast<uint64_t>(static_cast<double>(std::bit_cast<float>(code))));
  }
  for (double value : {1e300, -1e300, 5e-324, 2147483647.5, -2147483648.5, 4503599627370495.5}) {
    bits.push_back(std::bit_cast<uint64_t>(value));
  }
  return bits;
}

inline std::vector<uint32_t> special_i32() {
  return {0,   1,   2,          3,          31,         32,         127,       128,
          255, 256, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff};
}

// The specials in every pairing, then random bits, to a multiple of 16 numbers.
template <class Bits>
void fill_pairs(const std::vector<Bits>& special, std::vector<Bits>& a, std::vector<Bits>& b,
                std::vector<Bits>& c, size_t random_count, uint64_t stream) {
  std::mt19937_64 random(test_seed(stream));
  for (Bits x : special) {
    for (Bits y : special) {
      a.push_back(x);
      b.push_back(y);
      c.push_back(special[random() % special.size()]);
    }
  }
  for (size_t i = 0; i < random_count || a.size() % 16 != 0; i++) {
    a.push_back(static_cast<Bits>(random()));
    b.push_back(static_cast<Bits>(random()));
    c.push_back(static_cast<Bits>(random()));
  }
}

}  // namespace nrd::jit
