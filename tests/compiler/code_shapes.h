// SPDX-License-Identifier: MIT
// tests/compiler/code_shapes.h: what code_shapes_test.cpp lifts.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
void rolled_map(const float* x, float* out, size_t n);
void rolled_sum(const float* x, float* out, size_t n);
void rolled_reverse(const float* x, float* out, size_t n);
void odd_copy(const float* x, float* out, size_t n);
void other_order(const float* x, float* out, size_t n);
void from_three_on(const float* x, float* out, size_t n);
void quotients_i32(const int32_t* x, int32_t* out, size_t n);
void quotients_u32(const int32_t* x, int32_t* out, size_t n);
void quotients_u8(const int32_t* x, int32_t* out, size_t n);
void quotients_i64(const int32_t* x, int32_t* out, size_t n);
void quotients_u64(const int32_t* x, int32_t* out, size_t n);
void no_quotient(const int32_t* x, int32_t* out, size_t n);
void blocks_of_twelve(const float* x, const float* scale, float* out, size_t n);
void table_by_mask(const int32_t* q, float* out, size_t n);
void table_by_clamp(const int32_t* q, float* out, size_t n);
void table_by_remainder(const int32_t* q, float* out, size_t n);
void table_by_condition(const int32_t* q, float* out, size_t n);
void table_of_two_axes(const int32_t* q, float* out, size_t n);
void table_of_taps(const int32_t* q, float* out, size_t n);
void table_unchecked(const int32_t* q, float* out, size_t n);
#ifdef __cplusplus
}
#endif
