// SPDX-License-Identifier: MIT
// src/machine/system_files.cpp: reading what Linux says about the machine.
#include "machine/system_files.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace nrd {
namespace {

std::string trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  const size_t end = text.find_last_not_of(kBlank);
  return std::string(text.substr(begin, end - begin + 1));
}

}  // namespace

std::string read_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return trimmed(line);
}

int64_t read_size(const std::string& path) {
  const std::string line = read_line(path);
  char* end = nullptr;
  int64_t value = std::strtoll(line.c_str(), &end, 10);
  if (end == line.c_str() || value < 0) return 0;
  if (*end == 'K') value <<= 10;
  if (*end == 'M') value <<= 20;
  if (*end == 'G') value <<= 30;
  return value;
}

int count_cpu_list(std::string_view list) {
  int count = 0;
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    const std::string part(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
    char* end = nullptr;
    const long first = std::strtol(part.c_str(), &end, 10);
    if (end == part.c_str()) continue;
    const long last = *end == '-' ? std::strtol(end + 1, nullptr, 10) : first;
    if (last >= first) count += static_cast<int>(last - first + 1);
  }
  return count;
}

std::string cpuinfo_field(std::string_view name) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    if (trimmed(std::string_view(line).substr(0, colon)) == name) {
      return trimmed(std::string_view(line).substr(colon + 1));
    }
  }
  return {};
}

int64_t memory_bytes() {
  int64_t bytes =
      static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<int64_t>(sysconf(_SC_PAGESIZE));
  if (bytes <= 0) bytes = int64_t{1} << 30;
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    const int64_t limit = read_size(path);  // "max" reads as 0
    if (limit > 0) bytes = std::min(bytes, limit);
  }
  return bytes;
}

}  // namespace nrd
