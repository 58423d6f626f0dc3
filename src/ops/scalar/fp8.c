/* SPDX-License-Identifier: MIT
 * src/ops/scalar/fp8.c: to and from 8-bit floats with a scale a tensor, row, column or block.
 *
 * x ~ q * scale. A scale is the largest finite magnitude of its tile over the largest value of
 * the format, 1 where that is 0. Given scales are raised where they overflow (adjust) or kept
 * (saturate). Values of q are stored as numbers; whoever stores them as codes loses nothing. */
#include "definition.h"

/* 448 for f8e4m3 (dtype 5), 57344 for f8e5m2 (dtype 6). */
HELPER real fp8_max(int type) { return R(448.0) + (real)(type - 5) * R(56896.0); }

HELPER real finite_magnitude(real x) {
  real magnitude = m_fabs(x);
  return magnitude < (real)INFINITY ? magnitude : R(0.0);
}

HELPER real tile_top(const real* x, size_t rows, size_t cols, size_t stride) {
  real top = R(0.0);
  for (size_t i = 0; i < rows; i++) {
    for (size_t j = 0; j < cols; j++) {
      real magnitude = finite_magnitude(x[i * stride + j]);
      top = magnitude > top ? magnitude : top;
    }
  }
  return top;
}

HELPER void tile_quantize(const real* x, real* q, size_t rows, size_t cols, size_t stride,
                          real scale, int type_q) {
  for (size_t i = 0; i < rows; i++) {
    for (size_t j = 0; j < cols; j++) {
      q[i * stride + j] = round_to(x[i * stride + j] / scale, type_q);
    }
  }
}

HELPER real row_top(const real* x, size_t n) {
  real top = R(0.0);
  for (size_t i = 0; i < n; i++) {
    real magnitude = finite_magnitude(x[i]);
    top = magnitude > top ? magnitude : top;
  }
  return top;
}

HELPER void row_quantize(const real* x, real* q, size_t n, real scale, int type_q) {
  for (size_t i = 0; i < n; i++) q[i] = round_to(x[i] / scale, type_q);
}

HELPER real own_scale(real top, int type_q) {
  real ratio = top / fp8_max(type_q);
  return ratio > R(0.0) ? ratio : R(1.0);
}

HELPER real adjusted_scale(real given, real top, int type_q) {
  return m_max(given, top / fp8_max(type_q));
}

static inline size_t block_size(size_t begin, size_t end) {
  size_t rest = end - begin;
  return rest < 128 ? rest : 128;
}

/* One scale for everything. */
OP(fp8_quantize_tensor)(const real* x, real* q, real* scale, size_t rows, size_t cols, int type_q) {
  real s = own_scale(tile_top(x, rows, cols, cols), type_q);
  scale[0] = s;
  tile_quantize(x, q, rows, cols, cols, s, type_q);
}

OP(fp8_quantize_tensor_adjust)
(const real* x, const real* scale_in, real* q, real* scale, size_t rows, size_t cols, int type_q) {
  real s = adjusted_scale(scale_in[0], tile_top(x, rows, cols, cols), type_q);
  scale[0] = s;
  tile_quantize(x, q, rows, cols, cols, s, type_q);
}

OP(fp8_quantize_tensor_saturate)
(const real* x, const real* scale_in, real* q, real* scale, size_t rows, size_t cols, int type_q) {
  real s = scale_in[0];
  scale[0] = s;
  tile_quantize(x, q, rows, cols, cols, s, type_q);
}

/* One row. */
OP(fp8_quantize_row)(const real* x, real* q, real* scale, size_t cols, int type_q) {
  real s = own_scale(row_top(x, cols), type_q);
  scale[0] = s;
  row_quantize(x, q, cols, s, type_q);
}

OP(fp8_quantize_row_adjust)
(const real* x, const real* scale_in, real* q, real* scale, size_t cols, int type_q) {
  real s = adjusted_scale(scale_in[0], row_top(x, cols), type_q);
  scale[0] = s;
  row_quantize(x, q, cols, s, type_q);
}

OP(fp8_quantize_row_saturate)
(const real* x, const real* scale_in, real* q, real* scale, size_t cols, int type_q) {
  real s = scale_in[0];
  scale[0] = s;
  row_quantize(x, q, cols, s, type_q);
}

/* One scale a column: a tile of one column each. */
OP(fp8_quantize_column)(const real* x, real* q, real* scale, size_t rows, size_t cols, int type_q) {
  for (size_t j = 0; j < cols; j++) {
    real s = own_scale(tile_top(x + j, rows, 1, cols), type_q);
    scale[j] = s;
    tile_quantize(x + j, q + j, rows, 1, cols, s, type_q);
  }
}

OP(fp8_quantize_column_adjust)
(const real* x, const real* scale_in, real* q, real* scale, size_t rows, size_t cols, int type_q) {
  for (size_t j = 0; j < cols; j++) {
    real s = adjusted_scale(scale_in[j], tile_top(x + j, rows, 1, cols), type_q);
    scale[j] = s;
    tile_quantize(x + j, q + j, rows, 1, cols, s, type_q);
  }
}

