// SPDX-License-Identifier: MIT
// src/jit/x86_predicates.h: comparisons as immediates of vcmpps and vpcmpd.
#pragma once

#include "trace/trace.h"

namespace nrd::jit {

// All quiet: no exception on a NaN.
constexpr int float_comparison(Predicate predicate) {
  switch (predicate) {
    case Predicate::kOeq: return 0x00;
    case Predicate::kOne: return 0x0c;
    case Predicate::kOlt: return 0x11;
    case Predicate::kOle: return 0x12;
    case Predicate::kOgt: return 0x1e;
    case Predicate::kOge: return 0x1d;
    case Predicate::kOrd: return 0x07;
    case Predicate::kUeq: return 0x08;
    case Predicate::kUne: return 0x04;
    case Predicate::kUlt: return 0x19;  // not greater or equal
    case Predicate::kUle: return 0x1a;
    case Predicate::kUgt: return 0x16;
    case Predicate::kUge: return 0x15;
    default: return 0x03;  // unordered
  }
}

constexpr bool is_unsigned(Predicate predicate) { return predicate >= Predicate::kB; }

constexpr int integer_comparison(Predicate predicate) {
  switch (predicate) {
    case Predicate::kEq: return 0;
    case Predicate::kLt:
    case Predicate::kB: return 1;
    case Predicate::kLe:
    case Predicate::kBe: return 2;
    case Predicate::kNe: return 4;
    case Predicate::kGe:
    case Predicate::kAe: return 5;
    default: return 6;
  }
}

}  // namespace nrd::jit
