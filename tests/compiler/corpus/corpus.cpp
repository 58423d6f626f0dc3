// SPDX-License-Identifier: MIT
// tests/compiler/corpus/corpus.cpp: functions in many styles, to be lifted from what several
// compilers make of them. Each line of corpus.txt names one, its type and its class. The styles are
// the point: do not tidy them.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>

#define API extern "C" __attribute__((visibility("default")))

// ---- functions of one value ----
API float f_relu(float x) { return x > 0 ? x : 0; }
API float f_relu_fmax(float x) { return fmaxf(x, 0.0f); }
API float f_relu_std(float x) { return std::max(x, 0.0f); }
API float f_leaky(float x) { return x < 0 ? 0.01f * x : x; }
API float f_silu(float x) { return x / (1.0f + expf(-x)); }
API float f_gelu(float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678f)); }
API float f_clamp(float x, float lo, float hi) { return x < lo ? lo : x > hi ? hi : x; }
API float f_std_clamp(float x, float lo, float hi) { return std::min(std::max(x, lo), hi); }
API float f_softplus(float x) {
  if (x > 20.0f) return x;
  return logf(1.0f + expf(x));
}
API float f_sign(float x) {
  if (x > 0) return 1.0f;
  if (x < 0) return -1.0f;
  return x;
}
API float f_hypot(float a, float b) { return sqrtf(a * a + b * b); }
API float f_fma(float a, float b, float c) { return fmaf(a, b, c); }
API float f_abs_diff(float a, float b) { return fabsf(a - b); }
API float f_copysign(float a, float b) { return copysignf(a, b); }
API float f_fmax(float a, float b) { return fmaxf(a, b); }
API float f_fmin(float a, float b) { return fminf(a, b); }
API float f_blend_of_limits(float a, float b, float c) {
  return b < c ? sqrtf(a) + (b >= 0 ? a : b) : 2.0f;
}
API float f_hard_swish(float x) { return x * std::min(std::max(x + 3.0f, 0.0f), 6.0f) / 6.0f; }
API float f_mish(float x) { return x * tanhf(log1pf(expf(x))); }
API float f_double_inside(float x) { return (float)(1.0 / (1.0 + (double)x * (double)x)); }

// ---- maps ----
API void add_int(const float* x, const float* y, float* out, int n) {
  for (int i = 0; i < n; i++) out[i] = x[i] + y[i];
}
API void add_i64(const float* x, const float* y, float* out, int64_t n) {
  for (int64_t i = 0; i < n; i++) out[i] = x[i] + y[i];
}
API void add_unsigned(const float* x, const float* y, float* out, unsigned n) {
  for (unsigned i = 0; i < n; ++i) out[i] = x[i] + y[i];
}
API void add_moving(const float* x, const float* y, float* out, size_t n) {
  const float* end = x + n;
  while (x != end) *out++ = *x++ + *y++;
}
API void add_down(const float* x, const float* y, float* out, size_t n) {
  while (n--) *out++ = *x++ + *y++;
}
API void add_backwards(const float* x, const float* y, float* out, int n) {
  for (int i = n - 1; i >= 0; i--) out[i] = x[i] + y[i];
}
API void gate(const float* x, const float* y, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = x[i] * tanhf(y[i]);
}
API void relu_branch(const float* x, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (x[i] > 0)
      out[i] = x[i];
    else
      out[i] = 0;
  }
}
API void threshold_store(const float* x, float* out, size_t n, float t) {
  for (size_t i = 0; i < n; i++)
    if (x[i] > t) out[i] = x[i];
}
API void two_outputs(const float* x, float* s, float* c, size_t n) {
  for (size_t i = 0; i < n; i++) {
    s[i] = sinf(x[i]);
    c[i] = cosf(x[i]);
  }
}
API void bias_rows(const float* x, const float* bias, float* out, int rows, int cols) {
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < cols; c++) out[r * cols + c] = x[r * cols + c] + bias[c];
}
API void scale_rows_pointer(const float* x, const float* scale, float* out, size_t rows,
                            size_t cols) {
  for (size_t r = 0; r < rows; r++) {
    const float* in = x + r * cols;
    float* to = out + r * cols;
    float s = scale[r];
    for (size_t c = 0; c < cols; c++) to[c] = in[c] * s;
  }
}
API void axpy_in_place(float* y, const float* x, float a, int n) {
  for (int i = 0; i < n; i++) y[i] += a * x[i];
}
API void lerp(const float* a, const float* b, const float* t, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = a[i] + t[i] * (b[i] - a[i]);
}
API void to_index(float* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = (float)(int)i * 0.5f;
}
API void asserted(const float* x, float* out, int n) {
  assert(n >= 0);
  for (int i = 0; i < n; i++) out[i] = x[i] * 2.0f;
}
API void quantize_bytes(const float* x, int8_t* q, size_t n, float inv) {
  for (size_t i = 0; i < n; i++) {
    float v = rintf(x[i] * inv);
    v = v < -127.0f ? -127.0f : v;
    v = v > 127.0f ? 127.0f : v;
    q[i] = (int8_t)(int)(v == v ? v : 0.0f);
  }
}
API void dequantize_bytes(const int8_t* q, const float* scale, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = (float)q[i] * scale[0];
}
API void dequantize_unsigned(const uint8_t* q, float* out, size_t n, float zero, float scale) {
  for (size_t i = 0; i < n; i++) out[i] = ((float)q[i] - zero) * scale;
}
API void polynomial(const float* x, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) {
    float v = x[i], r = 0.25f;
    r = r * v + 0.5f;
    r = r * v - 1.5f;
    r = r * v + 2.0f;
    out[i] = r;
  }
}
API void double_map(const double* x, double* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = x[i] * x[i] + 1.0;
}
API void mixed_precision(const float* x, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = (float)((double)x[i] * 0.1 + 0.2);
}

