// SPDX-License-Identifier: MIT
// src/base/convert.h: conversions between dtypes, scalar and over strided buffers.
//
// Every narrowing rounds once, to nearest, ties to even, straight from the source value (never
// through a middle format). Two rules for what does not fit:
//   kIeee      as ml_dtypes: overflow becomes Inf, or NaN where the format has no Inf. e2m1 has
//              neither: overflow becomes the largest value, NaN a zero of the opposite sign;
//   kSaturate  as the hardware: finite overflow and Inf become the largest value of that sign,
//              NaN stays NaN (e2m1 has no NaN: it becomes the largest value, +6).
// Integers: rounded to nearest even and clamped to the range; NaN becomes 0.
// e8m0 has no sign and no zero: a negative value becomes NaN; zero becomes NaN (kIeee) or 2^-127
// (kSaturate); a tie goes up. As in ml_dtypes, everything between 2^-127 and 2^-126 goes up too.
// A NaN keeps its sign; its payload is not part of the contract.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/dtype.h"

namespace nrd {

enum class Overflow { kIeee, kSaturate };

// The value of a code. `code` holds the element's bits in its low bytes (f64 included).
double decode(uint64_t code, DType dtype);
// The code of a value in `dtype`.
uint64_t encode(double value, DType dtype, Overflow overflow);

// The value after rounding to `dtype` and back; identity for kF64 and, by definition of
// round_to (ops/scalar/definition.h), for kF32.
double round_through(double value, DType dtype, Overflow overflow);

// Contiguous buffers of any two dtypes; the buffers may be the same if the element sizes are.
// Where every value of the source exists in the target (f16 -> f32, the same dtype) nothing is
// rounded and `overflow` has no say: an Inf stays. They need not be aligned.
// The common pairs (f32 <-> f16, bf16, f8) are vectorisable loops without a call an element.
void convert(const void* from, DType from_dtype, void* to, DType to_dtype, size_t count,
             Overflow overflow = Overflow::kIeee);

}  // namespace nrd
