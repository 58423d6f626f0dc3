// SPDX-License-Identifier: MIT
// tests/fuzz/user_functions/corpus/nasty.c: what must be refused, or right.
#include "corpus.h"

static float nasty_global = 1.5f;
static float nasty_buffer[64];
static int nasty_calls;

void nasty_reads_global(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = x[i] * nasty_global;
}
void nasty_writes_global(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = x[i];
  nasty_global = nasty_global == 1.5f ? 1.5f : 2.0f;
}
void nasty_counts_calls(const float* x, float* o, int n) {
  nasty_calls++;
  for (int i = 0; i < n; i++) o[i] = x[i] + (nasty_calls > 1000000000 ? 1 : 0);
}
void nasty_uses_buffer(const float* x, float* o, int n) {
  for (int i = 0; i < n && i < 64; i++) nasty_buffer[i] = x[i];
  for (int i = 0; i < n && i < 64; i++) o[i] = nasty_buffer[i] * 2;
}
void nasty_stack_array(const float* x, float* o, int n) {
  float t[32];
  for (int i = 0; i < n; i += 32) {
    int count = n - i < 32 ? n - i : 32;
    for (int j = 0; j < count; j++) t[j] = x[i + j];
    for (int j = 0; j < count; j++) o[i + j] = t[count - 1 - j];
  }
}
void nasty_until_zero(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) {
    if (x[i] == 0) break;
    o[i] = x[i];
  }
}
void nasty_find(const float* x, int32_t* o, int n, float v) {
  o[0] = -1;
  for (int i = 0; i < n; i++)
    if (x[i] == v) {
      o[0] = i;
      return;
    }
}
void nasty_until_sentinel(const float* x, float* o) {
  while (*x != 0) *o++ = *x++;
}
static float nasty_recursive(const float* x, int n) {
  return n <= 1 ? (n == 1 ? x[0] : 0)
                : nasty_recursive(x, n / 2) + nasty_recursive(x + n / 2, n - n / 2);
}
void nasty_pairwise_sum(const float* x, float* o, int n) { *o = nasty_recursive(x, n); }
void nasty_long_inner(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) {
    float v = x[i];
    for (int k = 0; k < 500000; k++) v = v * 0.999999f;
    o[i] = v;
  }
}
void nasty_newton(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) {
    float y = 1;
    while (fabsf(y * y - fabsf(x[i])) > 0.001f * (1 + fabsf(x[i])))
      y = 0.5f * (y + fabsf(x[i]) / y);
    o[i] = y;
  }
}
void nasty_sort(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = x[i];
  for (int i = 1; i < n; i++)
    for (int j = i; j > 0 && o[j] < o[j - 1]; j--) {
      float t = o[j];
      o[j] = o[j - 1];
      o[j - 1] = t;
    }
}
void nasty_product_of_sizes(const float* x, float* o, int n, int m) {
  for (int i = 0; i < n * m; i++) o[i] = x[i];
}
void nasty_wraps(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = x[(i * 0x10001) & 0xff];
}
void nasty_byte_counter(const float* x, float* o, int n) {
  for (uint8_t i = 0; i < n; i++) o[i] = x[i];
}
void nasty_short_index(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = x[(int8_t)i & 127];
}
void nasty_squares(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = x[i * i];
}
void nasty_powers(const float* x, float* o, int n) {
  for (int i = 1; i < n; i *= 2) o[i] = x[i];
}
void nasty_halving(const float* x, float* o, int n) {
  float s = 0;
  for (int i = n; i > 0; i /= 2) s += x[i - 1];
  *o = s;
}
void nasty_pointer_compare(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = x < (const float*)o ? x[i] : x[i];
}
void nasty_reads_after_write(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) {
    o[i] = x[i];
    o[i] = o[i] + x[n - 1 - i];
  }
}
void nasty_input_order(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = x[n - 1 - i] + (i ? o[i - 1] : 0);
}
void nasty_volatile(const volatile float* x, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = x[i] - x[i];
}
void nasty_no_pointer_writes(const float* x, const float* y, int n) {
  (void)x;
  (void)y;
  (void)n;
}
void nasty_writes_const(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) {
    ((float*)x)[i] = 0;
    o[i] = 1;
  }
}
void nasty_negative_size(const float* x, float* o, int n) {
  for (int i = n; i < 0; i++) o[0] = 1;
  for (int i = 0; i < n; i++) o[i] = x[i];
}
void nasty_fixed_reach(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = x[i] + x[100];
}
void nasty_far_reach(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = n > 1000 ? x[i + 1000000] : x[i];
}
void nasty_small_sizes_differ(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = n > 150 ? x[n - 1] : x[i];
}
void nasty_odd_only(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = n & 1 ? x[i] : x[i] + x[n];
}
