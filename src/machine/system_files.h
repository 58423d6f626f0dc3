// SPDX-License-Identifier: MIT
// src/machine/system_files.h: one-line files of /sys and fields of /proc/cpuinfo.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nrd {

// The first line of a file without blanks at its ends; "" when it cannot be read.
std::string read_line(const std::string& path);

// A line that starts with a number, with K, M or G behind it taken as a power of 1024; else 0.
int64_t read_size(const std::string& path);

// How many CPUs a list such as "0-3,8" names; 0 when it names none.
int count_cpu_list(std::string_view list);

// The value of the first line "name : value" of /proc/cpuinfo; "" when there is none.
std::string cpuinfo_field(std::string_view name);

// Memory this process may hope for: physical, cut by the limit of its memory cgroup.
int64_t memory_bytes();

}  // namespace nrd
