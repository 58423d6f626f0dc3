// SPDX-License-Identifier: MIT
// tests/fuzz/user_functions/corpus/matrix.c: two and more axes.
#include "corpus.h"

void matrix_transpose(const float* x, float* o, int rows, int cols) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++) o[j * rows + i] = x[i * cols + j];
}
void matrix_transpose_gathering(const float* x, float* o, size_t rows, size_t cols) {
  for (size_t j = 0; j < cols; j++)
    for (size_t i = 0; i < rows; i++) o[j * rows + i] = x[i * cols + j];
}
void matrix_transpose_square(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) o[i * n + j] = x[j * n + i];
}
void matrix_add_transposed(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) o[i * n + j] = x[i * n + j] + x[j * n + i];
}
void matrix_diagonal(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = x[i * n + i];
}
void matrix_diagonal_moving(const float* x, float* o, size_t n) {
  for (size_t i = 0; i < n; i++, x += n + 1) o[i] = *x;
}
void matrix_trace(const float* x, float* o, int n) {
  float s = 0;
  for (int i = 0; i < n; i++) s += x[i * n + i];
  o[0] = s;
}
void matrix_causal(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) o[i * n + j] = j <= i ? x[i * n + j] : -INFINITY;
}
void matrix_lower_part(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) o[i * n + j] = 2 * x[i * n + j];
}
void matrix_triangle_sums(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) {
    float s = 0;
    for (int j = 0; j <= i; j++) s += x[i * n + j];
    o[i] = s;
  }
}
void matrix_triangle_packed(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) o[i * n + j] = x[i * (i + 1) / 2 + j];
}
void matrix_upper_dot(const float* a, const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) {
    float s = 0;
    for (int j = i; j < n; j++) s += a[i * n + j] * x[j];
    o[i] = s;
  }
}
void matrix_causal_softmax(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) {
    float m = -INFINITY, s = 0;
    for (int j = 0; j <= i; j++) m = fmaxf(m, x[i * n + j]);
    for (int j = 0; j <= i; j++) s += expf(x[i * n + j] - m);
    for (int j = 0; j < n; j++) o[i * n + j] = j <= i ? expf(x[i * n + j] - m) / s : 0;
  }
}
void matrix_column_sums(const float* x, float* o, int rows, int cols) {
  for (int j = 0; j < cols; j++) {
    float s = 0;
    for (int i = 0; i < rows; i++) s += x[i * cols + j];
    o[j] = s;
  }
}
void matrix_column_sums_by_row(const float* x, float* o, int rows, int cols) {
  for (int j = 0; j < cols; j++) o[j] = 0;
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++) o[j] += x[i * cols + j];
}
void matrix_row(const float* x, float* o, int rows, int cols) {
  for (int j = 0; j < cols; j++) o[j] = x[(rows - 1) * cols + j];
}
void matrix_strided_column(const float* x, float* o, int n, int m) {
  for (int i = 0; i < n; i++) o[i] = x[i * m];
}
void matrix_strided_pointer(const float* x, float* o, size_t n, size_t stride) {
  for (size_t i = 0; i < n; i++) {
    o[i] = *x;
    x += stride;
  }
}
void matrix_leading_dimension(const float* x, float* o, int rows, int cols, int ld) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++) o[i * cols + j] = x[i * ld + j];
}
void matrix_matmul_bt(const float* a, const float* b, float* c, int m, int n, int k) {
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      float s = 0;
      for (int p = 0; p < k; p++) s += a[i * k + p] * b[j * k + p];
      c[i * n + j] = s;
    }
}
void matrix_matmul_ikj(const float* a, const float* b, float* c, int m, int n, int k) {
  for (int i = 0; i < m * n; i++) c[i] = 0;
  for (int i = 0; i < m; i++)
    for (int p = 0; p < k; p++)
      for (int j = 0; j < n; j++) c[i * n + j] += a[i * k + p] * b[p * n + j];
}
void matrix_batched(const float* a, const float* b, float* c, int batch, int n) {
  for (int t = 0; t < batch; t++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        float s = 0;
        for (int k = 0; k < n; k++) s += a[(t * n + i) * n + k] * b[(t * n + k) * n + j];
        c[(t * n + i) * n + j] = s;
      }
}
void matrix_permute(const float* x, float* o, int a, int b, int c) {
  for (int i = 0; i < a; i++)
    for (int j = 0; j < b; j++)
      for (int k = 0; k < c; k++) o[(j * a + i) * c + k] = x[(i * b + j) * c + k];
}
void matrix_flat_index(const float* x, const float* bias, float* o, int rows, int cols) {
  for (int i = 0; i < rows * cols; i++) o[i] = x[i] + bias[i % cols];
}
void matrix_flat_rows(const float* x, const float* s, float* o, size_t rows, size_t cols) {
  for (size_t i = 0; i < rows * cols; i++) o[i] = x[i] * s[i / cols];
}
void matrix_heads(const float* q, const float* k, float* o, int heads, int dim) {
  for (int h = 0; h < heads; h++) {
    float s = 0;
    for (int i = 0; i < dim; i++) s += q[h * dim + i] * k[h * dim + i];
    o[h] = s / sqrtf((float)dim);
  }
}
void matrix_grouped_heads(const float* q, const float* k, float* o, int heads, int dim) {
  for (int h = 0; h < heads; h++) {
    float s = 0;
    for (int i = 0; i < dim; i++) s += q[h * dim + i] * k[(h / 4) * dim + i];
    o[h] = s;
  }
}
void matrix_rope_interleaved(const float* x, const float* c, const float* s, float* o, int rows,
                             int half) {
  for (int r = 0; r < rows; r++)
    for (int i = 0; i < half; i++) {
      float a = x[r * 2 * half + 2 * i], b = x[r * 2 * half + 2 * i + 1];
      o[r * 2 * half + 2 * i] = a * c[i] - b * s[i];
      o[r * 2 * half + 2 * i + 1] = a * s[i] + b * c[i];
    }
}
void matrix_distances(const float* a, const float* b, float* o, int n, int m, int d) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      float s = 0;
      for (int k = 0; k < d; k++) {
        float t = a[i * d + k] - b[j * d + k];
        s += t * t;
      }
      o[i * m + j] = sqrtf(s);
    }
}
void matrix_alibi(const float* x, const float* slope, float* o, int heads, int n) {
  for (int h = 0; h < heads; h++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        o[(h * n + i) * n + j] = x[(h * n + i) * n + j] + slope[h] * (float)(j - i);
}
