// SPDX-License-Identifier: MIT
// src/base/error.h: errors as values, sorted by blame, all built by one function.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace nrd {

// Must match nereid_status in include/nereid/c.h (api/status.cpp asserts it).
enum class ErrorCode : int {
  kInvalidArgument = 1,    // misuse: a value that is never allowed
  kShapeMismatch = 2,      // misuse: sizes that do not fit each other
  kUnsupportedDtype = 3,   // misuse: a dtype the operator does not take
  kOverlap = 4,            // misuse: operands share memory in a way that is refused
  kUnknownName = 5,        // misuse: no such operator, backend, attribute, key ...
  kUnsupported = 6,        // refusal: right input, but this kernel or machine cannot do it
  kNumericalOverflow = 7,  // data: a value does not fit and the caller asked to be told
  kEnvironment = 8,        // the machine said no: file, memory, library, device
  kInternal = 9,           // our bug
};

// What a person needs to mend the call: which operator and argument, what came, what is
// allowed, what to do. Parts that do not apply stay empty.
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string op;
  std::string argument;
  std::string got;
  std::string allowed;
  std::string hint;

  // One sentence: "rms_norm: w: got [4095], allowed [4096]; pass one weight per column".
  std::string message() const;
};

std::string_view error_code_name(ErrorCode code);

// Every error of the library is built here, so one breakpoint finds any origin.
Error make_error(Error error);

template <class T>
class [[nodiscard]] Expected {
 public:
  Expected(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Expected(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Expected<void> {
 public:
  Expected() noexcept {}  // not defaulted: `return {}` would clear the whole object
  Expected(Error error) : error_(std::move(error)) {}  // NOLINT: implicit

  explicit operator bool() const { return !error_.has_value(); }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace nrd

// Returns the error of an Expected from the enclosing function.
#define NRD_TRY(expression)                                            \
  do {                                                                 \
    if (auto nrd_try = (expression); !nrd_try) return nrd_try.error(); \
  } while (false)
