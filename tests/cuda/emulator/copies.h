// SPDX-License-Identifier: MIT
// tests/cuda/emulator/copies.h: groups of copies that a thread commits and waits for.
#pragma once

#include "emulator/scheduler.h"

namespace nrd::cuda::emulator {

inline void commit(CopyGroups& groups) {
  groups.committed.push_back(std::move(groups.open));
  groups.open = {};
}

// Until at most the youngest `pending` groups are under way. The number of the last copy that is
// known to be done, 0 if none was waited for.
inline uint32_t wait_for_groups(CopyGroups& groups, int pending) {
  uint32_t last = 0;
  while (static_cast<int>(groups.committed.size()) > pending) {
    CopyGroups::Group& done = groups.committed.front();
    for (const auto& copy : done.copies) copy->force();
    for (Word* word : done.words) Shadow::land(self(), *word);
    if (done.last) last = done.last;
    groups.committed.pop_front();
  }
  return last;
}

// cp.async of 16 bytes of shared memory, of which `bytes` come from global memory.
void copy_async(void* shared, const void* global, size_t bytes);
void copy_async_wait(int groups);

}  // namespace nrd::cuda::emulator
