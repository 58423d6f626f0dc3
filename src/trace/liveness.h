// SPDX-License-Identifier: MIT
// src/trace/liveness.h: which values and loops of a trace its stores depend on.
#pragma once

#include "trace/trace.h"

namespace nrd {

struct Liveness {
  std::vector<uint8_t> values;  // by ValueId; of a carried value kCarry and kResult go together
  std::vector<uint8_t> loops;
};

Liveness live_values(const OpTrace& trace);

constexpr uint32_t kNoLoop = ~uint32_t{0};

// Where things stand: the innermost loop around each value and around each loop (kNoLoop outside
// of all, and for what no body lists).
struct Scopes {
  std::vector<uint32_t> loop_of_value;
  std::vector<uint32_t> loop_of_loop;

  bool is_inside(uint32_t loop, uint32_t outer) const;  // or the same
};

Scopes scopes_of(const OpTrace& trace);

}  // namespace nrd
