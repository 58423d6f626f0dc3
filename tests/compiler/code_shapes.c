// SPDX-License-Identifier: MIT
// tests/compiler/code_shapes.c: what compilers make of loops, divisions and tables, by hand.
#include "code_shapes.h"

// Unrolled by four, the rest behind: what clang makes of a loop.
#define UNROLLED(n, copy)                     \
  size_t i = 0;                               \
  if ((n) >= 4)                               \
    for (; i != ((n) & ~(size_t)3);) {        \
      copy(0) copy(1) copy(2) copy(3) i += 4; \
    }                                         \
  for (size_t k = 0; k != ((n)&3); k++) {     \
    const size_t j = i + k;                   \
    REST                                      \
  }

void rolled_map(const float* x, float* out, size_t n) {
#define COPY(c) out[i + c] = 2.0f * x[i + c] + 1.0f;
#define REST out[j] = 2.0f * x[j] + 1.0f;
  UNROLLED(n, COPY)
#undef COPY
#undef REST
}

void rolled_sum(const float* x, float* out, size_t n) {
  float s = 0;
#define COPY(c) s += x[i + c] * x[i + c];
#define REST s += x[j] * x[j];
  UNROLLED(n, COPY)
#undef COPY
#undef REST
  *out = s;
}

void rolled_reverse(const float* x, float* out, size_t n) {
#define COPY(c) out[i + c] = x[n - 1 - (i + c)];
#define REST out[j] = x[n - 1 - j];
  UNROLLED(n, COPY)
#undef COPY
#undef REST
}

// One copy is another.
void odd_copy(const float* x, float* out, size_t n) {
#define COPY(c) out[i + c] = (c == 2 ? 3.0f : 2.0f) * x[i + c];
#define REST out[j] = 2.0f * x[j];
  UNROLLED(n, COPY)
#undef COPY
#undef REST
}

// The copies have changed places: a sum in another order is another sum.
void other_order(const float* x, float* out, size_t n) {
  float s = 0;
#define COPY(c) s = s * 0.5f + x[i + (c ^ 1)];
#define REST s = s * 0.5f + x[j];
  UNROLLED(n, COPY)
#undef COPY
#undef REST
  *out = s;
}

void from_three_on(const float* x, float* out, size_t n) {
  if (n < 3) return;
  for (size_t i = 0; i < n; i++) out[i] = x[i] * 2.0f;
}

#define QUOTIENTS(name, value, type)                                                     \
  void name(const int32_t* x, int32_t* out, size_t n) {                                  \
    for (size_t i = 0; i < n; i++) {                                                     \
      const type v = (type)(value);                                                      \
      out[i] = (int32_t)(v / 3 + v / 5 * 2 + v / 7 * 3 + v / 10 % 6 + v / 12 + v % 100 + \
                         v / 641 * 7 + v / 1000003 + v % 2147483647);                    \
    }                                                                                    \
  }
QUOTIENTS(quotients_i32, x[i], int32_t)
QUOTIENTS(quotients_u32, x[i], uint32_t)
QUOTIENTS(quotients_u8, x[i] >> 5 & 255, int)
QUOTIENTS(quotients_i64, x[i], int64_t)
QUOTIENTS(quotients_u64, (uint32_t)x[i], uint64_t)

// Nearly what x / 3 is compiled to.
void no_quotient(const int32_t* x, int32_t* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = (int32_t)((uint64_t)(uint32_t)x[i] * 2863311529u >> 33);
}

void blocks_of_twelve(const float* x, const float* scale, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = x[i] * scale[i / 12];
}

static const float kFour[4] = {0.5f, -0.0f, 3.0f, -7.0f};
static const int8_t kHundred[100] = {-100, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, [50] = -1, [99] = 99};
static const double kThree[3] = {0.1, 0.2, 0.3};
static const int32_t kGrid[4][8] = {
    {1, 2, 3, 4, 5, 6, 7, 8}, [3] = {-1, -2, -3, -4, -5, -6, -7, -8}};

void table_by_mask(const int32_t* q, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = kFour[q[i] & 3];
}
void table_by_clamp(const int32_t* q, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) {
    int k = q[i];
    if (k < 0) k = 0;
    if (k > 99) k = 99;
    out[i] = (float)kHundred[k];
  }
}
void table_by_remainder(const int32_t* q, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = (float)q[i] * (float)kHundred[i % 100];
}
void table_by_condition(const int32_t* q, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = q[i] >= 0 && q[i] < 3 ? (float)kThree[q[i]] : -1.0f;
}
void table_of_two_axes(const int32_t* q, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = (float)kGrid[q[i] & 3][q[i] >> 4 & 7];
}
void table_of_taps(const int32_t* q, float* out, size_t n) {
  for (size_t i = 0; i + 2 < n; i++) {
    float s = 0;
    for (size_t k = 0; k < 3; k++) s += (float)q[i + k] * (float)kThree[k];
    out[i] = s;
  }
}
void table_unchecked(const int32_t* q, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = kFour[q[i]];
}
