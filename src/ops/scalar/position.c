/* SPDX-License-Identifier: MIT
 * src/ops/scalar/position.c: rotary position embedding of one head, and its tables.
 *
 * out = x * cos + rotate_half(x) * sin; all d entries of cos and sin are used: the two that belong
 * to a pair may differ. Both elements of a pair are read before either is written. */
#include "definition.h"

/* Pairs (i, i + d/2): Llama, gpt-oss. */
HELPER void rotate_half(const real* x, const real* cosine, const real* sine, real* out, size_t d) {
  size_t half = d / 2;
  for (size_t i = 0; i < half; i++) {
    real a = x[i];
    real b = x[i + half];
    out[i] = a * cosine[i] - b * sine[i];
    out[i + half] = b * cosine[i + half] + a * sine[i + half];
  }
}

/* Pairs (2i, 2i + 1): GPT-J. */
HELPER void rotate_interleaved(const real* x, const real* cosine, const real* sine, real* out,
                               size_t d) {
  size_t half = d / 2;
  for (size_t i = 0; i < half; i++) {
    real a = x[2 * i];
    real b = x[2 * i + 1];
    out[2 * i] = a * cosine[2 * i] - b * sine[2 * i];
    out[2 * i + 1] = b * cosine[2 * i + 1] + a * sine[2 * i + 1];
  }
}

OP(rope_half)(const real* x, const real* cosine, const real* sine, real* out, size_t d) {
  rotate_half(x, cosine, sine, out, d);
}

OP(rope_interleaved)(const real* x, const real* cosine, const real* sine, real* out, size_t d) {
  rotate_interleaved(x, cosine, sine, out, d);
}

/* The caller has checked that 0 <= position < table. */
OP(rope_with_pos_half)
(const real* x, const real* cosine, const real* sine, const int32_t* position, real* out,
 size_t table, size_t d) {
  (void)table;
  size_t row = (size_t)position[0] * d;
  rotate_half(x, cosine + row, sine + row, out, d);
}

OP(rope_with_pos_interleaved)
(const real* x, const real* cosine, const real* sine, const int32_t* position, real* out,
 size_t table, size_t d) {
  (void)table;
  size_t row = (size_t)position[0] * d;
  rotate_interleaved(x, cosine + row, sine + row, out, d);
}

/* Tables. Everything is double in every build: at position 131072 a frequency rounded to f32
 * puts the angle up to 0.008 off. */

/* The pair, as a fraction, that makes `turns` turns within the original context. */
HELPER double yarn_pair(double d, double turns, double original, double theta) {
  double two_pi = 6.28318530717958647693;
  return d * log(original / (turns * two_pi)) / (2.0 * log(theta));
}

HELPER double clamped(double x, double low, double high) {
  double above = x < low ? low : x;
  return above > high ? high : above;
}

/* Pairs up to `low` keep their frequency, those from `high` on are stretched by `factor`, a
 * linear ramp between (of width 0.001 where the two meet); factor 1 is plain rope. */
HELPER void rope_row(double position, real* cosine, real* sine, size_t d, double theta,
                     double factor, double low, double high) {
  double span = high > low ? high - low : 0.001;
  double attention = 0.1 * log(factor > 1.0 ? factor : 1.0) + 1.0;
  size_t half = d / 2;
  for (size_t i = 0; i < half; i++) {
    double pair = (double)(int64_t)i;
    double plain = pow(theta, -2.0 * pair / (double)(int64_t)d);
    double ramp = clamped((pair - low) / span, 0.0, 1.0);
    double angle = position * (plain * (1.0 - ramp) + plain / factor * ramp);
    double c = cos(angle) * attention;
    double s = sin(angle) * attention;
    cosine[i] = (real)c;
    cosine[i + half] = (real)c;
    sine[i] = (real)s;
    sine[i + half] = (real)s;
  }
}

OP(rope_table)
(const int32_t* position, real* cosine, real* sine, size_t d, real theta, real factor,
 real beta_fast, real beta_slow, real original) {
  double size = (double)(int64_t)d;
  double low = clamped(yarn_pair(size, beta_fast, original, theta), 0.0, size - 1.0);
  double high = clamped(yarn_pair(size, beta_slow, original, theta), 0.0, size - 1.0);
  rope_row((double)position[0], cosine, sine, d, theta, factor, low, high);
}

/* The ends of the ramp on whole pairs: DeepSeek, Qwen. */
OP(rope_table_truncate)
(const int32_t* position, real* cosine, real* sine, size_t d, real theta, real factor,
 real beta_fast, real beta_slow, real original) {
  double size = (double)(int64_t)d;
  double low = clamped(floor(yarn_pair(size, beta_fast, original, theta)), 0.0, size - 1.0);
  double high = clamped(ceil(yarn_pair(size, beta_slow, original, theta)), 0.0, size - 1.0);
  rope_row((double)position[0], cosine, sine, d, theta, factor, low, high);
}
