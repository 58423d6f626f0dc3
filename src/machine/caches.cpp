// SPDX-License-Identifier: MIT
// src/machine/caches.cpp: cache sizes and sharers out of sysfs or CPUID.
#include "machine/caches.h"

#include <algorithm>
#include <string>

#include "machine/cpuid.h"
#include "machine/microarch.h"
#include "machine/system_files.h"

namespace nrd {
namespace {

constexpr int64_t kFallbackL1 = 32 << 10;   // the least of the cores in the model table
constexpr int64_t kFallbackL2 = 512 << 10;  // likewise

void add_level(std::vector<CacheLevel>& caches, int64_t level, int64_t bytes, int sharers) {
  if (level < 1 || level > 4 || bytes <= 0) return;
  constexpr const char* kNames[] = {"L1", "L2", "L3", "L4"};
  caches.push_back({kNames[level - 1], bytes, std::max(sharers, 1)});
}

void sort_by_level(std::vector<CacheLevel>& caches) {
  std::sort(caches.begin(), caches.end(),
            [](const CacheLevel& a, const CacheLevel& b) { return a.name < b.name; });
}

}  // namespace

std::vector<CacheLevel> caches_from_sysfs() {
  std::vector<CacheLevel> caches;
  for (int index = 0; index < 16; ++index) {
    const std::string folder =
        "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    const std::string type = read_line(folder + "type");
    if (type.empty()) break;
    if (type == "Instruction") continue;
    add_level(caches, read_size(folder + "level"), read_size(folder + "size"),
              count_cpu_list(read_line(folder + "shared_cpu_list")));
  }
  sort_by_level(caches);
  return caches;
}

std::vector<CacheLevel> caches_from_cpuid() {
  std::vector<CacheLevel> caches;
#if defined(__x86_64__)
  // Both leaves have one layout: type in eax 4:0 (1 data, 3 unified), level in 7:5, sharers - 1 in
  // 25:14; line, partitions and ways (each - 1) in ebx; sets - 1 in ecx.
  const uint32_t leaf = host_cpu_id().vendor == Vendor::kAmd ? 0x8000001Du : 4u;
  for (uint32_t index = 0; index < 16; ++index) {
    const Cpuid c = cpuid(leaf, index);
    const uint32_t type = c.eax & 0x1F;
    if (type == 0) break;
    if (type != 1 && type != 3) continue;
    const int64_t line = (c.ebx & 0xFFF) + 1, partitions = ((c.ebx >> 12) & 0x3FF) + 1;
    const int64_t ways = (c.ebx >> 22) + 1, sets = static_cast<int64_t>(c.ecx) + 1;
    add_level(caches, (c.eax >> 5) & 0x7, line * partitions * ways * sets,
              static_cast<int>((c.eax >> 14) & 0xFFF) + 1);
  }
  sort_by_level(caches);
#endif
  return caches;
}

std::vector<CacheLevel> host_caches() {
  std::vector<CacheLevel> caches = caches_from_sysfs();
  if (caches.empty()) caches = caches_from_cpuid();
  if (caches.empty()) caches = {{"L1", kFallbackL1, 1}, {"L2", kFallbackL2, 1}};
  caches.push_back({"DRAM", 0, 1});
  return caches;
}

}  // namespace nrd
