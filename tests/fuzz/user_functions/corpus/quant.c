// SPDX-License-Identifier: MIT
// tests/fuzz/user_functions/corpus/quant.c: weights and activations in a few bits, as engines
// pack, decode and multiply them.
#include "corpus.h"

static const float kNormalFloat[16] = {-1.0f,    -0.6962f, -0.5251f, -0.3949f, -0.2844f, -0.1848f,
                                       -0.0911f, 0.0f,     0.0796f,  0.1609f,  0.2461f,  0.3379f,
                                       0.4407f,  0.5626f,  0.7230f,  1.0f};
static const float kFp4[16] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6, 0, -0.5f, -1, -1.5f, -2, -3, -4, -6};

// A byte to a float, as an FP8 decoder keeps it: 256 entries.
#define ROW(x) x, x + 0.125f, x + 0.25f, x + 0.375f, x + 0.5f, x + 0.625f, x + 0.75f, x + 0.875f
#define ROWS(x) \
  ROW(x), ROW(x + 1), ROW(x + 2), ROW(x + 3), ROW(x + 4), ROW(x + 5), ROW(x + 6), ROW(x + 7)
static const float kByteToFloat[256] = {ROWS(-16.0f), ROWS(-8.0f), ROWS(0.5f), ROWS(8.25f)};
#define STEP(x) (x) * 3, 120 - (x), (x)-60, (x) / 2
#define STEPS(x)                                                                      \
  STEP(x), STEP((x) + 1), STEP((x) + 2), STEP((x) + 3), STEP((x) + 4), STEP((x) + 5), \
      STEP((x) + 6), STEP((x) + 7)
static const int8_t kCodebook[128] = {STEPS(0), STEPS(8), STEPS(16), STEPS(24)};

