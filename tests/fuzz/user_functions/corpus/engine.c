// SPDX-License-Identifier: MIT
// tests/fuzz/user_functions/corpus/engine.c: norms, losses, sampling and moves of inference
// engines.
#include "corpus.h"

void engine_layer_norm_rows(const float* x, const float* w, const float* b, float* o, int rows,
                            int cols, float eps) {
  for (int r = 0; r < rows; r++) {
    const float* in = x + r * cols;
    float sum = 0, squares = 0;
    for (int i = 0; i < cols; i++) {
      sum += in[i];
      squares += in[i] * in[i];
    }
    const float mean = sum / (float)cols, var = squares / (float)cols - mean * mean;
    const float inverse = 1.0f / sqrtf(fmaxf(var, 0.0f) + eps);
    for (int i = 0; i < cols; i++) o[r * cols + i] = (in[i] - mean) * inverse * w[i] + b[i];
  }
}
void engine_welford_norm(const float* x, float* o, int n) {
  float mean = 0, m2 = 0;
  for (int i = 0; i < n; i++) {
    const float d = x[i] - mean;
    mean += d / (float)(i + 1);
    m2 += d * (x[i] - mean);
  }
  const float inverse = 1.0f / sqrtf(m2 / (float)n + 1e-5f);
  for (int i = 0; i < n; i++) o[i] = (x[i] - mean) * inverse;
}
void engine_l2_normalize(const float* x, float* o, size_t n, float eps) {
  float s = 0;
  for (size_t i = 0; i < n; i++) s += x[i] * x[i];
  const float scale = 1.0f / fmaxf(sqrtf(s), eps);
  for (size_t i = 0; i < n; i++) o[i] = x[i] * scale;
}
void engine_group_norm(const float* x, float* o, int groups, int size) {
  for (int g = 0; g < groups; g++) {
    float mean = 0, var = 0;
    for (int i = 0; i < size; i++) mean += x[g * size + i];
    mean /= (float)size;
    for (int i = 0; i < size; i++) var += (x[g * size + i] - mean) * (x[g * size + i] - mean);
    for (int i = 0; i < size; i++)
      o[g * size + i] = (x[g * size + i] - mean) / sqrtf(var / (float)size + 1e-6f);
  }
}
void engine_rms_norm_double(const double* x, double* o, long n) {
  double s = 0;
  for (long i = 0; i < n; i++) s += x[i] * x[i];
  s = 1.0 / sqrt(s / (double)n + 1e-6);
  for (long i = 0; i < n; i++) o[i] = x[i] * s;
}
void engine_log_sum_exp(const float* x, float* o, int n) {
  float m = -INFINITY, s = 0;
  for (int i = 0; i < n; i++) m = x[i] > m ? x[i] : m;
  for (int i = 0; i < n; i++) s += expf(x[i] - m);
  *o = m + logf(s);
}
float engine_log_sum_exp_returned(const float* x, size_t n) {
  float m = x[0], s = 0;
  for (size_t i = 1; i < n; i++)
    if (x[i] > m) m = x[i];
  for (size_t i = 0; i < n; i++) s += expf(x[i] - m);
  return m + logf(s);
}
void engine_log_softmax(const float* x, float* o, int rows, int cols) {
  for (int r = 0; r < rows; r++) {
    float m = -INFINITY, s = 0;
    for (int i = 0; i < cols; i++) m = fmaxf(m, x[r * cols + i]);
    for (int i = 0; i < cols; i++) s += expf(x[r * cols + i] - m);
    const float l = m + logf(s);
    for (int i = 0; i < cols; i++) o[r * cols + i] = x[r * cols + i] - l;
  }
}
void engine_cross_entropy(const float* logits, const int32_t* target, float* loss, int rows,
                          int classes) {
  for (int r = 0; r < rows; r++) {
    float m = logits[r * classes], s = 0;
    for (int c = 1; c < classes; c++) m = fmaxf(m, logits[r * classes + c]);
    for (int c = 0; c < classes; c++) s += expf(logits[r * classes + c] - m);
    loss[r] = m + logf(s) - logits[r * classes + target[r]];
  }
}
float engine_kl(const float* p, const float* q, int n) {
  float s = 0;
  for (int i = 0; i < n; i++) s += p[i] > 0 ? p[i] * logf(p[i] / q[i]) : 0.0f;
  return s;
}
float engine_mean_squares(const float* a, const float* b, size_t n) {
  float s = 0;
  for (size_t i = 0; i < n; i++) {
    const float d = a[i] - b[i];
    s += d * d;
  }
  return s / (float)n;
}
float engine_cosine(const float* a, const float* b, int n) {
  float ab = 0, aa = 0, bb = 0;
  for (int i = 0; i < n; i++) {
    ab += a[i] * b[i];
    aa += a[i] * a[i];
    bb += b[i] * b[i];
  }
  return ab / (sqrtf(aa) * sqrtf(bb) + 1e-8f);
}
void engine_top1_rows(const float* x, int32_t* index, float* value, int rows, int cols) {
  for (int r = 0; r < rows; r++) {
    int best = 0;
    float most = x[r * cols];
    for (int c = 1; c < cols; c++)
      if (x[r * cols + c] > most) {
        most = x[r * cols + c];
        best = c;
      }
    index[r] = best;
    value[r] = most;
  }
}
int engine_argmin(const float* x, int n) {
  int best = 0;
  float least = INFINITY;
  for (int i = 0; i < n; i++)
    if (x[i] < least) {
      least = x[i];
      best = i;
    }
  return best;
}
int engine_sample(const float* p, int n, float r) {
  float c = 0;
  for (int i = 0; i < n; i++) {
    c += p[i];
    if (r < c) return i;
  }
  return n - 1;
}
int engine_count_equal(const int32_t* a, const int32_t* b, int n) {
  int c = 0;
  for (int i = 0; i < n; i++)
    if (a[i] == b[i]) c++;
  return c;
}
int engine_any_nan(const float* x, int n) {
  for (int i = 0; i < n; i++)
    if (x[i] != x[i]) return 1;
  return 0;
}
void engine_cumulative(const float* x, float* o, unsigned n) {
  float s = 0;
  for (unsigned i = 0; i < n; i++) o[i] = s += x[i];
}
void engine_moving_average(const float* x, float* o, int n, int window) {
  for (int i = 0; i + window <= n; i++) {
    float s = 0;
    for (int j = 0; j < window; j++) s += x[i + j];
    o[i] = s / (float)window;
  }
}
void engine_ema(const float* x, float* o, int n, float alpha) {
  float y = x[0];
  for (int i = 0; i < n; i++) {
    y = alpha * x[i] + (1 - alpha) * y;
    o[i] = y;
  }
}
void engine_repetition_penalty(float* logits, const uint8_t* seen, int n, float penalty) {
  for (int i = 0; i < n; i++)
    if (seen[i]) logits[i] = logits[i] > 0 ? logits[i] / penalty : logits[i] * penalty;
}
void engine_gather_bytes(const float* table, const uint8_t* index, float* o, unsigned n) {
  for (unsigned i = 0; i < n; i++) o[i] = table[index[i]];
}
void engine_gather_long(const float* x, const int64_t* index, float* o, int64_t n) {
  for (int64_t i = 0; i < n; i++) o[i] = x[index[i]];
}
void engine_add_position(const float* x, const float* table, float* o, int t, int dim, int past) {
  for (int i = 0; i < t; i++)
    for (int d = 0; d < dim; d++) o[i * dim + d] = x[i * dim + d] + table[(i + past) * dim + d];
}
void engine_moe_weighted(const float* y, const float* gate, float* o, int experts, int dim) {
  for (int d = 0; d < dim; d++) {
    float s = 0;
    for (int e = 0; e < experts; e++) s += gate[e] * y[e * dim + d];
    o[d] = s;
  }
}
void engine_geglu_halves(const float* x, float* o, int rows, int half) {
  for (int r = 0; r < rows; r++)
    for (int i = 0; i < half; i++) {
      const float g = x[r * 2 * half + i], u = x[r * 2 * half + half + i];
      o[r * half + i] = 0.5f * g * (1.0f + erff(g * 0.70710678f)) * u;
    }
}
void engine_linear_pointers(const float* x, const float* w, const float* b, float* y, int in,
                            int out) {
  for (int o = 0; o < out; o++) {
    const float* row = w + (long)o * in;
    float s = 0;
    for (int i = 0; i < in; i++) s += *row++ * x[i];
    *y++ = s + b[o];
  }
}
void engine_matmul_accumulate(const float* restrict a, const float* restrict b, float* restrict c,
                              size_t m, size_t n, size_t k) {
  for (size_t i = 0; i < m; i++)
    for (size_t p = 0; p < k; p++) {
      const float v = a[i * k + p];
      for (size_t j = 0; j < n; j++) c[i * n + j] += v * b[p * n + j];
    }
}
void engine_matvec_transposed(const float* a, const float* x, float* y, int rows, int cols) {
  for (int j = 0; j < cols; j++) y[j] = 0;
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++) y[j] += x[i] * a[i * cols + j];
}
void engine_hard_swish(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) {
    const float r = x[i] + 3.0f;
    o[i] = x[i] * (r < 0 ? 0 : r > 6 ? 6 : r) / 6.0f;
  }
}
void engine_lookup_exponent(const float* x, float* o, int n) {
  static const float kPowers[16] = {1,   2,   4,    8,    16,   32,   64,    128,
                                    256, 512, 1024, 2048, 4096, 8192, 16384, 32768};
  for (int i = 0; i < n; i++) {
    int k = (int)x[i];
    if (k < 0) k = 0;
    if (k > 15) k = 15;
    o[i] = x[i] / kPowers[k];
  }
}
void engine_time_of_day(const int32_t* seconds, int32_t* hours, int32_t* minutes, int n) {
  for (int i = 0; i < n; i++) {
    hours[i] = seconds[i] / 3600;
    minutes[i] = seconds[i] % 3600 / 60;
  }
}
void engine_blocks_of_seven(const float* x, const float* s, float* o, unsigned n) {
  for (unsigned i = 0; i < n; i++) o[i] = x[i] * s[i / 7] + (float)(i % 7);
}
void engine_blocks_of_twelve(const float* x, const float* s, float* o, size_t n) {
  for (size_t i = 0; i < n; i++) o[i] = x[i] * s[i / 12] + (float)(i % 12);
}
