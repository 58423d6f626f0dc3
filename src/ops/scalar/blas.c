/* SPDX-License-Identifier: MIT
 * src/ops/scalar/blas.c: vectors: elementwise pairs, and reductions to one value. */
#include "definition.h"

OP(vec_dot)(const real* x, const real* y, real* out, size_t n) {
  real sum = R(0.0);
  for (size_t i = 0; i < n; i++) sum += x[i] * y[i];
  out[0] = sum;
}

OP(vec_add)(const real* x, const real* y, real* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = x[i] + y[i];
}

OP(vec_sub)(const real* x, const real* y, real* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = x[i] - y[i];
}

OP(vec_mul)(const real* x, const real* y, real* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = x[i] * y[i];
}

OP(vec_scale)(const real* x, real* out, size_t n, real scale) {
  for (size_t i = 0; i < n; i++) out[i] = x[i] * scale;
}

OP(vec_axpy)(const real* x, const real* y, real* out, size_t n, real a) {
  for (size_t i = 0; i < n; i++) out[i] = a * x[i] + y[i];
}

OP(vec_sum)(const real* x, real* out, size_t n) {
  real sum = R(0.0);
  for (size_t i = 0; i < n; i++) sum += x[i];
  out[0] = sum;
}

/* The largest of nothing is -Inf, so that the maximum of parts is the maximum of the whole. */
OP(vec_max)(const real* x, real* out, size_t n) {
  real top = -(real)INFINITY;
  for (size_t i = 0; i < n; i++) top = m_max(top, x[i]);
  out[0] = top;
}

OP(vec_sum_squares)(const real* x, real* out, size_t n) {
  real sum = R(0.0);
  for (size_t i = 0; i < n; i++) sum += x[i] * x[i];
  out[0] = sum;
}