void quant_q4_zero_point(const uint8_t* q, const float* scale, const float* zero, float* o, int n) {
  for (int i = 0; i < n; i++) {
    const int code = i % 2 ? q[i / 2] >> 4 : q[i / 2] & 15;
    o[i] = ((float)code - zero[i / 32]) * scale[i / 32];
  }
}
void quant_q4_blocks(const uint8_t* restrict q, const float* restrict d, float* restrict o,
                     int64_t n) {
  const int64_t blocks = n / 32;
  for (int64_t b = 0; b < blocks; b++) {
    for (int j = 0; j < 16; j++) {
      const int low = (q[b * 16 + j] & 0x0F) - 8;
      const int high = (q[b * 16 + j] >> 4) - 8;
      o[b * 32 + j] = (float)low * d[b];
      o[b * 32 + j + 16] = (float)high * d[b];
    }
  }
}
void quant_nf4(const uint8_t* q, const float* amax, float* o, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const uint8_t byte = q[i];
    o[2 * i] = kNormalFloat[byte >> 4] * amax[i / 32];
    o[2 * i + 1] = kNormalFloat[byte & 0x0F] * amax[i / 32];
  }
}
void quant_fp4_shifted(const uint8_t* q, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = kFp4[(q[i >> 1] >> ((i & 1) * 4)) & 15];
}
void quant_byte_table(const uint8_t* q, float* o, size_t n) {
  for (size_t i = 0; i < n; i++) o[i] = kByteToFloat[q[i]];
}
void quant_byte_table_scaled(const uint8_t* q, const float* scale, float* o, int rows, int cols) {
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < cols; c++) o[r * cols + c] = kByteToFloat[q[r * cols + c]] * scale[r];
}
void quant_byte_table_dot(const uint8_t* q, const float* x, float* o, int n) {
  float s = 0;
  for (int i = 0; i < n; i++) s += kByteToFloat[q[i]] * x[i];
  *o = s;
}
void quant_codebook(const uint8_t* q, int8_t* o, int n) {
  for (int i = 0; i < n; i++) o[i] = kCodebook[q[i] & 127];
}
void quant_codebook_by_index(const int32_t* q, float* o, int n) {
  for (int i = 0; i < n; i++) {
    int k = q[i];
    if (k < 0) k = 0;
    if (k > 127) k = 127;
    o[i] = (float)kCodebook[k] / 128.0f;
  }
}
void quant_codebook_signed(const int8_t* q, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = kByteToFloat[q[i] + 128];
}
void quant_codebook_by_counter(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = x[i] * (float)kCodebook[i % 100];
}
void quant_codebook_unchecked(const int32_t* q, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = kByteToFloat[q[i]];
}
void quant_q5(const uint8_t* low, const uint8_t* high, const float* d, float* o, int n) {
  for (int i = 0; i < n; i++) {
    const int l = (low[i / 2] >> (4 * (i % 2))) & 15;
    const int h = (high[i / 8] >> (i % 8)) & 1;
    o[i] = (float)((l | h << 4) - 16) * d[i / 32];
  }
}
void quant_q2(const uint8_t* q, const float* d, const float* m, float* o, int n) {
  for (int i = 0; i < n; i++)
    o[i] = d[i / 16] * (float)((q[i / 4] >> (2 * (i % 4))) & 3) - m[i / 16];
}
void quant_q8_per_row(const float* x, int8_t* q, float* scale, int rows, int cols) {
  for (int r = 0; r < rows; r++) {
    float amax = 0;
    for (int c = 0; c < cols; c++) amax = fmaxf(amax, fabsf(x[r * cols + c]));
    const float s = amax / 127.0f, inverse = s > 0 ? 1.0f / s : 0.0f;
    scale[r] = s;
    for (int c = 0; c < cols; c++) q[r * cols + c] = (int8_t)rintf(x[r * cols + c] * inverse);
  }
}
void quant_u8_min_max(const float* x, uint8_t* q, float* scale, float* low, int n) {
  float a = x[0], b = x[0];
  for (int i = 1; i < n; i++) {
    if (x[i] < a) a = x[i];
    if (x[i] > b) b = x[i];
  }
  const float s = (b - a) / 255.0f;
  for (int i = 0; i < n; i++) q[i] = (uint8_t)(s > 0 ? (x[i] - a) / s + 0.5f : 0.0f);
  *scale = s;
  *low = a;
}
void quant_pack_nibbles(const float* x, uint8_t* q, int n, float inverse) {
  for (int i = 0; i < n / 2; i++) {
    int a = (int)rintf(x[2 * i] * inverse) + 8, b = (int)rintf(x[2 * i + 1] * inverse) + 8;
    a = a < 0 ? 0 : a > 15 ? 15 : a;
    b = b < 0 ? 0 : b > 15 ? 15 : b;
    q[i] = (uint8_t)(a | b << 4);
  }
}
void quant_dot_i8(const int8_t* a, const int8_t* b, const float* sa, const float* sb, float* o,
                  int n) {
  int32_t s = 0;
  for (int i = 0; i < n; i++) s += (int32_t)a[i] * (int32_t)b[i];
  *o = (float)s * sa[0] * sb[0];
}
void quant_dot_blocks(const int8_t* a, const int8_t* b, const float* sa, const float* sb, float* o,
                      int blocks) {
  float total = 0;
  for (int k = 0; k < blocks; k++) {
    int s = 0;
    for (int i = 0; i < 32; i++) s += a[32 * k + i] * b[32 * k + i];
    total += (float)s * sa[k] * sb[k];
  }
  *o = total;
}
void quant_gemv_i8(const int8_t* w, const float* scale, const float* x, float* y, int rows,
                   int cols) {
  for (int r = 0; r < rows; r++) {
    float s = 0;
    for (int c = 0; c < cols; c++) s += (float)w[r * cols + c] * x[c];
    y[r] = s * scale[r];
  }
}
void quant_group_scales(const float* x, const float* s, float* o, int rows, int cols, int group) {
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < cols; c++)
      o[r * cols + c] = x[r * cols + c] * s[r * (cols / group) + c / group];
}
void quant_clamp_step(const float* x, float* o, int n, float low, float high, float step) {
  for (int i = 0; i < n; i++) {
    float v = x[i];
    if (v < low) v = low;
    if (v > high) v = high;
    o[i] = floorf((v - low) / step + 0.5f) * step + low;
  }
}
void quant_bf16_bytes(const uint8_t* x, float* o, int n) {
  for (int i = 0; i < n; i++) {
    uint16_t h;
    memcpy(&h, x + 2 * i, sizeof h);
    const uint32_t u = (uint32_t)h << 16;
    memcpy(o + i, &u, sizeof u);
  }
}
void quant_to_bf16_bytes(const float* x, uint8_t* o, int n) {
  for (int i = 0; i < n; i++) {
    uint32_t u;
    memcpy(&u, x + i, 4);
    const uint16_t h = (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
    memcpy(o + 2 * i, &h, 2);
  }
}
