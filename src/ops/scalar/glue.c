/* SPDX-License-Identifier: MIT
 * src/ops/scalar/glue.c: casts, gathers, argmax and rows of int8. */
#include "definition.h"

/* The store converts, as it does for every operator: by the ieee rules. */
OP(cast_ieee)(const real* x, real* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = x[i];
}

OP(cast_saturate)(const real* x, real* out, size_t n, int type_out) {
  for (size_t i = 0; i < n; i++) out[i] = round_to(x[i], type_out);
}

/* The caller has checked that 0 <= id < vocab. */
OP(embedding)(const real* table, const int32_t* id, real* out, size_t vocab, size_t dim) {
  (void)vocab;
  const real* row = table + (size_t)id[0] * dim;
  for (size_t i = 0; i < dim; i++) out[i] = row[i];
}

/* The first of the largest; the first NaN if there is one; 0 for an empty row. */
OP(argmax)(const real* x, int32_t* index, size_t n) {
  real best = -(real)INFINITY;
  int32_t at = 0;
  for (size_t i = 0; i < n; i++) {
    real v = x[i];
    int better = (v > best) | ((v != v) & (best == best));
    best = better ? v : best;
    at = better ? (int32_t)i : at;
  }
  index[0] = at;
}

/* Scale from the largest finite magnitude; Inf becomes +-127 and NaN 0. A scale that underflows
 * counts as an empty range, so nothing is divided by zero. */
OP(quantize_i8)(const real* x, int8_t* q, real* scale, size_t n) {
  real top = R(0.0);
  for (size_t i = 0; i < n; i++) {
    real magnitude = m_fabs(x[i]);
    real finite = magnitude < (real)INFINITY ? magnitude : R(0.0);
    top = finite > top ? finite : top;
  }
  real ratio = top / R(127.0);
  real s = ratio > R(0.0) ? ratio : R(1.0);
  scale[0] = s;
  for (size_t i = 0; i < n; i++) {
    real v = m_rint(x[i] / s);
    real above = v < -R(127.0) ? -R(127.0) : v;
    real within = above > R(127.0) ? R(127.0) : above;
    real number = within == within ? within : R(0.0);
    q[i] = (int8_t)(int32_t)number;
  }
}
