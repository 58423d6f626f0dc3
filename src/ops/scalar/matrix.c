/* SPDX-License-Identifier: MIT
 * src/ops/scalar/matrix.c: products and their helpers. Each output is one sequential chain in k. */
#include "definition.h"

OP(gemv)(const real* a, const real* x, real* y, size_t m, size_t n) {
  for (size_t i = 0; i < m; i++) {
    real sum = R(0.0);
    for (size_t j = 0; j < n; j++) sum += a[i * n + j] * x[j];
    y[i] = sum;
  }
}

OP(gemm)(const real* a, const real* b, real* c, size_t m, size_t n, size_t k) {
  for (size_t i = 0; i < m; i++) {
    for (size_t j = 0; j < n; j++) {
      real sum = R(0.0);
      for (size_t p = 0; p < k; p++) sum += a[i * k + p] * b[p * n + j];
      c[i * n + j] = sum;
    }
  }
}

/* Integer sums wrap at 2^32, as the dot product instructions do: from k = 131072 on they can. */
OP(gemm_i8i8)(const int8_t* a, const int8_t* b, int32_t* c, size_t m, size_t n, size_t k) {
  for (size_t i = 0; i < m; i++) {
    for (size_t j = 0; j < n; j++) {
      uint32_t sum = 0;
      for (size_t p = 0; p < k; p++) {
        sum += (uint32_t)((int32_t)a[i * k + p] * (int32_t)b[p * n + j]);
      }
      c[i * n + j] = (int32_t)sum;
    }
  }
}

OP(gemm_u8i8)(const uint8_t* a, const int8_t* b, int32_t* c, size_t m, size_t n, size_t k) {
  for (size_t i = 0; i < m; i++) {
    for (size_t j = 0; j < n; j++) {
      uint32_t sum = 0;
      for (size_t p = 0; p < k; p++) {
        sum += (uint32_t)((int32_t)a[i * k + p] * (int32_t)b[p * n + j]);
      }
      c[i * n + j] = (int32_t)sum;
    }
  }
}

/* Panels of 32 columns, two AVX-512 vectors, one after the other; the last is padded with zeros:
 * packed[ceil(n / 32)][k][32]. */
OP(pack_b)(const real* b, real* packed, size_t k, size_t n) {
  size_t panels = (n + 31) / 32;
  for (size_t s = 0; s < panels; s++) {
    for (size_t p = 0; p < k; p++) {
      for (size_t j = 0; j < 32; j++) {
        size_t column = s * 32 + j;
        packed[(s * k + p) * 32 + j] = column < n ? b[p * n + column] : R(0.0);
      }
    }
  }
}

/* One row and its scale. */
OP(scale_rows)(const real* x, const real* scale, real* out, size_t n) {
  real s = scale[0];
  for (size_t i = 0; i < n; i++) out[i] = x[i] * s;
}

/* One row of an i32 product: the scale of the row times that of each column. */
OP(dequantize_i32)
(const int32_t* acc, const real* row_scale, const real* column_scale, real* out, size_t n) {
  real s = row_scale[0];
  for (size_t i = 0; i < n; i++) out[i] = (real)acc[i] * (s * column_scale[i]);
}
