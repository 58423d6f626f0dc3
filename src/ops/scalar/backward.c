/* SPDX-License-Identifier: MIT
 * src/ops/scalar/backward.c: gradients of a norm and of rotary position embedding. */
#include "definition.h"

/* The transposed matrix of rotate_half (position.c); both elements of a pair are read before either
 * is written. */
HELPER void unrotate_half(const real* dy, const real* cosine, const real* sine, real* dx,
                          size_t d) {
  size_t half = d / 2;
  for (size_t i = 0; i < half; i++) {
    real a = dy[i];
    real b = dy[i + half];
    dx[i] = a * cosine[i] + b * sine[i + half];
    dx[i + half] = b * cosine[i + half] - a * sine[i];
  }
}

HELPER void unrotate_interleaved(const real* dy, const real* cosine, const real* sine, real* dx,
                                 size_t d) {
  size_t half = d / 2;
  for (size_t i = 0; i < half; i++) {
    real a = dy[2 * i];
    real b = dy[2 * i + 1];
    dx[2 * i] = a * cosine[2 * i] + b * sine[2 * i + 1];
    dx[2 * i + 1] = b * cosine[2 * i + 1] - a * sine[2 * i];
  }
}

OP(rope_backward_half)
(const real* dy, const real* cosine, const real* sine, real* dx, size_t d) {
  unrotate_half(dy, cosine, sine, dx, d);
}

OP(rope_backward_interleaved)
(const real* dy, const real* cosine, const real* sine, real* dx, size_t d) {
  unrotate_interleaved(dy, cosine, sine, dx, d);
}

/* The caller has checked that 0 <= position < table. */
OP(rope_with_pos_backward_half)
(const real* dy, const real* cosine, const real* sine, const int32_t* position, real* dx,
 size_t table, size_t d) {
  (void)table;
  size_t row = (size_t)position[0] * d;
  unrotate_half(dy, cosine + row, sine + row, dx, d);
}

OP(rope_with_pos_backward_interleaved)
(const real* dy, const real* cosine, const real* sine, const int32_t* position, real* dx,
 size_t table, size_t d) {
  (void)table;
  size_t row = (size_t)position[0] * d;
  unrotate_interleaved(dy, cosine + row, sine + row, dx, d);
}

/* Of y = x * r * w with r = 1 / sqrt(mean(x^2) + eps): the gradient of x, and what this row adds to
 * the gradient of w. */
OP(rms_norm_row_backward)
(const real* x, const real* w, const real* dy, real* dx, real* dw_row, size_t n, real eps) {
  real squares = R(0.0);
  for (size_t i = 0; i < n; i++) squares += x[i] * x[i];
  real dot = R(0.0);
  for (size_t i = 0; i < n; i++) dot += dy[i] * w[i] * x[i];
  real count = (real)(int64_t)n;
  real r = R(1.0) / m_sqrt(squares / count + eps);
  real back = r * r * r * (dot / count);
  for (size_t i = 0; i < n; i++) {
    real g = dy[i];
    real v = x[i];
    dx[i] = r * g * w[i] - back * v;
    dw_row[i] = g * v * r;
  }
}

/* The rows of a matrix, added up. */
OP(sum_rows)(const real* x, real* out, size_t rows, size_t cols) {
  for (size_t j = 0; j < cols; j++) {
    real sum = R(0.0);
    for (size_t i = 0; i < rows; i++) sum += x[i * cols + j];
    out[j] = sum;
  }
}
