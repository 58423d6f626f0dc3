/* SPDX-License-Identifier: MIT */
/* tests/unit/user_functions.c: built at -O1 without vectorisation and sanitizers, see CMake. */
#include "user_functions.h"

#include <math.h>

void user_gate(const float* x, const float* y, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = x[i] * tanhf(y[i]);
}

void user_sum(const float* x, float* out, size_t n) {
  float sum = 0;
  for (size_t i = 0; i < n; i++) sum += x[i];
  *out = sum;
}

void user_norm(const float* x, const float* w, float* out, size_t n, float eps) {
  float sum = 0;
  for (size_t i = 0; i < n; i++) sum += x[i] * x[i];
  const float r = 1.0f / sqrtf(sum / (float)(int64_t)n + eps);
  for (size_t i = 0; i < n; i++) out[i] = x[i] * r * w[i];
}

void user_no_const(float* out, float* x, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = x[i] + 1.0f;
}

float user_blend(float a, float b) { return a * 0.25f + b * 0.75f; }

double user_half(double x) { return x * 0.5; }

/* 1 + x needs more than f32 holds for small x. */
void user_wide(const double* x, double* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = 1.0 + x[i];
}

void user_prefix(const float* x, float* out, size_t n) {
  float sum = 0;
  for (size_t i = 0; i < n; i++) {
    sum += x[i];
    out[i] = sum;
  }
}

void user_until(const float* x, float* out, size_t n) {
  size_t i = 0;
  for (; i < n && x[i] >= 0; i++) out[i] = 2 * x[i];
  for (; i < n; i++) out[i] = 0;
}

void user_until_wide(const double* x, double* out, size_t n) {
  size_t i = 0;
  for (; i < n && x[i] >= 0; i++) out[i] = 1.0 + x[i];
  for (; i < n; i++) out[i] = 0;
}

void user_until_index(const int32_t* x, float* out, size_t n) {
  size_t i = 0;
  for (; i < n && x[i] >= 0; i++) out[i] = (float)x[i];
  for (; i < n; i++) out[i] = -1;
}

float user_pick(float x, int32_t which) { return which ? x : -x; }

void user_nothing(const float* x, size_t n) {
  (void)x;
  (void)n;
}

/* What follows a trap is never reached, so the trace is right wherever the function returns. */
static void trap_if(int condition) {
  if (condition) __builtin_trap();
}

void user_trap(const float* x, float* out, size_t n) {
  trap_if(n == 3);
  for (size_t i = 0; i < n; i++) out[i] = 3 * x[i];
}

void user_trap_late(const float* x, float* out, size_t n) {
  trap_if(n > 5000);
  for (size_t i = 0; i < n; i++) out[i] = 3 * x[i];
}

void user_count_up(const float* x, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) {
    trap_if(out[i] > 100);
    out[i] += 1 + 0 * x[i];
  }
}

void user_scaled(const float* x, const float* s, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = x[i] * s[i / 32];
}

void user_next(const float* x, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = x[i + 1] - x[i];
}

void user_square(const float* x, float* out, int32_t n) {
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < n; j++) out[j * n + i] = x[i * n + j];
}

void user_bytes(const float* table, const uint8_t* b, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = table[b[i]];
}

void user_gather(const float* x, const int32_t* j, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = 2 * x[j[i]];
}

void user_by_float(const float* x, const float* at, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = x[(int32_t)at[i]];
}

void user_add_to(const float* x, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] += x[i];
}

void user_swap(const float* x, float* out, size_t n) {
  for (size_t i = 0; i != n; i += 2) {
    out[i] = x[i + 1];
    out[i + 1] = x[i];
  }
}

void user_where_positive(const float* x, float* out, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (x[i] > 0) out[i] = x[i];
}

void user_times(const float* x, float* out, size_t n, int32_t m) {
  for (size_t i = 0; i < n; i++) out[i] = x[i] * (float)m;
}

void user_window(const float* x, float* out, size_t n, size_t m) {
  for (size_t i = 0; i < n; i++) {
    float sum = 0;
    for (size_t j = 0; j < m; j++) sum += x[i + j];
    out[i] = sum;
  }
}

float user_dot(const float* x, const float* y, size_t n) {
  float sum = 0;
  for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}

int32_t user_largest(const float* x, int32_t n) {
  int32_t at = 0;
  float best = x[0];
  for (int32_t i = 1; i < n; i++)
    if (x[i] > best) {
      best = x[i];
      at = i;
    }
  return at;
}
