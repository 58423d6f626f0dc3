// SPDX-License-Identifier: MIT
// tests/compiler/corpus/usual.cpp: what users write most, beside corpus.cpp and listed there.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#define API extern "C" __attribute__((visibility("default")))

// ---- integers from memory: they wrap, and may be negative ----
static inline float half_of_bits(uint16_t h) {
  const uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = (h >> 10) & 31,
                 mantissa = h & 1023;
  uint32_t bits;
  if (exponent == 0) {
    const float small = (float)mantissa * 5.9604644775390625e-8f;
    std::memcpy(&bits, &small, 4);
    bits |= sign;
  } else if (exponent == 31) {
    bits = sign | 0x7f800000u | (mantissa << 13);
  } else {
    bits = sign | ((exponent + 112) << 23) | (mantissa << 13);
  }
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}
API void u_f16_bytes(const uint8_t* x, float* out, int n) {
  for (int i = 0; i < n; i++) out[i] = half_of_bits((uint16_t)(x[2 * i] | (x[2 * i + 1] << 8)));
}
API void u_bf16_bytes(const uint8_t* x, float* out, int n) {
  for (int i = 0; i < n; i++) {
    const uint32_t bits = (uint32_t)(x[2 * i] | (x[2 * i + 1] << 8)) << 16;
    float value;
    std::memcpy(&value, &bits, 4);
    out[i] = value;
  }
}
API void u_byte_sign(const uint8_t* x, float* out, int n) {
  for (int i = 0; i < n; i++) {
    const int v = (int)((uint32_t)x[i] << 24);
    out[i] = v < 0 ? -1.0f : (float)v;
  }
}
API void u_nibbles_signed(const uint8_t* x, float* out, int n) {
  for (int i = 0; i < n; i++) out[i] = (float)((int)((uint32_t)(x[i] & 15) << 28) >> 28);
}
API void u_difference_sign(const int* x, const int* y, float* out, int n) {
  for (int i = 0; i < n; i++) out[i] = (int)((unsigned)x[i] - (unsigned)y[i]) < 0 ? 1.0f : 2.0f;
}
API void u_hash_of_data(const int* x, float* out, int n) {
  for (int i = 0; i < n; i++) out[i] = (float)(((unsigned)x[i] * 2654435761u) >> 8);
}
API void u_nibbles(const uint8_t* x, float* out, int n) {
  for (int i = 0; i < n; i++) {
    out[2 * i] = (float)((x[i] & 15) - 8);
    out[2 * i + 1] = (float)((x[i] >> 4) - 8);
  }
}
API void u_quotient_of_data(const int* x, float* out, int n) {
  for (int i = 0; i < n; i++) out[i] = (float)(x[i] / 10 + x[i] % 7);
}
API void u_quarter_of_data(const int* x, float* out, int n) {
  for (int i = 0; i < n; i++) out[i] = (float)(x[i] / 4);
}

// ---- quotients of counters ----
API void u_block_scale(const float* x, const float* s, float* out, int n) {
  for (int i = 0; i < n; i++) out[i] = x[i] * s[i / 32];
}
API void u_thirds(const float* x, const float* s, float* out, int n) {
  for (int i = 0; i < n; i++) out[i] = x[i] * s[i / 3];
}
API void u_channels(const float* x, const float* s, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = x[i] * s[i % 3];
}
API void u_negative_quotient(float* out, int n) {
  for (int i = 0; i < n; i++) out[i] = (float)((i - 3) / 2 + (i - 5) % 3);
}

// ---- what a function of pointers returns ----
API float u_dot(const float* x, const float* y, size_t n) {
  float sum = 0;
  for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}
API double u_dot_double(const float* x, const float* y, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += (double)x[i] * y[i];
  return sum;
}
API float u_norm(const float* x, int n) {
  float sum = 0;
  for (int i = 0; i < n; i++) sum += x[i] * x[i];
  return sqrtf(sum);
}
API int u_sum_of_words(const int* x, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) sum += x[i];
  return sum;
}
API float u_max(const float* x, size_t n) {
  float best = x[0];
  for (size_t i = 1; i < n; i++) best = fmaxf(best, x[i]);
  return best;
}
API float u_min_if(const float* x, int n) {
  float best = x[0];
  for (int i = 1; i < n; i++)
    if (x[i] < best) best = x[i];
  return best;
}
API int u_argmax(const float* x, int n) {
  int at = 0;
  float best = x[0];
  for (int i = 1; i < n; i++)
    if (x[i] > best) {
      best = x[i];
      at = i;
    }
  return at;
}

// ---- constants in read-only memory ----
static const float kLevels[16] = {
    -1.0f,      -0.6961928f, -0.5250731f, -0.3949175f, -0.28444f,  -0.1847734f, -0.09105f,  0.0f,
    0.0795803f, 0.1609302f,  0.2461123f,  0.3379152f,  0.4407098f, 0.562617f,   0.7229568f, 1.0f};
API void u_levels(const uint8_t* q, const float* s, float* out, int n) {
  for (int i = 0; i < n; i++) out[i] = kLevels[q[i] & 15] * s[i / 32];
}
static const int8_t kCodes[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                  1,    13,   25,  38,  53,  69,  89,  113};
API void u_codes(const uint8_t* q, float* out, int n, float scale) {
  for (int i = 0; i < n; i++) out[i] = scale * kCodes[q[i] >> 4];
}
API void u_halves_of_bytes(const uint8_t* q, float* out, int n) {
  for (int i = 0; i < n; i++) {
    const int code = (i & 1) ? q[i / 2] >> 4 : q[i / 2] & 15;
    out[i] = kLevels[code];
  }
}

// ---- several elements in one load ----
API void u_bf16_memcpy(const uint8_t* x, float* out, int n) {
  for (int i = 0; i < n; i++) {
    uint16_t half;
    std::memcpy(&half, x + 2 * i, 2);
    const uint32_t bits = (uint32_t)half << 16;
    float value;
    std::memcpy(&value, &bits, 4);
    out[i] = value;
  }
}
API void u_float_from_bytes(const uint8_t* x, float* out, int n) {
  for (int i = 0; i < n; i++) {
    float value;
    std::memcpy(&value, x + 4 * i, 4);
    out[i] = value;
  }
}
API void u_f16_union(const uint8_t* x, float* out, int n) {
  for (int i = 0; i < n; i++) {
    uint16_t half;
    std::memcpy(&half, x + 2 * i, 2);
    const uint32_t w = (uint32_t)half << 16, sign = w & 0x80000000u, twice = w + w;
    union {
      uint32_t bits;
      float value;
    } normal, denormal, result;
    normal.bits = (twice >> 4) + (0xE0u << 23);
    denormal.bits = (twice >> 17) | (126u << 23);
    result.value = twice < (1u << 27) ? denormal.value - 0.5f : normal.value * 0x1.0p-112f;
    result.bits |= sign;
    out[i] = result.value;
  }
}
