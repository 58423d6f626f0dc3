// SPDX-License-Identifier: MIT
// src/machine/caches.h: the data caches of the first CPU, nearest first, DRAM last.
#pragma once

#include <vector>

#include "machine/profile.h"

namespace nrd {

// The first source that answers: sysfs, CPUID (Intel leaf 4, AMD leaf 0x8000001D), and at last
// 32 KiB L1 and 512 KiB L2. DRAM is always the last entry.
std::vector<CacheLevel> host_caches();

// The two sources on their own, for tests; empty when a source does not answer.
std::vector<CacheLevel> caches_from_sysfs();
std::vector<CacheLevel> caches_from_cpuid();

}  // namespace nrd
