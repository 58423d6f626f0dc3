// SPDX-License-Identifier: MIT
// src/trace/scalar_machine.h: what interpret.cpp runs: one small function a live value, on slots
// numbered as the trace's values. Private to it.
#pragma once

#include <bit>
#include <limits>

#include "trace/trace.h"

namespace nrd::scalar {

using Slot = uint64_t;  // the bits of a value; 32-bit ones in the low half

template <class T>
T get(Slot slot) {
  if constexpr (sizeof(T) == 4) {
    return std::bit_cast<T>(static_cast<uint32_t>(slot));
  } else {
    return std::bit_cast<T>(slot);
  }
}

template <class T>
Slot put(T value) {
  if constexpr (sizeof(T) == 4) {
    return std::bit_cast<uint32_t>(value);
  } else {
    return std::bit_cast<uint64_t>(value);
  }
}

struct Machine {
  std::vector<Slot> slots;
  std::vector<Slot> scratch;  // next values of a loop while they replace the carried ones
  float (*round_to)(float, int) = nullptr;
  int nan_sign = 0;  // see TraceArgs
  int64_t steps_left = std::numeric_limits<int64_t>::max();
  bool outside = false;  // an access was not in its memory
};

struct Op;
using Run = const Op* (*)(Machine&, const Op*);  // returns the next one

struct Op {
  Run run = nullptr;
  uint32_t to = 0, a = 0, b = 0, c = 0;  // slots
  const TraceLoop* loop = nullptr;       // of a loop's ends
  const Op* other = nullptr;             // of a loop's ends, as Step::other
  char* memory = nullptr;                // of a load or store, whose guard always has a slot
  const TraceTable* table = nullptr;     // of a lookup
  uint64_t elements = std::numeric_limits<int64_t>::max();  // of that memory
  int64_t length = 0;  // of the end of a loop: the steps of one round
  DType dtype = DType::kF32;
  Predicate predicate = Predicate::kOeq;
};

// The function of any value but leaves and loops.
Run run_of(const OpTrace& trace, const Value& v);

}  // namespace nrd::scalar
