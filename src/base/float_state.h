// SPDX-License-Identifier: MIT
// src/base/float_state.h: the floating-point state of this thread: rounding, denormals.
#pragma once

#include <cstdint>
#include <string>

namespace nrd {

// Rounds to nearest and keeps denormals, whatever the host has set, until it goes: what is proved
// is proved for that state.
class DefaultFloatState {
 public:
  DefaultFloatState();
  ~DefaultFloatState();
  DefaultFloatState(const DefaultFloatState&) = delete;
  DefaultFloatState& operator=(const DefaultFloatState&) = delete;

 private:
  uint64_t before_;
};

// What this thread has set that changes results: "denormals are flushed to zero (FTZ)", several
// with commas; empty where nothing is.
std::string unusual_float_state();

}  // namespace nrd
