// SPDX-License-Identifier: MIT
// tests/fuzz/user_functions/corpus/integer.c: integers that are no sizes.
#include "corpus.h"

void integer_value(const float* x, float* o, int n, int m) {
  for (int i = 0; i < n; i++) o[i] = x[i] * (float)m;
}
void integer_value_size(const float* x, float* o, size_t n, size_t m) {
  for (size_t i = 0; i < n; i++) o[i] = x[i] + (float)m;
}
void integer_power(const float* x, float* o, int n, int power) {
  for (int i = 0; i < n; i++) {
    float p = 1;
    for (int k = 0; k < power; k++) p *= x[i];
    o[i] = p;
  }
}
void integer_times(const float* x, float* o, int n, int times) {
  for (int i = 0; i < n; i++) {
    float v = x[i];
    for (int t = 0; t < times; t++) v = 0.5f * (v + 1.0f);
    o[i] = v;
  }
}
void integer_shift_value(const int32_t* x, int32_t* o, int n, int s) {
  for (int i = 0; i < n; i++) o[i] = x[i] >> (s & 31);
}
void integer_shift_index(const float* x, const float* sc, float* o, int n, int s) {
  for (int i = 0; i < n; i++) o[i] = x[i] * sc[i >> s];
}
void integer_modulus_value(const float* x, float* o, int n, int m) {
  for (int i = 0; i < n; i++) o[i] = x[i] + (float)(i % m);
}
void integer_every_mth(const float* x, float* o, int n, int m) {
  for (int i = 0; i < n; i++) o[i] = i % m == 0 ? x[i] : 0;
}
void integer_start(const float* x, float* o, int n, int start) {
  for (int i = start; i < n; i++) o[i] = x[i];
}
void integer_skip(const float* x, float* o, int n, int skip) {
  for (int i = 0; i < n; i++) o[i] = x[i + skip];
}
void integer_step(const float* x, float* o, int n, int step) {
  for (int i = 0; i < n; i += step) o[i] = x[i];
}
void integer_stride(const float* x, float* o, int n, int stride) {
  for (int i = 0; i < n; i++) o[i] = x[i * stride];
}
void integer_window(const float* x, float* o, int n, int window) {
  for (int i = 0; i < n; i++) {
    float s = 0;
    int from = i - window + 1 < 0 ? 0 : i - window + 1;
    for (int j = from; j <= i; j++) s += x[j];
    o[i] = s;
  }
}
void integer_flag(const float* x, float* o, int n, int negate) {
  for (int i = 0; i < n; i++) o[i] = negate ? -x[i] : x[i];
}
void integer_mode(const float* x, float* o, int n, int mode) {
  if (mode == 0)
    for (int i = 0; i < n; i++) o[i] = x[i];
  else
    for (int i = 0; i < n; i++) o[i] = x[i] * x[i];
}
void integer_switch(const float* x, float* o, int n, int mode) {
  for (int i = 0; i < n; i++) switch (mode) {
      case 0: o[i] = x[i]; break;
      case 1: o[i] = -x[i]; break;
      case 2: o[i] = x[i] * x[i]; break;
      default: o[i] = 0;
    }
}
void integer_position(const float* x, float* o, int n, int position) {
  for (int i = 0; i < n; i++) o[i] = x[i] * cosf((float)position * expf(-0.1f * (float)i));
}
void integer_pick(const float* x, float* o, int n, int which) {
  for (int i = 0; i < n; i++) o[i] = i == which ? x[i] : 0;
}
void integer_causal_from(const float* x, float* o, int n, int past) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) o[i * n + j] = j <= i + past ? x[i * n + j] : -INFINITY;
}
void integer_bits(const float* x, float* o, int n, int bits) {
  float most = (float)((1 << bits) - 1);
  for (int i = 0; i < n; i++) o[i] = rintf(x[i] * most) / most;
}
void integer_top(const float* x, float* o, int n, int k) {
  for (int i = 0; i < k; i++) o[i] = x[n - k + i];
}
void integer_minimum_of(const float* x, float* o, int n, int m) {
  int count = n < m ? n : m;
  for (int i = 0; i < count; i++) o[i] = x[i];
}
void integer_heads(const float* x, const float* w, float* o, int n, int heads) {
  int dim = n / heads;
  for (int h = 0; h < heads; h++)
    for (int i = 0; i < dim; i++) o[h * dim + i] = x[h * dim + i] * w[i];
}
void integer_unused(const float* x, float* o, int n, int unused) {
  (void)unused;
  for (int i = 0; i < n; i++) o[i] = x[i] + 1;
}
void integer_negative(const float* x, float* o, int n, int m) {
  for (int i = 0; i < n; i++) o[i] = m < 0 ? x[i] : x[i] * (float)m;
}
void integer_three(const float* x, float* o, int n, int a, int b, int c) {
  for (int i = 0; i < n; i++) o[i] = x[i] * (float)(a * b + c);
}
void integer_unsigned(const float* x, float* o, unsigned n, unsigned m) {
  for (unsigned i = 0; i < n; i++) o[i] = x[i] * (float)(i / m);
}
void integer_seed(float* o, int n, unsigned seed) {
  for (int i = 0; i < n; i++) {
    unsigned h = seed + (unsigned)i * 2654435761u;
    h ^= h >> 16;
    o[i] = (float)(h & 0xffff) / 65536.0f;
  }
}
void integer_arange(float* o, int n, int start, int step) {
  for (int i = 0; i < n; i++) o[i] = (float)(start + i * step);
}
void integer_roll(const float* x, float* o, int n, int by) {
  for (int i = 0; i < n; i++) o[i] = x[(i + by) % n];
}
