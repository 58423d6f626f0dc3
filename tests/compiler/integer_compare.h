// SPDX-License-Identifier: MIT
// tests/compiler/integer_compare.h: integer predicates, for the machines that run the lifter's IR.
#pragma once

#include <cstdint>

#include "trace/trace.h"

namespace nrd {

// The same two numbers as they are, unsigned, and sign extended.
inline bool integer_compare(Predicate p, uint64_t a, uint64_t b, int64_t x, int64_t y) {
  switch (p) {
    case Predicate::kEq: return a == b;
    case Predicate::kNe: return a != b;
    case Predicate::kLt: return x < y;
    case Predicate::kLe: return x <= y;
    case Predicate::kGt: return x > y;
    case Predicate::kGe: return x >= y;
    case Predicate::kB: return a < b;
    case Predicate::kBe: return a <= b;
    case Predicate::kA: return a > b;
    default: return a >= b;
  }
}

}  // namespace nrd
