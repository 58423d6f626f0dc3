// SPDX-License-Identifier: MIT
// src/base/pages.cpp: see pages.h.
#include "base/pages.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>

namespace nrd {
namespace {

size_t whole_pages(size_t bytes) { return (bytes + kHugePage - 1) / kHugePage * kHugePage; }

}  // namespace

void* map_pages(size_t bytes) {
  if (bytes > SIZE_MAX - 2 * kHugePage) {
    errno = ENOMEM;
    return nullptr;
  }
  const size_t whole = whole_pages(bytes);
  void* map =
      mmap(nullptr, whole + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) return nullptr;
  // What is left over at both ends goes back.
  char* first = static_cast<char*>(map);
  const size_t skip = -reinterpret_cast<uintptr_t>(first) % kHugePage;
  if (skip > 0) munmap(first, skip);
  munmap(first + skip + whole, kHugePage - skip);
  madvise(first + skip, whole, MADV_HUGEPAGE);  // a wish
  return first + skip;
}

void unmap_pages(void* memory, size_t bytes) { munmap(memory, whole_pages(bytes)); }

}  // namespace nrd
