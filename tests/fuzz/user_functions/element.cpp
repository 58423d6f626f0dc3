// SPDX-License-Identifier: MIT
// tests/fuzz/user_functions/element.cpp: what is stored for a number in each dtype.
#include "element.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace judge {
namespace {

template <class T>
T get(const void* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}
template <class T>
void put(T value, void* at) {
  std::memcpy(at, &value, sizeof value);
}

// A binary format of 16 bits: precision with the hidden bit, exponent bias.
struct Half {
  int precision, bias;
};
constexpr Half kF16{11, 15}, kBf16{8, 127};

double round_half(Half format, double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int exponent = std::max(std::ilogb(value), 1 - format.bias);
  const double unit = std::ldexp(1.0, exponent - (format.precision - 1));
  const double result = std::nearbyint(value / unit) * unit;
  const double most = std::ldexp(2.0 - std::ldexp(1.0, 1 - format.precision), format.bias);
  return std::fabs(result) > most ? std::copysign(INFINITY, value) : result;
}

uint16_t half_bits(Half format, double value) {
  const int fraction_bits = format.precision - 1;
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const int all = (1 << (15 - fraction_bits)) - 1;  // the exponent of infinity
  if (std::isnan(value))  // as half_value makes it: functions that look at its bits see the same
    return static_cast<uint16_t>(all << fraction_bits | 1 << (fraction_bits - 1));
  const double size = std::fabs(round_half(format, value));
  if (std::isinf(size)) return static_cast<uint16_t>(sign | all << fraction_bits);
  if (size == 0) return sign;
  const int exponent = std::max(std::ilogb(size), 1 - format.bias);
  const auto fraction =
      static_cast<int>(std::ldexp(size, fraction_bits - exponent));  // with the hidden bit
  const int biased = fraction >> fraction_bits ? exponent + format.bias : 0;
  return static_cast<uint16_t>(sign | biased << fraction_bits |
                               (fraction & ((1 << fraction_bits) - 1)));
}

double half_value(Half format, uint16_t bits) {
  const int fraction_bits = format.precision - 1;
  const int all = (1 << (15 - fraction_bits)) - 1;
  const int biased = bits >> fraction_bits & all, fraction = bits & ((1 << fraction_bits) - 1);
  double size;
  if (biased == all)
    size = fraction ? std::numeric_limits<double>::quiet_NaN() : INFINITY;
  else
    size = std::ldexp(biased ? fraction | 1 << fraction_bits : fraction,
                      std::max(biased, 1) - format.bias - fraction_bits);
  return bits & 0x8000 ? -size : size;
}

}  // namespace

uint64_t Random::next() {  // splitmix64
  uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

double Random::normal() {  // the sum of four is close enough
  return (uniform() + uniform() + uniform() + uniform() - 2.0) * 1.7;
}

bool is_real(nereid_dtype dtype) { return dtype <= NEREID_BF16; }

double load(nereid_dtype dtype, const void* at) {
  switch (dtype) {
    case NEREID_F64: return get<double>(at);
    case NEREID_F32: return static_cast<double>(get<float>(at));
    case NEREID_F16: return half_value(kF16, get<uint16_t>(at));
    case NEREID_BF16: return half_value(kBf16, get<uint16_t>(at));
    case NEREID_I8: return get<int8_t>(at);
    case NEREID_U8: return get<uint8_t>(at);
    default: return get<int32_t>(at);
  }
}

void store(nereid_dtype dtype, double value, void* at) {
  switch (dtype) {
    case NEREID_F64: return put(value, at);
    case NEREID_F32: return put(static_cast<float>(value), at);
    case NEREID_F16: return put(half_bits(kF16, value), at);
    case NEREID_BF16: return put(half_bits(kBf16, value), at);
    case NEREID_I8: return put(static_cast<int8_t>(value), at);
    case NEREID_U8: return put(static_cast<uint8_t>(value), at);
    default: return put(static_cast<int32_t>(value), at);
  }
}

double rounded(nereid_dtype dtype, double value) {
  switch (dtype) {
    case NEREID_F32: return static_cast<double>(static_cast<float>(value));
    case NEREID_F16: return round_half(kF16, value);
    case NEREID_BF16: return round_half(kBf16, value);
    default: return value;
  }
}

}  // namespace judge
