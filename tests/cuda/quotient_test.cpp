// SPDX-License-Identifier: MIT
// tests/cuda/quotient_test.cpp: device/quotient.cuh gives the codes of a true division, and the
// conversions of device/formats.cuh are those of base/convert.h.
#include "cuda/device/quotient.cuh"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "base/convert.h"
#include "tests/seed.h"

namespace nrd::cuda::NRD_CUDA_TARGET {
namespace {

// The code that the definition gives, and ours. NaN is 0x7f here, whatever its sign.
template <class Format>
uint32_t plain_code(uint32_t code) {
  const bool is_nan = kSame<Format, f8e4m3> ? (code & 0x7f) == 0x7f : (code & 0x7f) > 0x7c;
  return is_nan ? 0x7f : code;
}
template <class Format>
uint32_t expected_code(float x, float scale) {
  constexpr DType kDtype = kSame<Format, f8e4m3> ? DType::kF8E4M3 : DType::kF8E5M2;
  const auto quotient = static_cast<double>(x / scale);
  return plain_code<Format>(static_cast<uint32_t>(encode(quotient, kDtype, Overflow::kSaturate)));
}
template <class Format>
uint32_t our_code(float x, float scale) {
  divide<1>(&x, quotient_by(scale));
  return plain_code<Format>(narrow_bits<Format, true>(x));
}

template <class Format>
void expect_codes(const std::vector<float>& values, float scale) {
  int wrong = 0;
  for (float x : values) {
    const uint32_t expected = expected_code<Format>(x, scale), ours = our_code<Format>(x, scale);
    if (expected != ours && wrong++ < 3)
      ADD_FAILURE() << x << " / " << scale << ": " << ours << ", not " << expected;
  }
  EXPECT_EQ(wrong, 0) << "with scale " << scale;
}

// All values of a 16-bit dtype.
std::vector<float> all_values(DType dtype) {
  std::vector<float> values;
  for (uint32_t code = 0; code < 65536; code++)
    values.push_back(static_cast<float>(decode(code, dtype)));
  return values;
}

std::vector<float> many_scales() {
  std::vector<float> scales = {
      1,       -1,     0.0f,   -0.0f,       INFINITY,        -INFINITY,  NAN,           1e-45f,
      -1e-40f, 1e-30f, 1e-24f, 0x1p-80f,    0x1.fffffep-81f, 0x1p70f,    0x1.8p70f,     1e30f,
      3.4e38f, 448,    57344,  1.99999988f, 0.333333343f,    1.0f / 448, 3.39e38f / 448};
  std::mt19937 random(test_seed(7));
  for (int i = 0; i < 40; i++) {
    // As scales arise: a 16-bit magnitude over the largest code.
    const uint32_t top = random() % 0x7f80u;
    scales.push_back(float_of_bits(top << 16) / (i % 2 ? 448.0f : 57344.0f));
    scales.push_back(float_of_bits(random() & 0x7fffffffu));
  }
  return scales;
}

TEST(Quotient, GivesTheCodesOfADivisionForEvery16BitValue) {
  for (DType dtype : {DType::kBF16, DType::kF16}) {
    const std::vector<float> values = all_values(dtype);
    for (float scale : many_scales()) {
      expect_codes<f8e4m3>(values, scale);
      expect_codes<f8e5m2>(values, scale);
    }
  }
}

// Values whose quotients lie at and next to the ties between codes.
std::vector<float> values_near_ties(float scale) {
  std::vector<float> values;
  for (int exponent = -12; exponent <= 9; exponent++)
    for (int significand = 16; significand < 32; significand++) {
      const float tie = std::ldexp(static_cast<float>(significand), exponent - 4);
      const auto bits = bits_of_float(tie * scale);
      for (uint32_t apart = 0; apart < 9; apart++)
        values.push_back(float_of_bits(bits + apart - 4));
    }
  return values;
}

TEST(Quotient, GivesTheCodesOfADivisionNextToTies) {
  std::mt19937 random(test_seed(11));
  for (int i = 0; i < 300; i++) {
    const auto exponent = static_cast<uint32_t>(127 - 40 + static_cast<int>(random() % 80));
    const float scale = float_of_bits((exponent << 23) | (random() & 0x7fffffu));
    const std::vector<float> values = values_near_ties(scale);
    expect_codes<f8e4m3>(values, scale);
    expect_codes<f8e5m2>(values, scale);
  }
}

// Whether the code above a tie is taken. The tie is an odd number of halves of the step between
// codes, and itself goes to the even code.
bool goes_up(float quotient, float tie_value, uint64_t tie) {
  const uint64_t halves = tie >> std::countr_zero(tie);
  const bool lower_is_even = (halves - 1) / 2 % 2 == 0;
  return lower_is_even ? quotient > tie_value : quotient >= tie_value;
}

// The proof that quotient.cuh speaks of. Significands are integers: x and scale of 24 bits, ties of
// 5 bits, thresholds (half a unit of f32 beside a tie) in quarters of a unit.
TEST(Quotient, HasNoScaleThatErrs) {
  constexpr uint64_t kHidden = 1 << 23;
  constexpr int kErrorBits = 46;
  int candidates = 0;
  for (uint64_t scale = kHidden; scale < 2 * kHidden; scale++) {
    for (uint64_t tie = 16; tie < 32; tie++) {
      for (uint64_t threshold : {(tie << 21) + 2, (tie << 21) - (tie == 16 ? 1 : 2)}) {
        // The nearest x: threshold * scale is `product`, x is its upper 24 bits.
        const uint64_t product = threshold * scale;
        const int low = 64 - std::countl_zero(product) - 24;
        const uint64_t half = uint64_t{1} << (low - 1);
        const uint64_t x = (product + half) >> low;
        const uint64_t gap = x << low > product ? (x << low) - product : product - (x << low);
        if (gap > (product >> kErrorBits) + 1) continue;
        candidates++;
        const float s = float_of_bits(0x3f800000u | static_cast<uint32_t>(scale - kHidden));
        for (uint64_t near : {x - 1, x, x + 1}) {
          const auto exact = static_cast<float>(near);
          const float quotient = exact / s;
          // The power of two beside the quotient that makes it the tie in question.
          float tie_value = std::ldexp(static_cast<float>(tie), std::ilogb(quotient) - 4);
          if (quotient > 1.5f * tie_value) tie_value *= 2;
          const float ours = divided(exact, quotient_by(s));
          EXPECT_EQ(goes_up(ours, tie_value, tie), goes_up(quotient, tie_value, tie))
              << near << " / " << scale;
        }
      }
    }
  }
  EXPECT_GT(candidates, 0);
  EXPECT_LT(candidates, 200);
}

// ---- conversions ----

template <class Format>
void expect_conversions(const std::vector<float>& values, DType dtype) {
  for (float x : values) {
    const auto wide = static_cast<double>(x);
    ASSERT_EQ((narrow_bits<Format, true>(x)), encode(wide, dtype, Overflow::kSaturate)) << x;
    ASSERT_EQ((narrow_bits<Format, false>(x)), encode(wide, dtype, Overflow::kIeee)) << x;
  }
}

TEST(Formats, NarrowTo8BitsAsConvertDoes) {
  std::vector<float> values = all_values(DType::kBF16);
  for (float x : all_values(DType::kF16)) values.push_back(x);
  std::mt19937 random(test_seed(3));
  for (int i = 0; i < 100000; i++) values.push_back(float_of_bits(random()));
  std::erase_if(values, [](float x) { return std::isnan(x); });
  expect_conversions<f8e4m3>(values, DType::kF8E4M3);
  expect_conversions<f8e5m2>(values, DType::kF8E5M2);
  EXPECT_EQ((narrow_bits<f8e4m3, true>(NAN)) & 0x7f, 0x7fu);
  EXPECT_GT((narrow_bits<f8e5m2, false>(NAN)) & 0x7f, 0x7cu);
}

TEST(Formats, Widen8BitsAsConvertDoes) {
  for (uint32_t code = 0; code < 256; code++) {
    const double e4m3 = decode(code, DType::kF8E4M3), e5m2 = decode(code, DType::kF8E5M2);
    if (e4m3 == e4m3) {
      EXPECT_EQ(static_cast<double>(widen_bits<f8e4m3>(code)), e4m3) << code;
    }
    if (e5m2 == e5m2) {
      EXPECT_EQ(static_cast<double>(widen_bits<f8e5m2>(code)), e5m2) << code;
    }
    EXPECT_EQ(e4m3 == e4m3, widen_bits<f8e4m3>(code) == widen_bits<f8e4m3>(code)) << code;
    EXPECT_EQ(e5m2 == e5m2, widen_bits<f8e5m2>(code) == widen_bits<f8e5m2>(code)) << code;
  }
}

}  // namespace
}  // namespace nrd::cuda::NRD_CUDA_TARGET
