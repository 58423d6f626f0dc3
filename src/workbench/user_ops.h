// SPDX-License-Identifier: MIT
// src/workbench/user_ops.h: functions of shared libraries as operators: --op LIB.so:SYMBOL.
#pragma once

#include <string>
#include <vector>

#include "compiler/user_op.h"

namespace nrd {

struct LibraryFunction {
  std::string library, symbol;
  std::string c_signature;  // "void(const float*, float*, size_t)"
  std::string signature;    // the operator's, where it cannot be inferred
};

// "LIB.so:SYMBOL" or "LIB.so:SYMBOL=C SIGNATURE" or "...=C SIGNATURE=OPERATOR SIGNATURE".
Expected<LibraryFunction> parse_library_function(const std::string& text);
std::string library_function_text(const LibraryFunction& function);

// Loads the library (it stays loaded) and makes the function ready to lift; the operator is named
// like the symbol.
Expected<UserOpRequest> load_library_function(const LibraryFunction& function);

}  // namespace nrd
