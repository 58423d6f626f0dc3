// SPDX-License-Identifier: MIT
// tests/fuzz/user_functions/corpus/attention.c: around attention: rotation, positions, masks,
// scores, caches.
#include "corpus.h"

void attention_rope_half(float* x, const float* c, const float* s, int heads, int dim) {
  for (int h = 0; h < heads; h++)
    for (int i = 0; i < dim / 2; i++) {
      const float a = x[h * dim + i], b = x[h * dim + i + dim / 2];
      x[h * dim + i] = a * c[i] - b * s[i];
      x[h * dim + i + dim / 2] = b * c[i] + a * s[i];
    }
}
void attention_rope_by_position(const float* x, float* o, int half, int position, float theta) {
  for (int i = 0; i < half; i++) {
    const float angle = (float)position * powf(theta, -(float)i / (float)half);
    const float c = cosf(angle), s = sinf(angle);
    o[i] = x[i] * c - x[i + half] * s;
    o[i + half] = x[i] * s + x[i + half] * c;
  }
}
void attention_rope_pairs(float* x, int n, float base) {
  for (int i = 0; i < n; i += 2) {
    const float angle = base * expf(-0.05f * (float)i), c = cosf(angle), s = sinf(angle);
    const float a = x[i], b = x[i + 1];
    x[i] = a * c - b * s;
    x[i + 1] = a * s + b * c;
  }
}
void attention_rope_partial(const float* x, const float* c, const float* s, float* o, int rows,
                            int dim, int rotated) {
  for (int r = 0; r < rows; r++) {
    for (int i = 0; i < rotated; i++)
      o[r * dim + i] =
          x[r * dim + i] * c[i] + (i % 2 ? x[r * dim + i - 1] : -x[r * dim + i + 1]) * s[i];
    for (int i = rotated; i < dim; i++) o[r * dim + i] = x[r * dim + i];
  }
}
void attention_rope_table(const float* x, const float* table, const int32_t* position, float* o,
                          int t, int half) {
  for (int i = 0; i < t; i++)
    for (int j = 0; j < half; j++) {
      const float c = table[position[i] * 2 * half + j],
                  s = table[position[i] * 2 * half + half + j];
      const float a = x[i * 2 * half + j], b = x[i * 2 * half + half + j];
      o[i * 2 * half + j] = a * c - b * s;
      o[i * 2 * half + half + j] = a * s + b * c;
    }
}
void attention_alibi_row(const float* scores, float* o, int n, int position, float slope) {
  for (int j = 0; j < n; j++) o[j] = scores[j] - slope * (float)(position - j);
}
void attention_alibi_slopes(float* slope, int heads) {
  for (int h = 0; h < heads; h++) slope[h] = exp2f(-8.0f * (float)(h + 1) / (float)heads);
}
void attention_causal_offset(float* scores, int rows, int cols, int offset) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++)
      if (j > i + offset) scores[i * cols + j] = -INFINITY;
}
void attention_sliding(const float* scores, float* o, int n, int window) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      o[i * n + j] = j <= i && j > i - window ? scores[i * n + j] : -INFINITY;
}
void attention_mask_bytes(const float* x, const uint8_t* mask, float* o, size_t n) {
  for (size_t i = 0; i < n; i++) o[i] = mask[i] ? x[i] : -1e9f;
}
void attention_mask_fill(float* x, const uint8_t* mask, int rows, int cols, float value) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++)
      if (!mask[j]) x[i * cols + j] = value;
}
void attention_padding(const float* x, const int32_t* length, float* o, int batch, int n) {
  for (int b = 0; b < batch; b++)
    for (int i = 0; i < n; i++) o[b * n + i] = i < length[b] ? x[b * n + i] : 0.0f;
}
void attention_scores(const float* q, const float* k, float* o, int n, int dim, float scale) {
  for (int j = 0; j < n; j++) {
    float s = 0;
    for (int d = 0; d < dim; d++) s += q[d] * k[j * dim + d];
    o[j] = s * scale;
  }
}
void attention_weighted_values(const float* p, const float* v, float* o, int n, int dim) {
  for (int d = 0; d < dim; d++) o[d] = 0;
  for (int j = 0; j < n; j++)
    for (int d = 0; d < dim; d++) o[d] += p[j] * v[j * dim + d];
}
void attention_cache_append(const float* k, float* cache, int dim, int position) {
  for (int d = 0; d < dim; d++) cache[position * dim + d] = k[d];
}
void attention_cache_append_heads(const float* k, float* cache, int heads, int dim, int most,
                                  int position) {
  for (int h = 0; h < heads; h++)
    for (int d = 0; d < dim; d++) cache[(h * most + position) * dim + d] = k[h * dim + d];
}
void attention_cache_shift(float* cache, int n, int dim) {
  for (int i = 0; i + 1 < n; i++)
    for (int d = 0; d < dim; d++) cache[i * dim + d] = cache[(i + 1) * dim + d];
}
void attention_page_gather(const float* pages, const int32_t* table, float* o, int n, int dim) {
  for (int i = 0; i < n; i++)
    for (int d = 0; d < dim; d++) o[i * dim + d] = pages[(table[i / 16] * 16 + i % 16) * dim + d];
}
void attention_repeat_heads(const float* k, float* o, int heads, int dim, int repeat) {
  for (int h = 0; h < heads * repeat; h++)
    for (int d = 0; d < dim; d++) o[h * dim + d] = k[(h / repeat) * dim + d];
}
void attention_softcap(const float* x, float* o, size_t n, float cap) {
  for (size_t i = 0; i < n; i++) o[i] = cap * tanhf(x[i] / cap);
}
void attention_softmax_scaled(const float* x, float* o, int n, float temperature) {
  float m = x[0];
  for (int i = 1; i < n; i++) m = x[i] > m ? x[i] : m;
  float s = 0;
  for (int i = 0; i < n; i++) {
    o[i] = expf((x[i] - m) / temperature);
    s += o[i];
  }
  const float inverse = 1.0f / s;
  for (int i = 0; i < n; i++) o[i] *= inverse;
}
void attention_online_max_sum(const float* x, float* most, float* sum, int n) {
  float m = -INFINITY, s = 0;
  for (int i = 0; i < n; i++) {
    if (x[i] > m) {
      s = s * expf(m - x[i]) + 1.0f;
      m = x[i];
    } else {
      s += expf(x[i] - m);
    }
  }
  *most = m;
  *sum = s;
}
void attention_merge(const float* a, const float* b, const float* la, const float* lb, float* o,
                     int n) {
  const float m = fmaxf(la[0], lb[0]), wa = expf(la[0] - m), wb = expf(lb[0] - m);
  for (int i = 0; i < n; i++) o[i] = (wa * a[i] + wb * b[i]) / (wa + wb);
}
