// SPDX-License-Identifier: MIT
// tests/fuzz/user_functions/corpus/outputs.c: several outputs.
#include "corpus.h"

void outputs_sin_cos(const float* x, float* s, float* c, int n) {
  for (int i = 0; i < n; i++) {
    s[i] = sinf(x[i]);
    c[i] = cosf(x[i]);
  }
}
void outputs_mean_variance(const float* x, float* mean, float* variance, int n) {
  float s = 0, q = 0;
  for (int i = 0; i < n; i++) s += x[i];
  s /= (float)n;
  for (int i = 0; i < n; i++) q += (x[i] - s) * (x[i] - s);
  *mean = s;
  *variance = q / (float)n;
}
void outputs_min_max(const float* x, float* low, float* high, size_t n) {
  float a = INFINITY, b = -INFINITY;
  for (size_t i = 0; i < n; i++) {
    a = fminf(a, x[i]);
    b = fmaxf(b, x[i]);
  }
  *low = a;
  *high = b;
}
void outputs_quantize(const float* x, int8_t* q, float* scale, int n) {
  float m = 0;
  for (int i = 0; i < n; i++) m = fmaxf(m, fabsf(x[i]));
  float d = m / 127.0f, inverse = d != 0 ? 1.0f / d : 0;
  for (int i = 0; i < n; i++) q[i] = (int8_t)rintf(x[i] * inverse);
  *scale = d;
}
void outputs_quantize_blocks(const float* x, int8_t* q, float* scale, int blocks) {
  for (int b = 0; b < blocks; b++) {
    float m = 0;
    for (int i = 0; i < 32; i++) m = fmaxf(m, fabsf(x[b * 32 + i]));
    float d = m / 127.0f, inverse = d != 0 ? 1.0f / d : 0;
    scale[b] = d;
    for (int i = 0; i < 32; i++) q[b * 32 + i] = (int8_t)roundf(x[b * 32 + i] * inverse);
  }
}
void outputs_split(const float* x, float* a, float* b, int n) {
  for (int i = 0; i < n; i++) {
    a[i] = x[i];
    b[i] = x[n + i];
  }
}
void outputs_deinterleave(const float* x, float* a, float* b, size_t n) {
  for (size_t i = 0; i < n; i++) {
    a[i] = x[2 * i];
    b[i] = x[2 * i + 1];
  }
}
void outputs_swiglu_backward(const float* g, const float* u, const float* dy, float* dg, float* du,
                             int n) {
  for (int i = 0; i < n; i++) {
    float s = 1.0f / (1.0f + expf(-g[i]));
    dg[i] = dy[i] * u[i] * s * (1 + g[i] * (1 - s));
    du[i] = dy[i] * g[i] * s;
  }
}
void outputs_argmax(const float* x, float* value, int32_t* index, int n) {
  float best = -INFINITY;
  int at = 0;
  for (int i = 0; i < n; i++)
    if (x[i] > best) {
      best = x[i];
      at = i;
    }
  *value = best;
  *index = at;
}
void outputs_norm_and_rms(const float* x, float* o, float* rms, int n, float eps) {
  float s = 0;
  for (int i = 0; i < n; i++) s += x[i] * x[i];
  *rms = sqrtf(s / (float)n + eps);
  for (int i = 0; i < n; i++) o[i] = x[i] / *rms;
}
void outputs_residual_norm(const float* x, const float* r, float* sum, float* o, int n) {
  float s = 0;
  for (int i = 0; i < n; i++) {
    sum[i] = x[i] + r[i];
    s += sum[i] * sum[i];
  }
  for (int i = 0; i < n; i++) o[i] = sum[i] / sqrtf(s / (float)n + 1e-5f);
}
void outputs_mask_too(const float* x, float* o, uint8_t* mask, int n) {
  for (int i = 0; i < n; i++) {
    mask[i] = x[i] > 0;
    o[i] = mask[i] ? x[i] : 0;
  }
}
void outputs_other_sizes(const float* x, float* o, float* half, int n) {
  for (int i = 0; i < n; i++) o[i] = 2 * x[i];
  for (int i = 0; i < n / 2; i++) half[i] = x[2 * i];
}
void outputs_floor_and_fraction(const float* x, int32_t* whole, float* part, int n) {
  for (int i = 0; i < n; i++) {
    float f = floorf(x[i]);
    whole[i] = (int32_t)f;
    part[i] = x[i] - f;
  }
}
void outputs_qkv(const float* x, float* q, float* k, float* v, int rows, int dim) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < dim; j++) {
      q[i * dim + j] = x[i * 3 * dim + j];
      k[i * dim + j] = x[i * 3 * dim + dim + j];
      v[i * dim + j] = x[i * 3 * dim + 2 * dim + j];
    }
}
void outputs_count_and_sum(const float* x, int32_t* count, float* sum, int n) {
  int c = 0;
  float s = 0;
  for (int i = 0; i < n; i++)
    if (x[i] > 0) {
      c++;
      s += x[i];
    }
  *count = c;
  *sum = s;
}
