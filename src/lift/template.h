// SPDX-License-Identifier: MIT
// src/lift/template.h: a signature from the type of a function pointer.
#pragma once

#include <cstdint>
#include <type_traits>

#include "lift/lift.h"

namespace nrd::lift {

template <class T>
inline constexpr bool kNoSuchParameter = false;

template <class T>
constexpr CKind number_kind() {
  if constexpr (std::is_same_v<T, float>)
    return CKind::kFloat;
  else if constexpr (std::is_same_v<T, double>)
    return CKind::kDouble;
  else if constexpr (std::is_integral_v<T> && sizeof(T) == 4)
    return std::is_signed_v<T> ? CKind::kInt32 : CKind::kUInt32;
  else if constexpr (std::is_integral_v<T> && sizeof(T) == 8)
    return std::is_signed_v<T> ? CKind::kInt64 : CKind::kUInt64;
  else
    static_assert(kNoSuchParameter<T>, "float, double or an integer of 32 or 64 bits");
}

template <class T>
constexpr DType element_dtype() {
  if constexpr (std::is_same_v<T, float>)
    return DType::kF32;
  else if constexpr (std::is_same_v<T, double>)
    return DType::kF64;
  else if constexpr (std::is_same_v<T, int32_t>)
    return DType::kI32;
  else if constexpr (std::is_same_v<T, int8_t>)
    return DType::kI8;
  else if constexpr (std::is_same_v<T, uint8_t>)
    return DType::kU8;
  else
    static_assert(kNoSuchParameter<T>,
                  "elements are float, double, int32_t, int8_t or uint8_t; describe a struct by "
                  "parse_signature");
}

template <class T>
CParam param_of() {
  if constexpr (std::is_pointer_v<T>) {
    using Element = std::remove_pointer_t<T>;
    return {.kind = CKind::kPointer,
            .element = element_dtype<std::remove_const_t<Element>>(),
            .is_const = std::is_const_v<Element>};
  } else {
    return {.kind = number_kind<T>()};
  }
}

template <class R, class... P>
CSignature signature_of(R (*)(P...)) {
  CSignature signature;
  signature.returns_void = std::is_void_v<R>;
  if constexpr (!std::is_void_v<R>) signature.result = number_kind<R>();
  (signature.params.push_back(param_of<P>()), ...);
  return signature;
}

template <class R, class... P>
CSignature signature_of(R (*function)(P...) noexcept) {
  return signature_of(static_cast<R (*)(P...)>(function));
}

}  // namespace nrd::lift
