// SPDX-License-Identifier: MIT
// src/compiler/infer_signature.h: what a user's function takes and gives, read off its trace.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "trace/trace.h"

namespace nrd {

// The operator signature (ops/signature.h) of a trace: "x[n] s[ceil(n/32)] -> out[n] ; core n".
// Each pointer's shape is the simplest formula of the integers that holds what it touches; one for
// which none was found has any length ("; any x_rows"). What a call touches is checked when it is
// bound, whatever stands here. `is_map`: of float f(float, ...), whose operands are all of one
// length.
Expected<std::string> infer_signature(const OpTrace& trace, bool is_map);

// The size parameter, counted among those, along which one instance may be cut: that of its only
// loop, where every operand is touched at the counter alone or is a single element, and nothing
// else depends on where an element stands. -1: there is none.
int separable_size(const OpTrace& trace);

// What a signature says behind an operand whose elements are of this type in C: ":float_or_f64"
// for a double*, nothing for a float*.
std::string_view class_suffix(DType element);

}  // namespace nrd
