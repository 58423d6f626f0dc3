// SPDX-License-Identifier: MIT
// src/base/error.cpp: the words of an error.
#include "base/error.h"

#include <cstdint>

namespace nrd {
namespace {

// Bytes of the UTF-8 character at `at`; 0 where there is none.
size_t utf8_length(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(at);
  const size_t length = lead < 0x80                   ? 1
                        : lead >= 0xc2 && lead < 0xe0 ? 2
                        : lead >= 0xe0 && lead < 0xf0 ? 3
                        : lead >= 0xf0 && lead < 0xf5 ? 4
                                                      : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (size_t i = 1; i < length; i++)
    if ((byte(at + i) & 0xc0) != 0x80) return 0;
  return length;
}

// What came from outside can be anything; a message is a line of text, in logs and in JSON too.
void make_printable(std::string& text) {
  constexpr size_t kLongest = 4000;
  std::string clean;
  for (size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const size_t length = byte < ' ' || byte == 0x7f ? 0 : utf8_length(text, at);
    if (clean.size() > kLongest) {
      clean += "...";
      break;
    }
    if (length > 0) {
      clean.append(text, at, length);
    } else {
      constexpr char kHex[] = "0123456789abcdef";
      (clean += "\\x") += kHex[byte / 16];
      clean += kHex[byte % 16];
    }
    at += length > 0 ? length : 1;
  }
  text = std::move(clean);
}

}  // namespace

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

Error make_error(Error error) {
  for (std::string* part : {&error.op, &error.argument, &error.got, &error.allowed, &error.hint})
    make_printable(*part);
  return error;
}

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
