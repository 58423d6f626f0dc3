// SPDX-License-Identifier: MIT
// tests/fuzz/user_functions/corpus/scan.c: each element from the one before.
#include "corpus.h"

void scan_sum(const float* x, float* o, int n) {
  float s = 0;
  for (int i = 0; i < n; i++) {
    s += x[i];
    o[i] = s;
  }
}
void scan_sum_exclusive(const float* x, float* o, size_t n) {
  float s = 0;
  for (size_t i = 0; i < n; i++) {
    o[i] = s;
    s += x[i];
  }
}
void scan_sum_through_memory(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = i ? o[i - 1] + x[i] : x[i];
}
void scan_sum_in_place(float* x, int n) {
  for (int i = 1; i < n; i++) x[i] += x[i - 1];
}
void scan_product(const float* x, float* o, int n) {
  float p = 1;
  for (int i = 0; i < n; i++) o[i] = p *= x[i];
}
void scan_maximum(const float* x, float* o, int n) {
  float m = -INFINITY;
  for (int i = 0; i < n; i++) {
    m = fmaxf(m, x[i]);
    o[i] = m;
  }
}
void scan_smooth(const float* x, float* o, int n, float a) {
  float y = 0;
  for (int i = 0; i < n; i++) {
    y += a * (x[i] - y);
    o[i] = y;
  }
}
void scan_linear_recurrence(const float* a, const float* b, float* h, size_t n) {
  float s = 0;
  for (size_t i = 0; i < n; i++) {
    s = a[i] * s + b[i];
    h[i] = s;
  }
}
void scan_from_state(const float* x, float* state, float* o, int n, float decay) {
  for (int i = 0; i < n; i++) {
    state[0] = decay * state[0] + x[i];
    o[i] = state[0];
  }
}
void scan_biquad(const float* x, float* o, int n) {
  float z1 = 0, z2 = 0;
  for (int i = 0; i < n; i++) {
    float y = 0.2f * x[i] + z1;
    z1 = 0.3f * x[i] - 0.5f * y + z2;
    z2 = 0.1f * x[i] - 0.2f * y;
    o[i] = y;
  }
}
void scan_fibonacci(float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = i < 2 ? 1 : 0.5f * (o[i - 1] + o[i - 2]);
}
void scan_reverse_sum(const float* x, float* o, int n) {
  float s = 0;
  for (int i = n - 1; i >= 0; i--) o[i] = s += x[i];
}
void scan_rows(const float* x, float* o, int rows, int cols) {
  for (int j = 0; j < cols; j++) o[j] = x[j];
  for (int i = 1; i < rows; i++)
    for (int j = 0; j < cols; j++) o[i * cols + j] = o[(i - 1) * cols + j] + x[i * cols + j];
}
void scan_state_space(const float* x, const float* a, float* o, int t, int d) {
  for (int j = 0; j < d; j++) {
    float h = 0;
    for (int i = 0; i < t; i++) {
      h = a[j] * h + x[i * d + j];
      o[i * d + j] = h;
    }
  }
}
void scan_running_average(const float* x, float* o, int n) {
  float s = 0;
  for (int i = 0; i < n; i++) {
    s += x[i];
    o[i] = s / (float)(i + 1);
  }
}
void scan_horner(const float* c, float* o, int n, float t) {
  float y = 0;
  for (int i = n - 1; i >= 0; i--) y = y * t + c[i];
  o[0] = y;
}
void scan_kahan(const float* x, float* o, int n) {
  float s = 0, c = 0;
  for (int i = 0; i < n; i++) {
    float y = x[i] - c, t = s + y;
    c = (t - s) - y;
    s = t;
  }
  o[0] = s;
}
void scan_welford(const float* x, float* o, int n) {
  float mean = 0, m2 = 0;
  for (int i = 0; i < n; i++) {
    float d = x[i] - mean;
    mean += d / (float)(i + 1);
    m2 += d * (x[i] - mean);
  }
  o[0] = mean;
  o[1] = m2;
}
void scan_online_softmax(const float* x, float* o, int n) {
  float m = -INFINITY, s = 0;
  for (int i = 0; i < n; i++) {
    float next = fmaxf(m, x[i]);
    s = s * expf(m - next) + expf(x[i] - next);
    m = next;
  }
  for (int i = 0; i < n; i++) o[i] = expf(x[i] - m) / s;
}
