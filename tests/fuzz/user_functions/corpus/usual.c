// SPDX-License-Identifier: MIT
// tests/fuzz/user_functions/corpus/usual.c: the shapes of code that everybody writes.
#include "corpus.h"

// 1. A map of one array.
void usual_relu(const float* x, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = x[i] > 0 ? x[i] : 0;
}
void usual_silu(const float* x, float* out, int n) {
  for (int i = 0; i < n; i++) out[i] = x[i] / (1.0f + expf(-x[i]));
}
void usual_gelu(const float* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    y[i] = 0.5f * x[i] * (1.0f + tanhf(0.79788456f * (x[i] + 0.044715f * x[i] * x[i] * x[i])));
}
void usual_square(const float* x, float* out, unsigned n) {
  for (unsigned i = 0; i < n; i++) out[i] = x[i] * x[i];
}
float usual_sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }
float usual_softplus(float x) { return x > 20.0f ? x : logf(1.0f + expf(x)); }

// 2. A map of several arrays.
void usual_add(const float* a, const float* b, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = a[i] + b[i];
}
void usual_swiglu(const float* gate, const float* up, float* out, int n) {
  for (int i = 0; i < n; i++) out[i] = gate[i] / (1.0f + expf(-gate[i])) * up[i];
}
void usual_addcmul(const float* x, const float* y, const float* z, float* out, long n) {
  for (long i = 0; i < n; i++) out[i] = x[i] + y[i] * z[i];
}
void usual_where(const float* c, const float* a, const float* b, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = c[i] != 0 ? a[i] : b[i];
}
float usual_lerp(float a, float b, float t) { return a + t * (b - a); }

// 3. A map with numbers.
void usual_scale(const float* x, float* out, size_t n, float s) {
  for (size_t i = 0; i < n; i++) out[i] = s * x[i];
}
void usual_affine(const float* x, float* out, float a, float b, int n) {
  for (int i = 0; i < n; i++) out[i] = a * x[i] + b;
}
void usual_clamp(const float* x, float* out, int n, float lo, float hi) {
  for (int i = 0; i < n; i++) out[i] = x[i] < lo ? lo : x[i] > hi ? hi : x[i];
}
void usual_leaky(const float* x, float* out, size_t n, float slope) {
  for (size_t i = 0; i < n; i++) {
    float v = x[i];
    if (v < 0) v *= slope;
    out[i] = v;
  }
}

// 4. A matrix and a vector along its columns or rows.
void usual_bias(const float* x, const float* bias, float* out, int rows, int cols) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++) out[i * cols + j] = x[i * cols + j] + bias[j];
}
void usual_scale_rows(const float* x, const float* s, float* out, size_t rows, size_t cols) {
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < cols; j++) out[i * cols + j] = x[i * cols + j] * s[i];
}
void usual_outer(const float* a, const float* b, float* out, int m, int n) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) out[i * n + j] = a[i] * b[j];
}

// 5. Sums.
void usual_sum(const float* x, float* out, size_t n) {
  float s = 0;
  for (size_t i = 0; i < n; i++) s += x[i];
  *out = s;
}
void usual_dot(const float* a, const float* b, float* out, int n) {
  float s = 0;
  for (int i = 0; i < n; i++) s += a[i] * b[i];
  out[0] = s;
}
float usual_dot_returned(const float* a, const float* b, size_t n) {
  float s = 0;
  for (size_t i = 0; i < n; i++) s += a[i] * b[i];
  return s;
}
void usual_mean(const float* x, float* out, int n) {
  float s = 0;
  for (int i = 0; i < n; i++) s += x[i];
  out[0] = s / n;
}
void usual_row_sums(const float* x, float* out, int rows, int cols) {
  for (int i = 0; i < rows; i++) {
    float s = 0;
    for (int j = 0; j < cols; j++) s += x[i * cols + j];
    out[i] = s;
  }
}
void usual_norm2(const float* x, float* out, size_t n) {
  float s = 0;
  for (size_t i = 0; i < n; i++) s += x[i] * x[i];
  out[0] = sqrtf(s);
}

