// SPDX-License-Identifier: MIT
// src/lift/body.h: one function's instructions as basic blocks, before helpers are inlined.
#pragma once

#include "lift/discover.h"

namespace nrd::lift {

enum class End : uint8_t {
  kJump,
  kBranch,
  kReturn,
  kHelper,  // a call of `helper`, then on to successor 0
  kDead,    // abort, a trap
  kBad,     // something that is not understood: `reason`
};

struct BodyBlock {
  uint64_t address = 0;
  uint32_t first_step = 0, steps = 0;
  End end = End::kBad;
  uint32_t successor[2] = {0, 0};
  const CallTarget* helper = nullptr;
  std::string reason;
};

struct Body {
  uint64_t entry = 0;
  std::vector<BodyBlock> blocks;  // [0] is the entry
};

// Decodes every path from the entry. Steps are appended to `steps`; `decoded` counts instructions
// against kMaxInstructions.
Body decode_body(uint64_t entry, const Image& image, FrontEnd& front_end, CallResolver& resolver,
                 std::vector<Step>& steps, size_t& decoded);

}  // namespace nrd::lift
