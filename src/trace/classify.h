// SPDX-License-Identifier: MIT
// src/trace/classify.h: what kind of operator a trace is, by its structure.
#pragma once

#include <optional>

#include "trace/trace.h"

namespace nrd {

// How a loop's carried value moves from one iteration to the next. All but kSequential may be
// computed in any order and grouping (sums with other roundings). Only the chain of
// combining operations may use the carried value.
enum class CarryKind : uint8_t {
  kSum,       // carry + e, carry - e, fma(a, b, carry)
  kProduct,   // carry * e, of integers; of floats see CarryInfo::is_product
  kMaxFirst,  // e > carry ? e : carry, so a NaN among the elements is ignored
  kMinFirst,
  kMaxNan,  // NaN wins
  kMinNan,
  kMaxNum,  // fmax, fmin: NaN loses
  kMinNum,
  kMax,  // integers
  kMin,
  kArg,         // select(e is better than the extremum so far, payload, carry)
  kConstant,    // the carried value itself
  kSequential,  // anything else
};

inline bool is_extremum(CarryKind kind) {
  return kind >= CarryKind::kMaxFirst && kind <= CarryKind::kMin;
}

std::string_view carry_kind_word(CarryKind kind);  // "sum", "max_first", "arg"

struct CarryInfo {
  CarryKind kind = CarryKind::kSequential;
  // The combining values, from `next` down to the one that uses the carry; those of inner loops
  // through which it passes are included, with their kCarry and kResult.
  std::vector<ValueId> chain;
  // The one value combined in an iteration; kNoValue for fma, several, or inner loops. Of kArg:
  // the payload.
  ValueId element = kNoValue;
  int extremum = -1;             // of kArg: the number of the carry that decides
  bool is_product = false;       // of kSequential: a product of floats, a reduction all the same
  std::string_view reason = "";  // of kSequential
};

// By loop, then by carry.
using Carries = std::vector<std::vector<CarryInfo>>;
Carries classify_carries(const OpTrace& trace);

// A product over k of two loads: what gemm and gemv share. Loops are numbers of the trace's.
struct Contraction {
  uint16_t m = 0, n = 0, k = 0;  // output rows, output columns (gemv: as m), summed
  bool is_gemv = false;
  ValueId a = kNoValue;       // the load that varies with m and k
  ValueId b = kNoValue;       // the load that varies with k and n (gemv: k alone)
  ValueId result = kNoValue;  // of the sum; what follows is an epilogue
};
std::optional<Contraction> contraction_of(const OpTrace& trace);

OpClass classify(const OpTrace& trace);

}  // namespace nrd
