// SPDX-License-Identifier: MIT
// tests/fuzz/user_functions/corpus/window.c: neighbours, borders, convolutions.
#include "corpus.h"

void window_left_or_zero(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = i > 0 ? x[i - 1] : 0;
}
void window_right_or_zero(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = i + 1 < n ? x[i + 1] : 0;
}
void window_right_or_zero_size(const float* x, float* o, size_t n) {
  for (size_t i = 0; i < n; i++) {
    float v = 0;
    if (i + 1 < n) v = x[i + 1];
    o[i] = x[i] + v;
  }
}
void window_three_inner(const float* x, float* o, int n) {
  for (int i = 1; i < n - 1; i++) o[i] = x[i - 1] + x[i] + x[i + 1];
}
void window_three_valid(const float* x, float* o, int n) {
  for (int i = 0; i < n - 2; i++) o[i] = (x[i] + x[i + 1] + x[i + 2]) / 3;
}
void window_three_padded(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) {
    float l = i > 0 ? x[i - 1] : 0, r = i < n - 1 ? x[i + 1] : 0;
    o[i] = 0.25f * l + 0.5f * x[i] + 0.25f * r;
  }
}
void window_clamped(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) {
    int l = i > 0 ? i - 1 : 0, r = i < n - 1 ? i + 1 : n - 1;
    o[i] = x[l] + x[r];
  }
}
void window_circular(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = x[i] - x[(i + 1) % n];
}
void window_mirrored(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) {
    int j = i - 2;
    if (j < 0) j = -j;
    if (j >= n) j = n - 1;
    o[i] = x[j];
  }
}
void window_convolve(const float* x, const float* w, float* o, int n, int k) {
  for (int i = 0; i < n; i++) {
    float s = 0;
    for (int j = 0; j < k; j++) s += x[i + j] * w[j];
    o[i] = s;
  }
}
void window_convolve_full(const float* x, const float* w, float* o, int n, int k) {
  for (int i = 0; i < n + k - 1; i++) {
    float s = 0;
    for (int j = 0; j < k; j++)
      if (i - j >= 0 && i - j < n) s += x[i - j] * w[j];
    o[i] = s;
  }
}
void window_convolve_causal(const float* x, const float* w, float* o, int n) {
  for (int i = 0; i < n; i++) {
    float s = 0;
    for (int j = 0; j < 4; j++)
      if (i >= j) s += x[i - j] * w[j];
    o[i] = s;
  }
}
void window_convolve_valid(const float* x, const float* w, float* o, int n, int k) {
  for (int i = 0; i <= n - k; i++) {
    float s = 0;
    for (int j = 0; j < k; j++) s += x[i + j] * w[j];
    o[i] = s;
  }
}
void window_max_pool2(const float* x, float* o, int n) {
  for (int i = 0; i < n / 2; i++) o[i] = fmaxf(x[2 * i], x[2 * i + 1]);
}
void window_max_pool3(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) {
    float m = x[i];
    if (i > 0 && x[i - 1] > m) m = x[i - 1];
    if (i < n - 1 && x[i + 1] > m) m = x[i + 1];
    o[i] = m;
  }
}
void window_average_pool(const float* x, float* o, int n, int k) {
  for (int i = 0; i < n; i++) {
    float s = 0;
    for (int j = 0; j < k; j++) s += x[i * k + j];
    o[i] = s / k;
  }
}
void window_depthwise(const float* x, const float* w, float* o, int rows, int cols) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++) {
      float s = 0;
      for (int t = 0; t < 4; t++)
        if (i + t - 3 >= 0) s += x[(i + t - 3) * cols + j] * w[t * cols + j];
      o[i * cols + j] = s;
    }
}
void window_laplace(const float* x, float* o, int h, int w) {
  for (int i = 1; i < h - 1; i++)
    for (int j = 1; j < w - 1; j++)
      o[i * w + j] = 4 * x[i * w + j] - x[(i - 1) * w + j] - x[(i + 1) * w + j] - x[i * w + j - 1] -
                     x[i * w + j + 1];
}
void window_laplace_guarded(const float* x, float* o, int h, int w) {
  for (int i = 0; i < h; i++)
    for (int j = 0; j < w; j++) {
      float s = 0;
      if (i > 0) s += x[(i - 1) * w + j];
      if (i < h - 1) s += x[(i + 1) * w + j];
      if (j > 0) s += x[i * w + j - 1];
      if (j < w - 1) s += x[i * w + j + 1];
      o[i * w + j] = s;
    }
}
void window_sobel(const float* x, float* o, size_t h, size_t w) {
  for (size_t i = 0; i + 2 < h; i++)
    for (size_t j = 0; j + 2 < w; j++)
      o[i * (w - 2) + j] =
          x[i * w + j] - x[i * w + j + 2] + x[(i + 2) * w + j] - x[(i + 2) * w + j + 2];
}
void window_shift_token(const float* x, const float* mix, float* o, int t, int c) {
  for (int i = 0; i < t; i++)
    for (int j = 0; j < c; j++) {
      float before = i ? x[(i - 1) * c + j] : 0;
      o[i * c + j] = mix[j] * x[i * c + j] + (1 - mix[j]) * before;
    }
}
void window_moving_sum(const float* x, float* o, int n) {
  float s = 0;
  for (int i = 0; i < n; i++) {
    s += x[i];
    if (i >= 5) s -= x[i - 5];
    o[i] = s;
  }
}
void window_edges(const float* x, float* o, int n) {
  o[0] = x[0];
  for (int i = 1; i < n - 1; i++) o[i] = 0.5f * (x[i - 1] + x[i + 1]);
  o[n - 1] = x[n - 1];
}
void window_upsample(const float* x, float* o, int n) {
  for (int i = 0; i < 2 * n; i++) {
    int a = i / 2, b = a + 1 < n ? a + 1 : a;
    o[i] = i % 2 ? 0.5f * (x[a] + x[b]) : x[a];
  }
}
