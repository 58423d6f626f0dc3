// SPDX-License-Identifier: MIT
// tests/fuzz/user_functions/corpus/table.c: constants in read-only data.
#include "corpus.h"

static const float kFp4[16] = {0,    0.5f,  1,  1.5f,  2,  3,  4,  6,
                               -0.f, -0.5f, -1, -1.5f, -2, -3, -4, -6};
static const int8_t kNl4[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                1,    13,   25,  38,  53,  69,  89,  113};
static const float kWindow[8] = {0.1f, 0.3f, 0.6f, 1.0f, 1.0f, 0.6f, 0.3f, 0.1f};
static const float kTaps[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
static const int32_t kOrder[4] = {2, 0, 3, 1};
static const double kPoly[4] = {1.0, 0.5, 0.25, 0.125};
static const uint8_t kPop[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};

void table_fp4(const uint8_t* q, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = kFp4[q[i] & 15];
}
void table_fp4_high(const uint8_t* q, float* o, size_t n) {
  for (size_t i = 0; i < n; i++) o[i] = kFp4[q[i] >> 4];
}
void table_fp4_pair(const uint8_t* q, const float* scale, float* o, int n) {
  for (int i = 0; i < n; i++) {
    o[2 * i] = kFp4[q[i] & 15] * scale[i / 16];
    o[2 * i + 1] = kFp4[q[i] >> 4] * scale[i / 16];
  }
}
void table_nl4(const uint8_t* q, float* o, int n, float d) {
  for (int i = 0; i < n; i++) o[i] = d * (float)kNl4[q[i] & 0xf];
}
void table_nl4_blocks(const uint8_t* q, const float* d, float* o, int blocks) {
  for (int b = 0; b < blocks; b++)
    for (int j = 0; j < 16; j++) {
      o[b * 32 + j] = d[b] * kNl4[q[b * 16 + j] & 0xf];
      o[b * 32 + j + 16] = d[b] * kNl4[q[b * 16 + j] >> 4];
    }
}
void table_unmasked(const uint8_t* q, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = kFp4[q[i]];
}
void table_window(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = x[i] * kWindow[i & 7];
}
void table_window_remainder(const float* x, float* o, size_t n) {
  for (size_t i = 0; i < n; i++) o[i] = x[i] * kWindow[i % 8];
}
void table_taps(const float* x, float* o, int n) {
  for (int i = 0; i + 4 < n; i++) {
    float s = 0;
    for (int k = 0; k < 5; k++) s += x[i + k] * kTaps[k];
    o[i] = s;
  }
}
void table_order(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 4; k++) o[4 * i + k] = x[4 * i + kOrder[k]];
}
void table_polynomial(const double* x, double* o, int n) {
  for (int i = 0; i < n; i++) {
    double y = 0;
    for (int k = 3; k >= 0; k--) y = y * x[i] + kPoly[k];
    o[i] = y;
  }
}
void table_popcount(const uint8_t* x, int32_t* o, int n) {
  for (int i = 0; i < n; i++) o[i] = kPop[x[i] & 15] + kPop[x[i] >> 4];
}
void table_by_argument(const float* x, float* o, int n, int which) {
  float s = kWindow[which & 7];
  for (int i = 0; i < n; i++) o[i] = x[i] * s;
}
void table_local(const float* x, float* o, int n) {
  const float scale[3] = {1.0f, 0.5f, 0.25f};
  for (int i = 0; i < n; i++) o[i] = x[i] * scale[i % 3];
}
void table_sign(const float* x, const uint8_t* s, float* o, int n) {
  static const float kSign[2] = {1.0f, -1.0f};
  for (int i = 0; i < n; i++) o[i] = x[i] * kSign[s[i] & 1];
}
void table_two(const uint8_t* q, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = kFp4[q[i] & 15] * kWindow[(q[i] >> 4) & 7];
}
void table_of_float(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) {
    int k = (int)x[i];
    k = k < 0 ? 0 : k > 7 ? 7 : k;
    o[i] = kWindow[k];
  }
}
void table_two_dimensional(const uint8_t* q, float* o, int n) {
  static const float kGrid[4][2] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};
  for (int i = 0; i < n; i++) o[i] = kGrid[q[i] & 3][(q[i] >> 2) & 1];
}
