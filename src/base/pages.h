// SPDX-License-Identifier: MIT
// src/base/pages.h: large memory straight from the system, in huge pages where it gives them.
#pragma once

#include <cstddef>

namespace nrd {

constexpr size_t kHugePage = size_t{2} << 20;

// Zeros, aligned to kHugePage, the bytes rounded up to whole huge pages. Packed panels of many MB
// are read in strides, and small pages would miss in the TLB. Null, and errno says why.
void* map_pages(size_t bytes);
// All of what map_pages(bytes) gave.
void unmap_pages(void* memory, size_t bytes);

}  // namespace nrd