// ---- helpers and structs ----
static float square(float x) { return x * x; }
static __attribute__((noinline)) float cube(float x) { return x * x * x; }
API void with_helpers(const float* x, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = square(x[i]) + cube(x[i]);
}
static inline float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }
API void swiglu_helper(const float* g, const float* u, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = g[i] * sigmoid(g[i]) * u[i];
}
struct MapArgs {
  const float* x;
  float* out;
  size_t n;
};
API void struct_map(const MapArgs* a) {
  for (size_t i = 0; i < a->n; i++) a->out[i] = a->x[i] + 1.0f;
}
struct NormArgs {
  const float* x;
  const float* w;
  float* out;
  int n;
  float eps;
};
API void struct_norm(const NormArgs* a) {
  float sum = 0;
  for (int i = 0; i < a->n; i++) sum += a->x[i] * a->x[i];
  float r = 1.0f / sqrtf(sum / (float)a->n + a->eps);
  for (int i = 0; i < a->n; i++) a->out[i] = a->x[i] * r * a->w[i];
}

// ---- reductions ----
API void sum_plain(const float* x, float* out, size_t n) {
  float s = 0;
  for (size_t i = 0; i < n; i++) s += x[i];
  *out = s;
}
API void sum_into(const float* x, float* out, int n) {
  *out = 0;
  for (int i = 0; i < n; i++) *out += x[i];
}
API void sum_of_double(const float* x, float* out, size_t n) {
  double s = 0;
  for (size_t i = 0; i < n; i++) s += x[i];
  out[0] = (float)s;
}
API void dot_down(const float* x, const float* y, float* out, size_t n) {
  float s = 0;
  for (; n > 0; --n) s += *x++ * *y++;
  *out = s;
}
API void product(const float* x, float* out, int n) {
  float p = 1;
  for (int i = 0; i < n; i++) p *= x[i];
  out[0] = p;
}
API void max_std(const float* x, float* out, int n) {
  float m = -INFINITY;
  for (int i = 0; i < n; i++) m = std::max(m, x[i]);
  out[0] = m;
}
API void max_if(const float* x, float* out, int n) {
  float m = -3e38f;
  for (int i = 0; i < n; i++)
    if (x[i] > m) m = x[i];
  out[0] = m;
}
API void min_ternary(const float* x, float* out, size_t n) {
  float m = INFINITY;
  for (size_t i = 0; i < n; i++) m = x[i] < m ? x[i] : m;
  out[0] = m;
}
API void max_fmaxf(const float* x, float* out, size_t n) {
  float m = -INFINITY;
  for (size_t i = 0; i < n; i++) m = fmaxf(m, x[i]);
  out[0] = m;
}
API void mean_and_square(const float* x, float* mean, float* square, size_t n) {
  float s = 0, q = 0;
  for (size_t i = 0; i < n; i++) {
    s += x[i];
    q += x[i] * x[i];
  }
  mean[0] = s / (float)(int64_t)n;
  square[0] = q / (float)(int64_t)n;
}
API void l2_norm(const float* x, float* out, int n) {
  float s = 0.0f;
  for (int i = 0; i < n; ++i) s = s + x[i] * x[i];
  out[0] = sqrtf(s);
}
API void row_sums(const float* x, float* out, int rows, int cols) {
  for (int r = 0; r < rows; r++) {
    float s = 0;
    for (int c = 0; c < cols; c++) s += x[r * cols + c];
    out[r] = s;
  }
}
API void arg_max(const float* x, int32_t* out, int n) {
  float best = -INFINITY;
  int at = 0;
  for (int i = 0; i < n; i++)
    if (x[i] > best) {
      best = x[i];
      at = i;
    }
  out[0] = at;
}
API void arg_min_ternary(const float* x, int32_t* out, int n) {
  float best = INFINITY;
  int at = 0;
  for (int i = 0; i < n; i++) {
    bool less = x[i] < best;
    best = less ? x[i] : best;
    at = less ? i : at;
  }
  out[0] = at;
}
API void count_positive(const float* x, float* out, size_t n) {
  float c = 0;
  for (size_t i = 0; i < n; i++) c += x[i] > 0 ? 1.0f : 0.0f;
  out[0] = c;
}

