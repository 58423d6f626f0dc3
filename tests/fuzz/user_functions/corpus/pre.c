// SPDX-License-Identifier: MIT
// tests/fuzz/user_functions/corpus/pre.c: functions that are not defined for every size.
#include "corpus.h"

void pre_do_while(const float* x, float* o, int n) {
  do {
    *o++ = 2 * *x++;
  } while (--n);
}
void pre_do_while_up(const float* x, float* o, size_t n) {
  size_t i = 0;
  do {
    o[i] = x[i];
    i++;
  } while (i < n);
}
void pre_not_equal_by_two(const float* x, float* o, int n) {
  for (int i = 0; i != n; i += 2) {
    o[i] = x[i + 1];
    o[i + 1] = x[i];
  }
}
void pre_not_equal_by_four(const float* x, float* o, size_t n) {
  for (size_t i = 0; i != n; i += 4)
    for (size_t j = 0; j < 4; j++) o[i + j] = -x[i + j];
}
void pre_by_two_unchecked(const float* x, float* o, int n) {
  for (int i = 0; i < n; i += 2) {
    o[i] = x[i] + x[i + 1];
    o[i + 1] = x[i] - x[i + 1];
  }
}
void pre_by_four_unchecked(const float* x, float* o, size_t n) {
  for (size_t i = 0; i < n; i += 4) {
    o[i] = x[i];
    o[i + 1] = x[i + 1];
    o[i + 2] = x[i + 2];
    o[i + 3] = x[i + 3];
  }
}
void pre_first_as_start(const float* x, float* o, int n) {
  float m = x[0];
  for (int i = 0; i < n; i++) m = x[i] < m ? x[i] : m;
  *o = m;
}
void pre_last_element(const float* x, float* o, int n) { o[0] = x[n - 1]; }
void pre_mean_integer(const int32_t* x, int32_t* o, int n) {
  int s = 0;
  for (int i = 0; i < n; i++) s += x[i];
  o[0] = s / n;
}
void pre_divide_by_m(const float* x, float* o, int n, int m) {
  for (int i = 0; i < n; i++) o[i] = x[i] * (float)(n / m);
}
void pre_index_by_m(const float* x, const float* s, float* o, int n, int m) {
  for (int i = 0; i < n; i++) o[i] = x[i] * s[i / m];
}
void pre_remainder_by_m(const float* x, const float* s, float* o, int n, int m) {
  for (int i = 0; i < n; i++) o[i] = x[i] * s[i % m];
}
void pre_groups(const float* x, float* o, int n, int groups) {
  int size = n / groups;
  for (int g = 0; g < groups; g++) {
    float s = 0;
    for (int i = 0; i < size; i++) s += x[g * size + i];
    o[g] = s;
  }
}
void pre_groups_size(const float* x, const float* w, float* o, size_t n, size_t groups) {
  size_t size = n / groups;
  for (size_t g = 0; g < groups; g++)
    for (size_t i = 0; i < size; i++) o[g * size + i] = x[g * size + i] * w[g];
}
void pre_even_pairs(const float* x, float* o, int n) {
  for (int i = 0; i < n; i += 2) {
    o[i] = x[i + 1];
    o[i + 1] = -x[i];
  }
}
void pre_power_of_two(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = x[i ^ 1];
}
void pre_butterfly(const float* x, float* o, int n) {
  for (int i = 0; i < n / 2; i++) {
    o[i] = x[i] + x[i + n / 2];
    o[i + n / 2] = x[i] - x[i + n / 2];
  }
}
void pre_unused_division(const float* x, float* o, int n, int m) {
  volatile int q = 100 / m;
  (void)q;
  for (int i = 0; i < n; i++) o[i] = x[i];
}
void pre_division_hoisted(const float* x, float* o, int n, int m) {
  for (int i = 0; i < n; i++) o[i] = x[i] + (float)(100 / m);
}
void pre_at_least_two(const float* x, float* o, int n) {
  float step = 1.0f / (float)(n - 1);
  for (int i = 0; i < n; i++) o[i] = x[i] + step * (float)i;
}
void pre_integer_step(const float* x, float* o, int n) {
  int step = 1000 / (n - 1);
  for (int i = 0; i < n; i++) o[i] = x[i] + (float)(step * i);
}
void pre_countdown_unsigned(const float* x, float* o, unsigned n) {
  for (unsigned i = n - 1; i < n; i--) o[i] = x[i];
}
void pre_to_zero(const float* x, float* o, int n) {
  while (n--) o[n] = x[n];
}
void pre_pointer_end(const float* x, float* o, size_t n) {
  const float* end = x + n;
  while (x != end) *o++ = sqrtf(fabsf(*x++));
}
void pre_pointer_end_do(const float* x, float* o, size_t n) {
  const float* end = x + n;
  do *o++ = *x++ + 1;
  while (x != end);
}
void pre_assert_multiple(const float* x, float* o, int n) {
  if (n % 8 != 0) __builtin_trap();
  for (int i = 0; i < n; i++) o[i] = x[i] * 0.5f;
}
void pre_return_unless_even(const float* x, float* o, int n) {
  if (n % 2) return;
  for (int i = 0; i < n; i++) o[i] = x[i] * 0.25f;
}
void pre_modulus_of_size(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = x[(i * 7) % n];
}
void pre_middle(const float* x, float* o, int n) {
  float mid = x[n / 2];
  for (int i = 0; i < n; i++) o[i] = x[i] - mid;
}
