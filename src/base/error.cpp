// SPDX-License-Identifier: MIT
// src/base/error.cpp: the words of an error.
#include "base/error.h"

namespace nrd {

std::string_view error_code_name(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument: return "invalid argument";
    case ErrorCode::kShapeMismatch: return "shape mismatch";
    case ErrorCode::kUnsupportedDtype: return "unsupported dtype";
    case ErrorCode::kOverlap: return "overlapping operands";
    case ErrorCode::kUnknownName: return "unknown name";
    case ErrorCode::kUnsupported: return "unsupported";
    case ErrorCode::kNumericalOverflow: return "numerical overflow";
    case ErrorCode::kEnvironment: return "environment";
    case ErrorCode::kInternal: return "internal error";
  }
  return "internal error";
}

Error make_error(Error error) { return error; }

std::string Error::message() const {
  std::string text;
  auto add = [&text](std::string_view before, const std::string& part) {
    if (part.empty()) return;
    if (!text.empty()) text += before;
    text += part;
  };
  add("", op);
  add(": ", argument);
  if (!got.empty()) add(": ", "got " + got);
  if (!allowed.empty()) add(text.empty() ? "" : ", ", "allowed: " + allowed);
  add("; ", hint);
  return text.empty() ? std::string(error_code_name(code)) : text;
}

}  // namespace nrd
