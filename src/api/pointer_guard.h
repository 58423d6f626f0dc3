// SPDX-License-Identifier: MIT
// src/api/pointer_guard.h: check_pointers() in a few comparisons.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/desc.h"

namespace nrd {

// What check_pointers() asks of the addresses of one Desc, computed ahead as far as it does not
// depend on them.
class PointerGuard {
 public:
  PointerGuard() = default;
  explicit PointerGuard(const Desc& desc);

  // True is certain; after false, check_pointers() has the last word, and the words.
  bool passes(void* const* pointers) const {
    uintptr_t wrong = 0;
    for (const Single& s : singles_) {
      const auto at = reinterpret_cast<uintptr_t>(pointers[s.operand]);
      wrong |= (at & s.misaligned) | (at == 0) | (at - s.before > s.room);
    }
    for (const Pair& p : pairs_) {
      const auto a = reinterpret_cast<uintptr_t>(pointers[p.output]);
      const auto b = reinterpret_cast<uintptr_t>(pointers[p.other]);
      const bool apart = b > a ? b - a >= p.ahead : a - b >= p.behind;
      wrong |= !(apart || (p.may_be_same && a == b));
    }
    return wrong == 0;
  }

 private:
  struct Single {
    uint32_t operand = 0;
    uint32_t misaligned = 0;  // address bits that must be 0
    uint64_t before = 0;      // bytes that the operand reaches below its address
    uint64_t room = 0;        // addresses there are for its lowest byte, so that none wraps
  };
  struct Pair {
    uint32_t output = 0;
    uint32_t other = 0;
    uint64_t ahead = 0;   // bytes that keep the two apart when `other` lies behind the output
    uint64_t behind = 0;  // and when it lies before it
    bool may_be_same = false;
  };

  std::vector<Single> singles_;
  std::vector<Pair> pairs_;
};

}  // namespace nrd