OP(fp8_quantize_column_saturate)
(const real* x, const real* scale_in, real* q, real* scale, size_t rows, size_t cols, int type_q) {
  for (size_t j = 0; j < cols; j++) {
    real s = scale_in[j];
    scale[j] = s;
    tile_quantize(x + j, q + j, rows, 1, cols, s, type_q);
  }
}

/* One row, one scale for every 128 columns. */
OP(fp8_quantize_block_1x128)(const real* x, real* q, real* scale, size_t cols, int type_q) {
  size_t blocks = (cols + 127) / 128;
  for (size_t b = 0; b < blocks; b++) {
    size_t j = b * 128;
    size_t width = block_size(j, cols);
    real s = own_scale(row_top(x + j, width), type_q);
    scale[b] = s;
    row_quantize(x + j, q + j, width, s, type_q);
  }
}

OP(fp8_quantize_block_1x128_adjust)
(const real* x, const real* scale_in, real* q, real* scale, size_t cols, int type_q) {
  size_t blocks = (cols + 127) / 128;
  for (size_t b = 0; b < blocks; b++) {
    size_t j = b * 128;
    size_t width = block_size(j, cols);
    real s = adjusted_scale(scale_in[b], row_top(x + j, width), type_q);
    scale[b] = s;
    row_quantize(x + j, q + j, width, s, type_q);
  }
}

OP(fp8_quantize_block_1x128_saturate)
(const real* x, const real* scale_in, real* q, real* scale, size_t cols, int type_q) {
  size_t blocks = (cols + 127) / 128;
  for (size_t b = 0; b < blocks; b++) {
    size_t j = b * 128;
    real s = scale_in[b];
    scale[b] = s;
    row_quantize(x + j, q + j, block_size(j, cols), s, type_q);
  }
}

/* One scale for every 128 rows and 128 columns. */
OP(fp8_quantize_block_128x128)
(const real* x, real* q, real* scale, size_t rows, size_t cols, int type_q) {
  size_t down = (rows + 127) / 128;
  size_t across = (cols + 127) / 128;
  for (size_t a = 0; a < down; a++) {
    for (size_t b = 0; b < across; b++) {
      size_t at = a * 128 * cols + b * 128;
      size_t height = block_size(a * 128, rows);
      size_t width = block_size(b * 128, cols);
      real s = own_scale(tile_top(x + at, height, width, cols), type_q);
      scale[a * across + b] = s;
      tile_quantize(x + at, q + at, height, width, cols, s, type_q);
    }
  }
}

OP(fp8_quantize_block_128x128_adjust)
(const real* x, const real* scale_in, real* q, real* scale, size_t rows, size_t cols, int type_q) {
  size_t down = (rows + 127) / 128;
  size_t across = (cols + 127) / 128;
  for (size_t a = 0; a < down; a++) {
    for (size_t b = 0; b < across; b++) {
      size_t at = a * 128 * cols + b * 128;
      size_t height = block_size(a * 128, rows);
      size_t width = block_size(b * 128, cols);
      real top = tile_top(x + at, height, width, cols);
      real s = adjusted_scale(scale_in[a * across + b], top, type_q);
      scale[a * across + b] = s;
      tile_quantize(x + at, q + at, height, width, cols, s, type_q);
    }
  }
}

OP(fp8_quantize_block_128x128_saturate)
(const real* x, const real* scale_in, real* q, real* scale, size_t rows, size_t cols, int type_q) {
  size_t down = (rows + 127) / 128;
  size_t across = (cols + 127) / 128;
  for (size_t a = 0; a < down; a++) {
    for (size_t b = 0; b < across; b++) {
      size_t at = a * 128 * cols + b * 128;
      size_t height = block_size(a * 128, rows);
      size_t width = block_size(b * 128, cols);
      real s = scale_in[a * across + b];
      scale[a * across + b] = s;
      tile_quantize(x + at, q + at, height, width, cols, s, type_q);
    }
  }
}

/* Back: one row with its scale, be it the row's or the tensor's; ... */
OP(fp8_dequantize_row)(const real* q, const real* scale, real* out, size_t cols) {
  real s = scale[0];
  for (size_t i = 0; i < cols; i++) out[i] = q[i] * s;
}

/* ... one row with a scale a column; ... */
OP(fp8_dequantize_column)(const real* q, const real* scale, real* out, size_t cols) {
  for (size_t i = 0; i < cols; i++) out[i] = q[i] * scale[i];
}

/* ... one row with a scale every 128 columns; ... */
OP(fp8_dequantize_block_1x128)(const real* q, const real* scale, real* out, size_t cols) {
  for (size_t i = 0; i < cols; i++) out[i] = q[i] * scale[i / 128];
}

/* ... and a matrix of square blocks. */
OP(fp8_dequantize_block_128x128)
(const real* q, const real* scale, real* out, size_t rows, size_t cols) {
  size_t across = (cols + 127) / 128;
  for (size_t i = 0; i < rows; i++) {
    for (size_t j = 0; j < cols; j++) {
      out[i * cols + j] = q[i * cols + j] * scale[i / 128 * across + j / 128];
    }
  }
}