// ---- norm-like ----
API void softmax_std(const float* x, float* out, size_t n) {
  float m = -INFINITY;
  for (size_t i = 0; i < n; i++) m = std::max(m, x[i]);
  float s = 0;
  for (size_t i = 0; i < n; i++) {
    out[i] = expf(x[i] - m);
    s += out[i];
  }
  for (size_t i = 0; i < n; i++) out[i] /= s;
}
API void softmax_recompute(const float* x, float* out, int n) {
  float m = x[0];
  for (int i = 0; i < n; i++) m = x[i] > m ? x[i] : m;
  float s = 0;
  for (int i = 0; i < n; i++) s += expf(x[i] - m);
  float inv = 1.0f / s;
  for (int i = 0; i < n; i++) out[i] = expf(x[i] - m) * inv;
}
API void rms_norm(const float* x, const float* w, float* out, int n, float eps) {
  float ss = 0.0f;
  for (int j = 0; j < n; j++) ss += x[j] * x[j];
  ss /= n;
  ss += eps;
  ss = 1.0f / sqrtf(ss);
  for (int j = 0; j < n; j++) out[j] = w[j] * (ss * x[j]);
}
API void layer_norm(const float* x, const float* g, const float* b, float* out, size_t n,
                    float eps) {
  float mean = 0;
  for (size_t i = 0; i < n; i++) mean += x[i];
  mean /= (float)n;
  float var = 0;
  for (size_t i = 0; i < n; i++) {
    float d = x[i] - mean;
    var += d * d;
  }
  float r = 1.0f / sqrtf(var / (float)n + eps);
  for (size_t i = 0; i < n; i++) out[i] = (x[i] - mean) * r * g[i] + b[i];
}
API void rms_norm_rows(const float* x, const float* w, float* out, int rows, int cols, float eps) {
  for (int r = 0; r < rows; r++) {
    const float* in = x + (size_t)r * cols;
    float* to = out + (size_t)r * cols;
    float s = 0;
    for (int c = 0; c < cols; c++) s += in[c] * in[c];
    float k = 1.0f / sqrtf(s / (float)cols + eps);
    for (int c = 0; c < cols; c++) to[c] = in[c] * k * w[c];
  }
}
API void log_softmax(const float* x, float* out, size_t n) {
  float m = -INFINITY;
  for (size_t i = 0; i < n; i++) m = x[i] > m ? x[i] : m;
  float s = 0;
  for (size_t i = 0; i < n; i++) s += expf(x[i] - m);
  float l = m + logf(s);
  for (size_t i = 0; i < n; i++) out[i] = x[i] - l;
}
API void center(const float* x, float* out, int64_t n) {
  double s = 0;
  for (int64_t i = 0; i < n; i++) s += x[i];
  float mean = (float)(s / (double)n);
  for (int64_t i = 0; i < n; i++) out[i] = x[i] - mean;
}

