// SPDX-License-Identifier: MIT
// src/compiler/infer_signature.h: what a user's function takes and gives, read off its trace.
#pragma once

#include <string>

#include "base/error.h"
#include "trace/trace.h"

namespace nrd {

// The operator signature (ops/signature.h) of a trace: "x[n] y[n] -> out[n] ; core n*". Each
// pointer's shape is a product of size parameters that the memory it touches equals; the error
// says which has none and asks for a signature.
Expected<std::string> infer_signature(const OpTrace& trace);

}  // namespace nrd
