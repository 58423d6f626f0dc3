// SPDX-License-Identifier: MIT
// nereid/error.h: errors as values, and the exceptions of the throwing front.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "nereid/c.h"

namespace nereid {

// What went wrong and how to mend it; parts that do not apply are empty.
struct Error {
  nereid_status status = NEREID_INTERNAL;
  std::string op, argument, got, allowed, hint;
  std::string message;  // all of it in one sentence
};

// The error of this thread's last failed call.
inline Error last_error() {
  const nereid_error& e = *nereid_last_error();
  return {
      static_cast<nereid_status>(e.status), e.op, e.argument, e.got, e.allowed, e.hint, e.message};
}

// Everything this library throws.
class Exception : public std::runtime_error {
 public:
  explicit Exception(Error error) : std::runtime_error(error.message), error_(std::move(error)) {}
  const Error& error() const { return error_; }

 private:
  Error error_;
};
// An operator cannot do what was asked. (A plain Exception is the machine's or the library's.)
class KernelError : public Exception {
 public:
  using Exception::Exception;
};
class ShapeMismatchError : public KernelError {
 public:
  using KernelError::KernelError;
};
class UnsupportedDtypeError : public KernelError {
 public:
  using KernelError::KernelError;
};
class NumericalOverflowError : public KernelError {
 public:
  using KernelError::KernelError;
};

[[noreturn]] inline void throw_error(Error error) {
  switch (error.status) {
    case NEREID_SHAPE_MISMATCH: throw ShapeMismatchError(std::move(error));
    case NEREID_UNSUPPORTED_DTYPE: throw UnsupportedDtypeError(std::move(error));
    case NEREID_NUMERICAL_OVERFLOW: throw NumericalOverflowError(std::move(error));
    case NEREID_ENVIRONMENT:
    case NEREID_INTERNAL: throw Exception(std::move(error));
    default: throw KernelError(std::move(error));
  }
}

// Throws this thread's last error unless the status is NEREID_OK.
inline void check(nereid_status status) {
  if (status != NEREID_OK) throw_error(last_error());
}

// A mistake that is found on this side of the C ABI.
inline Error make_error(nereid_status status, std::string op, std::string argument, std::string got,
                        std::string allowed) {
  std::string message = op + ": " + argument + ": got " + got + ", allowed: " + allowed;
  return {status, std::move(op),     std::move(argument), std::move(got), std::move(allowed),
          "",     std::move(message)};
}

// A value or an Error.
template <class T>
class [[nodiscard]] Expected {
 public:
  Expected(T value) : value_(std::move(value)) {}      // NOLINT: implicit
  Expected(Error error) : error_(std::move(error)) {}  // NOLINT: implicit

  explicit operator bool() const { return value_.has_value(); }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  const Error& error() const { return error_; }
  // The value, or the exception of the error.
  T& value() {
    if (!*this) throw_error(error());
    return **this;
  }

 private:
  std::optional<T> value_;
  Error error_;
};

template <>
class [[nodiscard]] Expected<void> {
 public:
  Expected() = default;
  Expected(Error error) : error_(std::move(error)), failed_(true) {}  // NOLINT: implicit
  explicit operator bool() const { return !failed_; }
  const Error& error() const { return error_; }
  void value() const {
    if (failed_) throw_error(error_);
  }

 private:
  Error error_;
  bool failed_ = false;
};

// Any call of the throwing front as a value: auto done = attempt([&] { nereid::silu(x, y); });
template <class Function>
auto attempt(Function&& function) -> Expected<decltype(function())> {
  try {
    if constexpr (std::is_void_v<decltype(function())>) {
      function();
      return {};
    } else {
      return function();
    }
  } catch (const Exception& e) {
    return e.error();
  }
}

}  // namespace nereid
