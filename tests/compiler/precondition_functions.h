// SPDX-License-Identifier: MIT
// tests/compiler/precondition_functions.h: what prove_test.cpp proves.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
void part_of_rows(const float* x, float* out, size_t n, size_t m);
void at_least_one(const float* x, float* out, size_t n);
void steps_of_two(const float* x, float* out, size_t n);
void copies_last(const float* x, float* out, size_t n);
void aborts_on_odd(const float* x, float* out, size_t n);
void long_inner_loop(const float* x, float* out, size_t n);
void unused_division(const int32_t* x, const int32_t* y, float* out, size_t n);
void unused_division_by_size(const float* x, float* out, size_t n, size_t m);
void unused_load(const float* x, float* out, size_t n);
void aborts_on_data(const float* x, float* out, size_t n);
void divides_data(const int32_t* x, const int32_t* y, int32_t* out, size_t n);
void negates_bits(const float* x, float* out, size_t n);
void means_of_groups(const float* x, float* out, size_t n, size_t m);
void all_pairs(const float* x, float* out, size_t n);
void scales_down(const float* x, float* out, size_t n);
void shifts_up(const float* x, float* out, size_t n);
void doubles(const float* x, float* out, size_t n);
void adds_quotient(const float* x, float* out, int64_t n, int64_t m, int64_t k);
void scales_by_integer(const float* x, float* out, size_t n, int k);
void scales_by_product(const float* x, float* out, size_t n, uint32_t k);
void scales_by_size(const float* x, float* out, size_t n, size_t k);
void reverses(const float* x, float* out, size_t n);
#ifdef __cplusplus
}
#endif
