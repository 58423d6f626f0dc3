// SPDX-License-Identifier: MIT
// tests/cuda/emulator/copies.h: groups of copies that a thread commits and waits for.
#pragma once

#include "emulator/scheduler.h"

namespace nrd::cuda::emulator {

inline void commit(CopyGroups& groups) {
  groups.committed.push_back(std::move(groups.open));
  groups.open.clear();
}

// Until at most the youngest `pending` groups are under way.
inline void wait_for_groups(CopyGroups& groups, int pending) {
  while (static_cast<int>(groups.committed.size()) > pending) {
    for (const auto& copy : groups.committed.front()) copy->force();
    groups.committed.pop_front();
  }
}

}  // namespace nrd::cuda::emulator
