// SPDX-License-Identifier: MIT
// src/lift/image_libm.h: addresses of the C library's functions that code calls, by name.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace nrd::lift {

struct LibraryFunction {
  uint64_t address = 0;
  std::string_view name;
};

// Several addresses a name: as linked here, as the dynamic linker finds it, and behind the stub
// of a static program.
std::vector<LibraryFunction> library_functions();

}  // namespace nrd::lift
