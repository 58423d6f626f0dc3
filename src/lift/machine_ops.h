// SPDX-License-Identifier: MIT
// src/lift/machine_ops.h: one pure node of a Function on the bits of its arguments. Private to
// function_machine.cpp.
#pragma once

#include <array>
#include <bit>

#include "lift/function.h"

namespace nrd::lift::machine {

inline uint64_t masked(uint64_t bits, Type type) {
  const int width = type_bits(type);
  return width >= 64 ? bits : bits & ((uint64_t{1} << width) - 1);
}

inline int64_t as_signed(uint64_t bits, Type type) {
  const int unused = 64 - type_bits(type);
  return static_cast<int64_t>(bits << unused) >> unused;
}

template <class F>
uint64_t bits_of(F x) {
  if constexpr (sizeof(F) == 4)
    return std::bit_cast<uint32_t>(x);
  else
    return std::bit_cast<uint64_t>(x);
}

template <class F>
F number(uint64_t bits) {
  if constexpr (sizeof(F) == 4)
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  else
    return std::bit_cast<double>(bits);
}

// As C divides. What traps is told elsewhere, and is 0 here: it may stand where nobody looks.
uint64_t divide(Kind kind, Type type, uint64_t a, uint64_t b);

// Whether pure() has this operation. `from`: the type of the first argument.
bool knows(TraceOp op, Type type, Type from);
// Bits beyond the type's width are not cleared.
uint64_t pure(TraceOp op, Predicate predicate, Type type, Type from,
              const std::array<uint64_t, 3>& args);

}  // namespace nrd::lift::machine
