// SPDX-License-Identifier: MIT
// tests/compiler/precondition_functions.c: functions that not every size suits, and some that
// nothing suits. Compiled as a user would, optimised.
#include "precondition_functions.h"

#include <stdlib.h>
#include <string.h>

// A division outside of the loop traps for m = 0.
void part_of_rows(const float* x, float* out, size_t n, size_t m) {
  const size_t each = n / m;
  for (size_t i = 0; i < n; i++) out[i] = x[i] * (float)each;
}

// n = 0 wraps and runs for ever.
void at_least_one(const float* x, float* out, size_t n) {
  do {
    *out++ = *x++ * 2.0f;
  } while (--n);
}

// An odd n is never met.
void steps_of_two(const float* x, float* out, size_t n) {
  for (size_t i = 0; i != n; i += 2) {
    out[i] = x[i + 1];
    out[i + 1] = x[i];
  }
}

// The last one: there must be one.
void copies_last(const float* x, float* out, size_t n) { out[0] = x[n - 1] + 1.0f; }

void aborts_on_odd(const float* x, float* out, size_t n) {
  if (n % 2) abort();
  for (size_t i = 0; i < n; i++) out[i] = x[i] + 1.0f;
}

// Too long to be tried.
void long_inner_loop(const float* x, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) {
    float s = x[i];
    for (size_t k = 0; k < 100000000; k++) s = s * 0.5f + 1.0f;
    out[i] = s;
  }
}

// Nothing comes of the division but a trap where a number is 0.
void unused_division(const int32_t* x, const int32_t* y, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) {
    volatile int32_t dropped = x[i] / y[i];
    (void)dropped;
    out[i] = (float)x[i];
  }
}

// An unused division by a size.
void unused_division_by_size(const float* x, float* out, size_t n, size_t m) {
  volatile size_t dropped = n / m;
  (void)dropped;
  for (size_t i = 0; i < n; i++) out[i] = x[i] + (float)m;
}

// Reads behind the end, for nothing.
void unused_load(const float* x, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const float dropped = *(volatile const float*)(x + i + 4096);
    (void)dropped;
    out[i] = x[i] * 3.0f;
  }
}

// Aborts on some data.
void aborts_on_data(const float* x, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (x[i] < 0.0f) abort();
    out[i] = x[i] + 1.0f;
  }
}

void divides_data(const int32_t* x, const int32_t* y, int32_t* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = x[i] / y[i];
}

// A bit pattern through memcpy.
void negates_bits(const float* x, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) {
    uint32_t bits;
    memcpy(&bits, x + i, sizeof bits);
    bits ^= 0x80000000u;
    memcpy(out + i, &bits, sizeof bits);
  }
}

// m divides n.
void means_of_groups(const float* x, float* out, size_t n, size_t m) {
  if (n % m != 0) abort();
  for (size_t g = 0; g < n / m; g++) {
    float s = 0.0f;
    for (size_t i = 0; i < m; i++) s += x[g * m + i];
    out[g] = s;
  }
}

// Quadratic in one size: large ones are left out, small ones tried.
void all_pairs(const float* x, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) {
    float s = 0.0f;
    for (size_t k = 0; k < n; k++) s += x[i] * x[k];
    out[i] = s;
  }
}

// Denormals matter: with FTZ the function gives something else than without.
void scales_down(const float* x, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = x[i] * 1e-30f * 1e-12f;
}

// In place it reads what it has written.
void shifts_up(const float* x, float* out, size_t n) {
  out[0] = x[0];
  for (size_t i = 1; i < n; i++) out[i] = x[i - 1];
}

void doubles(const float* x, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = x[i] + x[i];
}

void reverses(const float* x, float* out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = x[n - 1 - i];
}

// C rounds towards zero: -1 / 2 is 0.
void adds_quotient(const float* x, float* out, int64_t n, int64_t m, int64_t k) {
  for (int64_t i = 0; i < n; i++) out[i] = x[i] + (float)(k / m);
}

void scales_by_integer(const float* x, float* out, size_t n, int k) {
  for (size_t i = 0; i < n; i++) out[i] = k < 0 ? x[i] / (float)k : x[i] * (float)k;
}

// The product wraps.
void scales_by_product(const float* x, float* out, size_t n, uint32_t k) {
  for (size_t i = 0; i < n; i++) out[i] = x[i] * (float)(k * 8u);
}

void scales_by_size(const float* x, float* out, size_t n, size_t k) {
  for (size_t i = 0; i < n; i++) out[i] = x[i] * (float)k;
}
