// SPDX-License-Identifier: MIT
// tests/fuzz/user_functions/corpus/extent.c: operands that are shorter or longer than the loop.
#include "corpus.h"

void extent_scale32(const float* x, const float* sc, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = x[i] * sc[i / 32];
}
void extent_scale32_size(const float* x, const float* sc, float* o, size_t n) {
  for (size_t i = 0; i < n; i++) o[i] = x[i] * sc[i / 32];
}
void extent_scale_shift5(const float* x, const float* sc, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = x[i] * sc[i >> 5];
}
void extent_scale_shift4_unsigned(const float* x, const float* sc, float* o, unsigned n) {
  for (unsigned i = 0; i < n; i++) o[i] = x[i] + sc[i >> 4];
}
void extent_scale_by_3(const float* x, const float* sc, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = x[i] - sc[i / 3];
}
void extent_blocks_nested(const float* x, const float* sc, float* o, int n) {
  for (int b = 0; b < n / 32; b++)
    for (int i = 0; i < 32; i++) o[b * 32 + i] = x[b * 32 + i] * sc[b];
}
void extent_blocks_nested_up(const float* x, const float* sc, float* o, int blocks) {
  for (int b = 0; b < blocks; b++)
    for (int i = 0; i < 16; i++) o[b * 16 + i] = x[b * 16 + i] / sc[b];
}
void extent_block_max(const float* x, float* most, int n) {
  for (int b = 0; b < n / 8; b++) {
    float m = 0;
    for (int i = 0; i < 8; i++) m = fmaxf(m, fabsf(x[b * 8 + i]));
    most[b] = m;
  }
}
void extent_block_max_ragged(const float* x, float* most, int n) {
  for (int b = 0; b < (n + 7) / 8; b++) {
    float m = 0;
    for (int i = b * 8; i < n && i < b * 8 + 8; i++) m = fmaxf(m, fabsf(x[i]));
    most[b] = m;
  }
}
void extent_next(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = x[i + 1];
}
void extent_difference(const float* x, float* o, int n) {
  for (int i = 0; i + 1 < n; i++) o[i] = x[i + 1] - x[i];
}
void extent_difference_size(const float* x, float* o, size_t n) {
  for (size_t i = 1; i < n; i++) o[i - 1] = x[i] - x[i - 1];
}
void extent_three_ahead(const float* x, float* o, size_t n) {
  for (size_t i = 0; i < n; i++) o[i] = x[i] + x[i + 3];
}
void extent_reverse(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = x[n - 1 - i];
}
void extent_reverse_out(const float* x, float* o, size_t n) {
  for (size_t i = 0; i < n; i++) o[n - 1 - i] = x[i];
}
void extent_reverse_down(const float* x, float* o, int n) {
  for (int i = n - 1; i >= 0; i--) o[i] = x[n - 1 - i];
}
void extent_even_elements(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = x[2 * i];
}
void extent_odd_elements(const float* x, float* o, size_t n) {
  for (size_t i = 0; i < n; i++) o[i] = x[2 * i + 1];
}
void extent_pair_sums(const float* x, float* o, int n) {
  for (int i = 0; i < n / 2; i++) o[i] = x[2 * i] + x[2 * i + 1];
}
void extent_spread(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) o[2 * i] = x[i];
}
void extent_repeat2(const float* x, float* o, int n) {
  for (int i = 0; i < 2 * n; i++) o[i] = x[i / 2];
}
void extent_concat(const float* a, const float* b, float* o, int n, int m) {
  for (int i = 0; i < n; i++) o[i] = a[i];
  for (int i = 0; i < m; i++) o[n + i] = b[i];
}
void extent_concat_one(const float* a, const float* b, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = a[i];
  for (int i = 0; i < n; i++) o[n + i] = b[i];
}
void extent_interleave(const float* a, const float* b, float* o, size_t n) {
  for (size_t i = 0; i < n; i++) {
    o[2 * i] = a[i];
    o[2 * i + 1] = b[i];
  }
}
void extent_halves(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = x[i] * x[n + i];
}
void extent_halves_of_n(const float* x, float* o, int n) {
  for (int i = 0; i < n / 2; i++) o[i] = x[i] * tanhf(x[i + n / 2]);
}
void extent_rotate_half(const float* x, const float* c, const float* s, float* o, int n) {
  for (int i = 0; i < n / 2; i++) {
    o[i] = x[i] * c[i] - x[i + n / 2] * s[i];
    o[i + n / 2] = x[i] * s[i] + x[i + n / 2] * c[i];
  }
}
void extent_first_of_eight(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = x[i & ~7];
}
void extent_within_eight(const float* x, const float* w, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = x[i] * w[i % 8];
}
void extent_within_eight_mask(const float* x, const float* w, float* o, size_t n) {
  for (size_t i = 0; i < n; i++) o[i] = x[i] * w[i & 7];
}
void extent_last(const float* x, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = x[i] - x[n - 1];
}
void extent_first(const float* x, float* o, size_t n) {
  for (size_t i = 0; i < n; i++) o[i] = x[i] - x[0];
}
void extent_fixed_four(const float* x, float* o) {
  for (int i = 0; i < 4; i++) o[i] = x[3 - i];
}
void extent_three_numbers(const float* x, const float* p, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = (p[0] * x[i] + p[1]) * x[i] + p[2];
}
void extent_quarter(const float* x, const float* s, float* o, int n) {
  for (int i = 0; i < n / 4; i++) o[i] = x[4 * i + 3] * s[i];
}
void extent_two_scales(const float* x, const float* s, const float* t, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = x[i] * s[i / 16] + t[i / 64];
}
void extent_scale_rows(const float* x, const float* s, float* o, int rows, int cols) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++) o[i * cols + j] = x[i * cols + j] * s[i * (cols / 32) + j / 32];
}
void extent_tiles(const float* x, const float* s, float* o, int rows, int cols) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++)
      o[i * cols + j] = x[i * cols + j] * s[(i / 4) * ((cols + 3) / 4) + j / 4];
}
