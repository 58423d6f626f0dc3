// SPDX-License-Identifier: MIT
// src/cuda/launch/division.h: division by a number that is known before the launch.
#pragma once

#include <cstdint>

namespace nrd::cuda {

// n / divisor for n < 2^31 as one multiplication and a shift. With 2^(l-1) < divisor <= 2^l the
// multiplier is ceil(2^(31+l) / divisor): it fits 32 bits, and its excess is too small to reach the
// next quotient.
struct Division {
  uint32_t divisor = 1;
  uint32_t multiplier = uint32_t{1} << 31;
  int shift = 31;

  constexpr Division() = default;
  constexpr explicit Division(uint32_t by) : divisor(by) {
    int bits = 0;
    while ((uint64_t{1} << bits) < by) bits++;
    shift = 31 + bits;
    multiplier = static_cast<uint32_t>(((uint64_t{1} << shift) + by - 1) / by);
  }
  constexpr uint32_t quotient(uint32_t n) const {
    return static_cast<uint32_t>(uint64_t{n} * multiplier >> shift);
  }
};

}  // namespace nrd::cuda
