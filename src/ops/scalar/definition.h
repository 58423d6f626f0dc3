/* SPDX-License-Identifier: MIT
 * src/ops/scalar/definition.h: the only header a definition sees.
 *
 * A definition is a plain C function on one core instance of its operator. It is compiled several
 * times from the same source (src/ops/CMakeLists.txt): f32 at -O1 (backend scalar, what the
 * compiler lifts), f32 at -O3 for each ISA (backend autovec) and double (the checker's
 * reference). NRD_BUILD names the build and becomes part of the symbol.
 *
 * Parameters, in this order: operand pointers (inputs, then outputs, as the signature lists
 * them), sizes of the core axes (size_t), number attributes (real), rounding types (int). Operands
 * are contiguous; pointers may not overlap, except that an output may equal an input where the
 * catalogue says so: read an element before you write it. */
#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#ifdef NRD_DOUBLE
typedef double real;
#define R(constant) constant
#define NRD_MATH(name) name
#else
typedef float real;
#define R(constant) constant##f
#define NRD_MATH(name) name##f
#endif

#define NRD_JOIN3(a, b, c) a##b##_##c
#define NRD_SYMBOL(build, name) NRD_JOIN3(nrd_, build, name)

/* OP(silu)(const real* x, ...) { ... } defines nrd_<build>_silu. */
#define OP(name) __attribute__((no_profile_instrument_function)) void NRD_SYMBOL(NRD_BUILD, name)

#ifdef __cplusplus
extern "C" {
#endif

/* Rounds x to a dtype (a value of nereid_dtype) and back, saturating as the hardware does: part
 * of an operator's meaning. Never inlined, in every build; the identity for f32 and f64. */
#ifdef NRD_DOUBLE
double nrd_round_to_f64(double x, int type);
#define round_to nrd_round_to_f64
#else
float nrd_round_to_f32(float x, int type);
#define round_to nrd_round_to_f32
#endif

#ifdef __cplusplus
}
#endif

#define m_exp NRD_MATH(exp)
#define m_log NRD_MATH(log)
#define m_tanh NRD_MATH(tanh)
#define m_erf NRD_MATH(erf)
#define m_sqrt NRD_MATH(sqrt)
#define m_fabs NRD_MATH(fabs)
#define m_sin NRD_MATH(sin)
#define m_cos NRD_MATH(cos)
#define m_pow NRD_MATH(pow)
#define m_rint NRD_MATH(rint)
#define m_floor NRD_MATH(floor)

/* A helper becomes part of each definition that calls it, whatever the compiler thinks of it. */
#define HELPER static inline __attribute__((always_inline))

/* NaN wins whichever side it stands on; associative. */
HELPER real m_max(real a, real b) { return (a > b || a != a) ? a : b; }
HELPER real m_min(real a, real b) { return (a < b || a != a) ? a : b; }
HELPER real m_sigmoid(real x) { return R(1.0) / (R(1.0) + m_exp(-x)); }
