// SPDX-License-Identifier: MIT
// tests/fuzz/user_functions/corpus/types.c: other types than float, helpers, returned values.
#include "corpus.h"

void types_double(const double* x, double* o, int n) {
  for (int i = 0; i < n; i++) o[i] = x[i] * x[i] + 1.0;
}
void types_double_sum(const double* x, double* o, size_t n) {
  double s = 0;
  for (size_t i = 0; i < n; i++) s += x[i];
  *o = s;
}
void types_double_inside(const float* x, float* o, int n) {
  double s = 0;
  for (int i = 0; i < n; i++) s += x[i];
  for (int i = 0; i < n; i++) o[i] = (float)(x[i] / (s + 10.0));
}
void types_float_to_double(const float* x, double* o, int n) {
  for (int i = 0; i < n; i++) o[i] = (double)x[i] / 3.0;
}
void types_double_number(const float* x, float* o, int n, double a) {
  for (int i = 0; i < n; i++) o[i] = (float)(x[i] * a);
}
void types_i32_add(const int32_t* a, const int32_t* b, int32_t* o, int n) {
  for (int i = 0; i < n; i++) o[i] = (int32_t)((uint32_t)a[i] + (uint32_t)b[i]);
}
void types_i32_to_float(const int32_t* a, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = (float)a[i] * 0.5f;
}
void types_float_to_i32(const float* x, int32_t* o, int n) {
  for (int i = 0; i < n; i++) o[i] = (int32_t)x[i];
}
void types_u8_to_float(const uint8_t* x, float* o, size_t n) {
  for (size_t i = 0; i < n; i++) o[i] = (float)x[i] / 255.0f;
}
void types_i8_product(const int8_t* a, const int8_t* b, int32_t* o, int n) {
  int32_t s = 0;
  for (int i = 0; i < n; i++) s += a[i] * b[i];
  *o = s;
}
void types_u8_invert(const uint8_t* x, uint8_t* o, int n) {
  for (int i = 0; i < n; i++) o[i] = 255 - x[i];
}
void types_i8_saturate(const int32_t* x, int8_t* o, int n) {
  for (int i = 0; i < n; i++) o[i] = (int8_t)(x[i] < -128 ? -128 : x[i] > 127 ? 127 : x[i]);
}
void types_grey(const uint8_t* rgb, float* o, int n) {
  for (int i = 0; i < n; i++)
    o[i] = 0.299f * rgb[3 * i] + 0.587f * rgb[3 * i + 1] + 0.114f * rgb[3 * i + 2];
}
void types_i16(const int16_t* x, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = (float)x[i] / 32768.0f;
}
void types_i64_index(const float* x, const int64_t* index, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = x[index[i]];
}

static float helper_sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }
__attribute__((noinline)) static float helper_swish(float x, float b) {
  return x * helper_sigmoid(b * x);
}
static inline float helper_max(float a, float b) { return a > b ? a : b; }
void types_helper(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = helper_swish(x[i], 1.5f);
}
void types_helper_twice(const float* x, const float* y, float* o, size_t n) {
  for (size_t i = 0; i < n; i++) o[i] = helper_max(helper_sigmoid(x[i]), helper_sigmoid(y[i]));
}
__attribute__((noinline)) static float helper_row(const float* x, int n) {
  float s = 0;
  for (int i = 0; i < n; i++) s += x[i];
  return s;
}
void types_helper_loop(const float* x, float* o, int rows, int cols) {
  for (int i = 0; i < rows; i++) o[i] = helper_row(x + i * cols, cols);
}

float types_return_sum(const float* x, size_t n) {
  float s = 0;
  for (size_t i = 0; i < n; i++) s += x[i];
  return s;
}
float types_return_max(const float* x, int n) {
  float m = x[0];
  for (int i = 1; i < n; i++) m = fmaxf(m, x[i]);
  return m;
}
double types_return_double(const double* a, const double* b, int n) {
  double s = 0;
  for (int i = 0; i < n; i++) s += a[i] * b[i];
  return s;
}
int types_return_count(const float* x, int n, float t) {
  int c = 0;
  for (int i = 0; i < n; i++) c += x[i] > t;
  return c;
}
int types_return_argmax(const float* x, int n) {
  int best = 0;
  for (int i = 1; i < n; i++)
    if (x[i] > x[best]) best = i;
  return best;
}
int types_return_status(const float* x, float* o, int n) {
  if (n <= 0) return -1;
  for (int i = 0; i < n; i++) o[i] = x[i] * 2;
  return 0;
}
float types_return_and_write(const float* x, float* o, int n) {
  float s = 0;
  for (int i = 0; i < n; i++) s += o[i] = expf(x[i]);
  return s;
}
double types_map_double(double x, double y) { return x * y / (1.0 + x * x); }
float types_map_if(float x, float y) {
  if (x < y) return x - y;
  return x > 2 * y ? x : y;
}
float types_map_four(float a, float b, float c, float d) { return fmaf(a, b, c) / (1 + d * d); }
