// SPDX-License-Identifier: MIT
// tests/fuzz/user_functions/corpus/gather.c: an index that comes from memory.
#include "corpus.h"

void gather_i32(const float* x, const int32_t* index, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = x[index[i]];
}
void gather_u8(const float* table, const uint8_t* index, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = table[index[i]];
}
void gather_u8_size(const float* table, const uint8_t* index, float* o, size_t n) {
  for (size_t i = 0; i < n; i++) o[i] = 2 * table[index[i]] + 1;
}
void gather_i8(const float* table, const int8_t* index, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = table[index[i]];
}
void gather_i8_offset(const float* table, const int8_t* index, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = table[index[i] + 128];
}
void gather_nibble_low(const float* table, const uint8_t* q, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = table[q[i] & 15];
}
void gather_nibbles(const float* table, const uint8_t* q, float* o, int n) {
  for (int i = 0; i < n; i++) {
    o[2 * i] = table[q[i] & 15];
    o[2 * i + 1] = table[q[i] >> 4];
  }
}
void gather_plus_one(const float* x, const int32_t* index, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = x[index[i] + 1] - x[index[i]];
}
void gather_minus_one(const float* x, const int32_t* index, float* o, size_t n) {
  for (size_t i = 0; i < n; i++) o[i] = x[index[i] - 1];
}
void gather_rows(const float* table, const int32_t* ids, float* o, size_t n, size_t dim) {
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < dim; j++) o[i * dim + j] = table[(size_t)ids[i] * dim + j];
}
void gather_rows_scaled(const float* table, const int32_t* ids, const float* s, float* o, int n,
                        int dim) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < dim; j++) o[i * dim + j] = s[i] * table[ids[i] * dim + j];
}
void gather_sum_rows(const float* table, const int32_t* ids, float* o, int n, int dim) {
  for (int j = 0; j < dim; j++) {
    float s = 0;
    for (int i = 0; i < n; i++) s += table[ids[i] * dim + j];
    o[j] = s;
  }
}
void gather_one_row(const float* table, const int32_t* id, float* o, int dim) {
  for (int j = 0; j < dim; j++) o[j] = table[id[0] * dim + j];
}
void gather_loss(const float* logp, const int32_t* target, float* o, int n, int classes) {
  for (int i = 0; i < n; i++) o[i] = -logp[i * classes + target[i]];
}
void gather_twice(const float* x, const int32_t* a, const int32_t* b, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = x[a[b[i]]];
}
void gather_two(const float* x, const int32_t* a, const int32_t* b, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = x[a[i]] * x[b[i]];
}
void gather_masked(const float* x, const int32_t* index, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = index[i] >= 0 && index[i] < n ? x[index[i]] : 0;
}
void gather_negative_is_zero(const float* x, const int32_t* index, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = index[i] < 0 ? 0 : x[index[i]];
}
void gather_wrapped(const float* x, const int32_t* index, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = x[(unsigned)index[i] % (unsigned)n];
}
void gather_by_float(const float* x, const float* at, float* o, int n) {
  for (int i = 0; i < n; i++) o[i] = x[(int)at[i]];
}
void gather_interpolated(const float* x, const float* at, float* o, int n) {
  for (int i = 0; i < n; i++) {
    int k = (int)at[i];
    float t = at[i] - (float)k;
    o[i] = x[k] + t * (x[k + 1] - x[k]);
  }
}
void gather_lut_of_float(const float* x, const float* lut, float* o, int n) {
  for (int i = 0; i < n; i++) {
    float v = x[i] < 0 ? 0 : x[i] > 1 ? 1 : x[i];
    o[i] = lut[(int)(v * 255.0f)];
  }
}
void gather_scatter(const float* x, const int32_t* index, float* o, int n) {
  for (int i = 0; i < n; i++) o[index[i]] = x[i];
}
void gather_scatter_add(const float* x, const int32_t* index, float* o, int n) {
  for (int i = 0; i < n; i++) o[index[i]] += x[i];
}
void gather_histogram(const uint8_t* x, int32_t* counts, int n) {
  for (int i = 0; i < 256; i++) counts[i] = 0;
  for (int i = 0; i < n; i++) counts[x[i]]++;
}
void gather_segment_sums(const float* x, const int32_t* start, float* o, int n) {
  for (int i = 0; i < n; i++) {
    float s = 0;
    for (int j = start[i]; j < start[i + 1]; j++) s += x[j];
    o[i] = s;
  }
}
void gather_lengths(const float* x, const int32_t* length, float* o, int rows, int cols) {
  for (int i = 0; i < rows; i++) {
    float s = 0;
    for (int j = 0; j < length[i]; j++) s += x[i * cols + j];
    o[i] = s;
  }
}
void gather_sparse_row(const float* values, const int32_t* columns, const float* x, float* o,
                       int n) {
  float s = 0;
  for (int i = 0; i < n; i++) s += values[i] * x[columns[i]];
  o[0] = s;
}
void gather_permutation(const float* x, const int32_t* p, float* o, int rows, int cols) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++) o[i * cols + j] = x[i * cols + p[j]];
}
