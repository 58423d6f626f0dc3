// SPDX-License-Identifier: MIT
// tests/fuzz/user_functions/corpus/inout.c: outputs that are read, or written in part.
#include "corpus.h"

void inout_add(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] += x[i];
}
void inout_add_size(const float* x, float* o, size_t n) {
  for (size_t i = 0; i < n; i++) o[i] = o[i] + x[i];
}
void inout_axpy(const float* x, float* y, float a, int n) {
  for (int i = 0; i < n; i++) y[i] += a * x[i];
}
void inout_axpy_first(float* y, const float* x, float a, size_t n) {
  for (size_t i = 0; i < n; i++) y[i] = a * x[i] + y[i];
}
void inout_relu(float* x, int n) {
  for (int i = 0; i < n; i++) x[i] = x[i] > 0 ? x[i] : 0;
}
void inout_scale(float* x, size_t n, float s) {
  for (size_t i = 0; i < n; i++) x[i] *= s;
}
void inout_if_positive(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++)
    if (x[i] > 0) o[i] = x[i];
}
void inout_if_negative_zero(float* o, int n) {
  for (int i = 0; i < n; i++)
    if (o[i] < 0) o[i] = 0;
}
void inout_mask(const float* mask, float* o, int n, float value) {
  for (int i = 0; i < n; i++)
    if (mask[i] == 0) o[i] = value;
}
void inout_even_places(const float* x, float* o, int n) {
  for (int i = 0; i < n; i += 2) o[i] = x[i];
}
void inout_all_but_ends(const float* x, float* o, int n) {
  for (int i = 1; i < n - 1; i++) o[i] = x[i];
}
void inout_first_only(const float* x, float* o, int n) {
  if (n > 0) o[0] = x[n - 1];
}
void inout_first_half(const float* x, float* o, int n) {
  for (int i = 0; i < n / 2; i++) o[i] = x[i] * 3;
}
void inout_momentum(const float* g, float* m, float* w, int n, float lr, float beta) {
  for (int i = 0; i < n; i++) {
    m[i] = beta * m[i] + g[i];
    w[i] -= lr * m[i];
  }
}
void inout_adam(const float* g, float* m, float* v, float* w, size_t n, float lr) {
  for (size_t i = 0; i < n; i++) {
    m[i] = 0.9f * m[i] + 0.1f * g[i];
    v[i] = 0.999f * v[i] + 0.001f * g[i] * g[i];
    w[i] -= lr * m[i] / (sqrtf(v[i]) + 1e-8f);
  }
}
void inout_running_mean(const float* x, float* mean, int n, float rate) {
  for (int i = 0; i < n; i++) mean[i] += rate * (x[i] - mean[i]);
}
void inout_add_matrix(const float* x, float* o, int rows, int cols) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++) o[i * cols + j] += x[i * cols + j];
}
void inout_rank_one(const float* a, const float* b, float* c, int m, int n) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) c[i * n + j] += a[i] * b[j];
}
void inout_gemm(const float* a, const float* b, float* c, int m, int n, int k) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      float s = c[i * n + j];
      for (int p = 0; p < k; p++) s += a[i * k + p] * b[p * n + j];
      c[i * n + j] = s;
    }
}
void inout_gemm_beta(const float* a, const float* b, float* c, int n, float alpha, float beta) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      float s = 0;
      for (int p = 0; p < n; p++) s += a[i * n + p] * b[p * n + j];
      c[i * n + j] = alpha * s + beta * c[i * n + j];
    }
}
void inout_sum_into(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) o[0] += x[i];
}
void inout_sum_onto(const float* x, float* o, size_t n) {
  float s = o[0];
  for (size_t i = 0; i < n; i++) s += x[i];
  o[0] = s;
}
void inout_swap(float* a, float* b, int n) {
  for (int i = 0; i < n; i++) {
    float t = a[i];
    a[i] = b[i];
    b[i] = t;
  }
}
void inout_lower_half_of_rows(const float* x, float* o, int rows, int cols) {
  for (int i = rows / 2; i < rows; i++)
    for (int j = 0; j < cols; j++) o[i * cols + j] = x[i * cols + j];
}
void inout_reverse(float* x, int n) {
  for (int i = 0; i < n / 2; i++) {
    float t = x[i];
    x[i] = x[n - 1 - i];
    x[n - 1 - i] = t;
  }
}
void inout_normalize(float* x, int n) {
  float s = 0;
  for (int i = 0; i < n; i++) s += x[i] * x[i];
  s = 1.0f / sqrtf(s + 1e-6f);
  for (int i = 0; i < n; i++) x[i] *= s;
}
void inout_softmax(float* x, int n) {
  float m = x[0], s = 0;
  for (int i = 1; i < n; i++) m = x[i] > m ? x[i] : m;
  for (int i = 0; i < n; i++) {
    x[i] = expf(x[i] - m);
    s += x[i];
  }
  for (int i = 0; i < n; i++) x[i] /= s;
}
void inout_bytes(const int8_t* x, int8_t* o, int n) {
  for (int i = 0; i < n; i++)
    if (x[i] > 0) o[i] = x[i];
}
void inout_counts(const int32_t* x, int32_t* o, int n) {
  for (int i = 0; i < n; i++) o[i] += x[i];
}
void inout_double(const double* x, double* o, int n) {
  for (int i = 0; i < n; i++) o[i] += 0.5 * x[i];
}
void inout_read_neighbour(const float* x, float* o, int n) {
  for (int i = 0; i + 1 < n; i++) o[i] = x[i] + o[i + 1];
}