// 6. Maxima.
void usual_max(const float* x, float* out, int n) {
  float m = x[0];
  for (int i = 1; i < n; i++)
    if (x[i] > m) m = x[i];
  out[0] = m;
}
void usual_max_from_infinity(const float* x, float* out, size_t n) {
  float m = -INFINITY;
  for (size_t i = 0; i < n; i++) m = fmaxf(m, x[i]);
  out[0] = m;
}
void usual_absmax(const float* x, float* out, int n) {
  float m = 0;
  for (int i = 0; i < n; i++) m = fmaxf(m, fabsf(x[i]));
  out[0] = m;
}
void usual_argmax(const float* x, int32_t* out, int n) {
  int best = 0;
  for (int i = 1; i < n; i++)
    if (x[i] > x[best]) best = i;
  out[0] = best;
}

// 7. Norms and softmax.
void usual_rms_norm(const float* x, const float* w, float* out, size_t n, float eps) {
  float s = 0;
  for (size_t i = 0; i < n; i++) s += x[i] * x[i];
  const float r = 1.0f / sqrtf(s / (float)n + eps);
  for (size_t i = 0; i < n; i++) out[i] = x[i] * r * w[i];
}
void usual_layer_norm(const float* x, const float* w, const float* b, float* out, int n,
                      float eps) {
  float mean = 0, var = 0;
  for (int i = 0; i < n; i++) mean += x[i];
  mean /= n;
  for (int i = 0; i < n; i++) var += (x[i] - mean) * (x[i] - mean);
  const float r = 1.0f / sqrtf(var / n + eps);
  for (int i = 0; i < n; i++) out[i] = (x[i] - mean) * r * w[i] + b[i];
}
void usual_softmax(const float* x, float* out, int n) {
  float m = -INFINITY, s = 0;
  for (int i = 0; i < n; i++) m = fmaxf(m, x[i]);
  for (int i = 0; i < n; i++) s += out[i] = expf(x[i] - m);
  for (int i = 0; i < n; i++) out[i] /= s;
}
void usual_softmax_rows(const float* x, float* out, int rows, int cols) {
  for (int r = 0; r < rows; r++) {
    const float* in = x + r * cols;
    float* to = out + r * cols;
    float m = -INFINITY, s = 0;
    for (int i = 0; i < cols; i++) m = fmaxf(m, in[i]);
    for (int i = 0; i < cols; i++) s += expf(in[i] - m);
    for (int i = 0; i < cols; i++) to[i] = expf(in[i] - m) / s;
  }
}

// 8. Products.
void usual_matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      float s = 0;
      for (int p = 0; p < k; p++) s += a[i * k + p] * b[p * n + j];
      c[i * n + j] = s;
    }
}
void usual_linear(const float* x, const float* w, const float* b, float* y, size_t in, size_t out) {
  for (size_t o = 0; o < out; o++) {
    float s = b[o];
    for (size_t i = 0; i < in; i++) s += w[o * in + i] * x[i];
    y[o] = s;
  }
}
void usual_gemv(const float* a, const float* x, float* y, int m, int n) {
  for (int i = 0; i < m; i++) {
    float s = 0;
    for (int j = 0; j < n; j++) s += a[i * n + j] * x[j];
    y[i] = s;
  }
}

// 9. Decoding blocks of bytes.
void usual_dequantize(const int8_t* q, const float* scale, float* out, int n) {
  for (int i = 0; i < n; i++) out[i] = q[i] * scale[i / 32];
}
void usual_dequantize_rows(const uint8_t* q, const float* scale, const float* zero, float* out,
                           int rows, int cols) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++)
      out[i * cols + j] = ((float)q[i * cols + j] - zero[i]) * scale[i];
}
void usual_quantize(const float* x, int8_t* q, size_t n, float inverse) {
  for (size_t i = 0; i < n; i++) {
    float v = rintf(x[i] * inverse);
    v = v < -127 ? -127 : v > 127 ? 127 : v;
    q[i] = (int8_t)v;
  }
}

// 10. Rows by index.
void usual_embedding(const float* table, const int32_t* ids, float* out, int n, int dim) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < dim; j++) out[i * dim + j] = table[ids[i] * dim + j];
}
void usual_take(const float* x, const int32_t* index, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = x[index[i]];
}