// ---- pairs, gathers, products ----
API void rope_half(const float* x, const float* c, const float* s, float* out, int d) {
  int half = d / 2;
  for (int i = 0; i < half; i++) {
    float a = x[i], b = x[i + half];
    out[i] = a * c[i] - b * s[i];
    out[i + half] = a * s[i] + b * c[i];
  }
}
API void rope_step2(const float* x, const float* c, const float* s, float* out, int d) {
  for (int i = 0; i < d; i += 2) {
    float a = x[i], b = x[i + 1];
    out[i] = a * c[i / 2] - b * s[i / 2];
    out[i + 1] = a * s[i / 2] + b * c[i / 2];
  }
}
API void embed(const float* table, const int32_t* id, float* out, size_t dim) {
  const float* row = table + (size_t)id[0] * dim;
  for (size_t i = 0; i < dim; i++) out[i] = row[i];
}
API void gather_elements(const float* x, const int32_t* index, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = x[index[i]];
}
API void gemv(const float* a, const float* x, float* y, int m, int n) {
  for (int i = 0; i < m; i++) {
    float s = 0;
    for (int j = 0; j < n; j++) s += a[i * n + j] * x[j];
    y[i] = s;
  }
}
API void gemm_nn(const float* a, const float* b, float* c, int m, int n, int k) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      float s = 0;
      for (int p = 0; p < k; p++) s += a[i * k + p] * b[p * n + j];
      c[i * n + j] = s;
    }
}
API void gemm_nt(const float* a, const float* b, float* c, size_t m, size_t n, size_t k) {
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < n; j++) {
      float s = 0;
      for (size_t p = 0; p < k; p++) s += a[i * k + p] * b[j * k + p];
      c[i * n + j] = s;
    }
}
API void gemm_accumulate(const float* a, const float* b, float* c, int m, int n, int k) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++)
      for (int p = 0; p < k; p++) c[i * n + j] += a[i * k + p] * b[p * n + j];
}
API void gemm_ikj(const float* a, const float* b, float* c, int m, int n, int k) {
  for (int i = 0; i < m; i++)
    for (int p = 0; p < k; p++)
      for (int j = 0; j < n; j++) c[i * n + j] += a[i * k + p] * b[p * n + j];
}
API void gemm_bias_relu(const float* a, const float* b, const float* bias, float* c, int m, int n,
                        int k) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      float s = bias[j];
      for (int p = 0; p < k; p++) s += a[i * k + p] * b[p * n + j];
      c[i * n + j] = s > 0 ? s : 0;
    }
}
API void transpose(const float* x, float* out, size_t rows, size_t cols) {
  for (size_t r = 0; r < rows; r++)
    for (size_t c = 0; c < cols; c++) out[c * rows + r] = x[r * cols + c];
}
API void block_scale(const float* q, const float* scale, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = q[i] * scale[i / 32];
}

// ---- lifted, but no vector code: their order is their meaning ----
API void prefix_sum(const float* x, float* out, size_t n) {
  float s = 0;
  for (size_t i = 0; i < n; i++) {
    s += x[i];
    out[i] = s;
  }
}
API void smooth(const float* x, float* out, size_t n, float a) {
  float y = 0;
  for (size_t i = 0; i < n; i++) {
    y = a * y + (1.0f - a) * x[i];
    out[i] = y;
  }
}

// ---- refused, with a reason ----
static float counter;
static float factor = 1.0f;
API void set_factor(float x) { factor = x; }
API void reads_a_global(const float* x, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = factor * x[i];
}
API void writes_a_global(const float* x, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) {
    counter = counter + x[i];
    out[i] = x[i];
  }
}
// Like counters of --coverage, but the program's own: only the names tell.
static int64_t calls, elements, rounds;
API int64_t counted() { return calls + elements + rounds; }
API void counts_calls(const float* x, float* out, size_t n) {
  calls++;
  for (size_t i = 0; i < n; i++) out[i] = x[i] + 1.0f;
}
API void counts_elements(const float* x, float* out, size_t n) {
  elements += (int64_t)n;
  for (size_t i = 0; i < n; i++) out[i] = x[i] + 1.0f;
}
API void counts_rounds(const float* x, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) {
    rounds++;
    out[i] = x[i] + 1.0f;
  }
}
API void leaves_early(const float* x, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (x[i] < 0) break;
    out[i] = x[i];
  }
}
API float f_switch(float x, float mode) {
  switch ((int)mode) {
    case 0: return x;
    case 1: return x * 3.0f;
    case 2: return x + 7.0f;
    case 3: return x * x;
    case 4: return -x;
    case 5: return x - 2.0f;
    case 6: return x * 0.5f;
    default: return 0.0f;
  }
}
