// SPDX-License-Identifier: MIT
// src/jit/symbols.h: names of generated code for perf (NEREID_PERF_MAP=1) and gdb (NEREID_GDB=1).
#pragma once

#include <cstddef>
#include <string>

namespace nrd::jit {

void announce_code(const std::string& name, const void* base, size_t bytes);
void withdraw_code(const void* base);  // before its pages go

}  // namespace nrd::jit
