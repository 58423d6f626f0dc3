// SPDX-License-Identifier: MIT
// tests/fuzz/user_functions/corpus/bits.c: floats as bits, bits as floats.
#include "corpus.h"

void bits_abs(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) {
    uint32_t u;
    memcpy(&u, &x[i], 4);
    u &= 0x7fffffff;
    memcpy(&o[i], &u, 4);
  }
}
void bits_negate(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) {
    union {
      float f;
      uint32_t u;
    } v = {x[i]};
    v.u ^= 0x80000000u;
    o[i] = v.f;
  }
}
void bits_truncate_bf16(const float* x, float* o, size_t n) {
  for (size_t i = 0; i < n; i++) {
    uint32_t u;
    memcpy(&u, x + i, 4);
    u &= 0xffff0000u;
    memcpy(o + i, &u, 4);
  }
}
void bits_round_bf16(const float* x, float* o, size_t n) {
  for (size_t i = 0; i < n; i++) {
    uint32_t u;
    memcpy(&u, x + i, 4);
    u = (u + 0x7fff + ((u >> 16) & 1)) & 0xffff0000u;
    memcpy(o + i, &u, 4);
  }
}
void bits_exponent(const float* x, int32_t* o, int n) {
  for (int i = 0; i < n; i++) {
    uint32_t u;
    memcpy(&u, &x[i], 4);
    o[i] = (int32_t)((u >> 23) & 255) - 127;
  }
}
void bits_power_of_two(const int32_t* e, float* o, int n) {
  for (int i = 0; i < n; i++) {
    uint32_t u = (uint32_t)((e[i] & 63) + 100) << 23;
    memcpy(&o[i], &u, 4);
  }
}
void bits_sign(const float* x, uint8_t* o, int n) {
  for (int i = 0; i < n; i++) o[i] = signbit(x[i]) != 0;
}
static float half_to_float(uint16_t h) {
  uint32_t sign = (uint32_t)(h & 0x8000) << 16, e = (h >> 10) & 31, m = h & 1023, u;
  if (e == 0) {
    float v = (float)m * 5.9604645e-8f;
    return sign ? -v : v;
  }
  u = sign | (e == 31 ? 0x7f800000u : (e + 112) << 23) | m << 13;
  float f;
  memcpy(&f, &u, 4);
  return f;
}
void bits_half(const uint8_t* x, float* o, int n) {
  for (int i = 0; i < n; i++) {
    uint16_t h;
    memcpy(&h, x + 2 * i, 2);
    o[i] = half_to_float(h);
  }
}
void bits_half_put_together(const uint8_t* x, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = half_to_float((uint16_t)(x[2 * i] | x[2 * i + 1] << 8));
}
void bits_half_scale_block(const uint8_t* b, float* o, int blocks) {
  for (int k = 0; k < blocks; k++) {
    uint16_t h;
    memcpy(&h, b + 18 * k, 2);
    float d = half_to_float(h);
    for (int j = 0; j < 16; j++) {
      o[32 * k + j] = d * (float)((b[18 * k + 2 + j] & 15) - 8);
      o[32 * k + j + 16] = d * (float)((b[18 * k + 2 + j] >> 4) - 8);
    }
  }
}
void bits_fp8(const uint8_t* x, float* o, int n) {
  for (int i = 0; i < n; i++) {
    int e = (x[i] >> 3) & 15, m = x[i] & 7;
    float v = e ? ldexpf((float)(8 + m), e - 10) : (float)m * 0.001953125f;
    o[i] = x[i] & 128 ? -v : v;
  }
}
void bits_e8m0(const uint8_t* x, float* o, int n) {
  for (int i = 0; i < n; i++) {
    uint32_t u = (uint32_t)x[i] << 23;
    memcpy(&o[i], &u, 4);
  }
}
void bits_int4(const uint8_t* q, int8_t* o, int n) {
  for (int i = 0; i < n; i++) {
    o[2 * i] = (int8_t)((int8_t)(q[i] << 4) >> 4);
    o[2 * i + 1] = (int8_t)((int8_t)q[i] >> 4);
  }
}
void bits_ternary(const uint8_t* q, int8_t* o, int n) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 4; k++) o[4 * i + k] = (int8_t)((q[i] >> (2 * k)) & 3) - 1;
}
void bits_unpack(const uint8_t* q, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = (float)((q[i >> 3] >> (i & 7)) & 1);
}
void bits_pack(const float* x, uint8_t* q, int n) {
  for (int i = 0; i < n; i++) {
    uint8_t b = 0;
    for (int k = 0; k < 8; k++) b |= (uint8_t)((x[8 * i + k] > 0) << k);
    q[i] = b;
  }
}
void bits_xor(const uint8_t* a, const uint8_t* b, uint8_t* o, int n) {
  for (int i = 0; i < n; i++) o[i] = a[i] ^ b[i];
}
void bits_inverse_root(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) {
    float v = fabsf(x[i]) + 0.001f;
    uint32_t u;
    memcpy(&u, &v, 4);
    u = 0x5f3759df - (u >> 1);
    float y;
    memcpy(&y, &u, 4);
    o[i] = y * (1.5f - 0.5f * v * y * y);
  }
}
