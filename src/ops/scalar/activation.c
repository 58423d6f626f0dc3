/* SPDX-License-Identifier: MIT
 * src/ops/scalar/activation.c: elementwise activations, gated pairs and softmax. */
#include "definition.h"

HELPER real gelu_of(real x) { return R(0.5) * x * (R(1.0) + m_erf(x * R(0.70710678118654752440))); }

OP(exp)(const real* x, real* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = m_exp(x[i]);
}

OP(tanh)(const real* x, real* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = m_tanh(x[i]);
}

OP(sigmoid)(const real* x, real* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = m_sigmoid(x[i]);
}

OP(relu)(const real* x, real* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = m_max(x[i], R(0.0));
}

OP(silu)(const real* x, real* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = x[i] * m_sigmoid(x[i]);
}

OP(gelu)(const real* x, real* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = gelu_of(x[i]);
}

/* sqrt(2 / pi) and 0.044715: the published approximation. */
OP(gelu_tanh)(const real* x, real* out, size_t n) {
  for (size_t i = 0; i < n; i++) {
    real v = x[i];
    real inner = R(0.79788456080286535588) * (v + R(0.044715) * v * v * v);
    out[i] = R(0.5) * v * (R(1.0) + m_tanh(inner));
  }
}

OP(swiglu)(const real* gate, const real* up, real* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = gate[i] * m_sigmoid(gate[i]) * up[i];
}

OP(geglu)(const real* gate, const real* up, real* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = gelu_of(gate[i]) * up[i];
}

/* gpt-oss: the gate is bounded above, the linear part on both sides. */
OP(swiglu_oai)(const real* gate, const real* up, real* out, size_t n) {
  for (size_t i = 0; i < n; i++) {
    real g = m_min(gate[i], R(7.0));
    real u = m_max(m_min(up[i], R(7.0)), -R(7.0));
    out[i] = g * m_sigmoid(R(1.702) * g) * (u + R(1.0));
  }
}

/* Stable: the largest exponent is 0. A row of -Inf alone is NaN, as 0 / 0 says. */
OP(softmax)(const real* x, real* out, size_t n) {
  real top = -(real)INFINITY;
  for (size_t i = 0; i < n; i++) top = m_max(top, x[i]);
  real sum = R(0.0);
  for (size_t i = 0; i < n; i++) {
    real e = m_exp(x[i] - top);
    out[i] = e;
    sum += e;
  }
  for (size_t i = 0; i < n; i++) out[i] = out[i] / sum;
}
