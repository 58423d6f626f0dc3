// SPDX-License-Identifier: MIT
// src/compiler/infer_signature.h: what a user's function takes and gives, read off its trace.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "trace/trace.h"

namespace nrd {

// The operator signature (ops/signature.h) of a trace: "x[n] y[n] -> out[n] ; core n*". Each
// pointer's shape is a product of size parameters that the memory it touches equals; the error
// says which has none and asks for a signature.
Expected<std::string> infer_signature(const OpTrace& trace);

// What a signature says behind an operand whose elements are of this type in C: ":float_or_f64"
// for a double*, nothing for a float*.
std::string_view class_suffix(DType element);

}  // namespace nrd
