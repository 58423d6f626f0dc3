/* SPDX-License-Identifier: MIT */
/* tests/unit/user_functions.h: functions as users write them, plain scalar C. */
#ifndef NEREID_TEST_USER_FUNCTIONS_H
#define NEREID_TEST_USER_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* understood */
void user_gate(const float* x, const float* y, float* out, size_t n);
void user_sum(const float* x, float* out, size_t n);
void user_norm(const float* x, const float* w, float* out, size_t n, float eps);
void user_no_const(float* out, float* x, size_t n); /* the output first, and x lacks its const */
float user_blend(float a, float b);
double user_half(double x);
void user_wide(const double* x, double* out, size_t n);
void user_prefix(const float* x, float* out, size_t n); /* its order is its meaning */

/* shapes that are no product of sizes, outputs that are read, integers that are no sizes */
void user_scaled(const float* x, const float* s, float* out, size_t n); /* s[i / 32] */
void user_next(const float* x, float* out, size_t n);                   /* x[i + 1] */
void user_square(const float* x, float* out, int32_t n);                /* out = transposed */
void user_bytes(const float* table, const uint8_t* b, float* out, size_t n);
void user_gather(const float* x, const int32_t* j, float* out, size_t n);
void user_by_float(const float* x, const float* at, float* out, size_t n);
void user_add_to(const float* x, float* out, size_t n); /* out[i] += x[i] */
void user_swap(const float* x, float* out, size_t n);   /* neighbours; n is even */
void user_where_positive(const float* x, float* out, size_t n);
void user_times(const float* x, float* out, size_t n, int32_t m);
void user_window(const float* x, float* out, size_t n, size_t m); /* sums of m neighbours */

/* what they return is an output */
float user_dot(const float* x, const float* y, size_t n);
int32_t user_largest(const float* x, int32_t n); /* where it is; n is at least 1 */

/* not understood: ends early on data */
void user_until(const float* x, float* out, size_t n);
void user_until_wide(const double* x, double* out, size_t n);
void user_until_index(const int32_t* x, float* out, size_t n);
/* no operator can be made of these as they are */
float user_pick(float x, int32_t which);
void user_nothing(const float* x, size_t n);

/* understood, but it ends the process: on a size that the proof tries, and on one beyond it */
void user_trap(const float* x, float* out, size_t n);
void user_trap_late(const float* x, float* out, size_t n);
/* Dies when it is called again and again without its output being restored. */
void user_count_up(const float* x, float* out, size_t n);

#ifdef __cplusplus
}
#endif
#endif
