/* SPDX-License-Identifier: MIT
 * src/ops/scalar/norm.c: normalisations over one row. */
#include "definition.h"

HELPER real inverse_rms(const real* x, size_t n, real eps) {
  real sum = R(0.0);
  for (size_t i = 0; i < n; i++) sum += x[i] * x[i];
  return R(1.0) / m_sqrt(sum / (real)(int64_t)n + eps);
}

HELPER real mean_of(const real* x, size_t n) {
  real sum = R(0.0);
  for (size_t i = 0; i < n; i++) sum += x[i];
  return sum / (real)(int64_t)n;
}

/* Two passes: the sum of squares minus the square of the sum would cancel. */
HELPER real inverse_deviation(const real* x, size_t n, real mean, real eps) {
  real sum = R(0.0);
  for (size_t i = 0; i < n; i++) {
    real d = x[i] - mean;
    sum += d * d;
  }
  return R(1.0) / m_sqrt(sum / (real)(int64_t)n + eps);
}

/* Rounded once, after the weight: gpt-oss, T5. */
OP(rms_norm_after_weight)(const real* x, const real* w, real* out, size_t n, real eps) {
  real r = inverse_rms(x, n, eps);
  for (size_t i = 0; i < n; i++) out[i] = x[i] * r * w[i];
}

/* Rounded to x's type before the weight as well: Llama. */
OP(rms_norm_before_weight)
(const real* x, const real* w, real* out, size_t n, real eps, int type_x) {
  real r = inverse_rms(x, n, eps);
  for (size_t i = 0; i < n; i++) out[i] = round_to(x[i] * r, type_x) * w[i];
}

OP(layer_norm_after_weight)
(const real* x, const real* w, const real* b, real* out, size_t n, real eps) {
  real mean = mean_of(x, n);
  real r = inverse_deviation(x, n, mean, eps);
  for (size_t i = 0; i < n; i++) out[i] = (x[i] - mean) * r * w[i] + b[i];
}

OP(layer_norm_before_weight)
(const real* x, const real* w, const real* b, real* out, size_t n, real eps, int type_x) {
  real mean = mean_of(x, n);
  real r = inverse_deviation(x, n, mean, eps);
  for (size_t i = 0; i < n; i++) out[i] = round_to((x[i] - mean) * r, type_x) * w[i] + b[i];
}

/* What is normalised is the sum as it is stored, so that the next layer, which reads the stored
 * sum as its residual, sees the same values. */
HELPER void add_rounded(const real* x, const real* residual, real* sum, size_t n, int type_sum) {
  for (size_t i = 0; i < n; i++) sum[i] = round_to(x[i] + residual[i], type_sum);
}

OP(add_rms_norm_after_weight)
(const real* x, const real* residual, const real* w, real* out, real* sum, size_t n, real eps,
 int type_sum) {
  add_rounded(x, residual, sum, n, type_sum);
  real r = inverse_rms(sum, n, eps);
  for (size_t i = 0; i < n; i++) out[i] = sum[i] * r * w[i];
}

OP(add_rms_norm_before_weight)
(const real* x, const real* residual, const real* w, real* out, real* sum, size_t n, real eps,
 int type_sum, int type_x) {
  add_rounded(x, residual, sum, n, type_sum);
  real r = inverse_rms(sum, n, eps);
  for (size_t i = 0; i < n; i++) out[i] = round_to(sum[i] * r, type_x) * w[i];
}
