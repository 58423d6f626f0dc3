// SPDX-License-Identifier: MIT
// tests/cuda/emulator/shared_window.cpp: 32-bit addresses of shared memory.
//
// Bits 0 to 23: the offset in a block's memory, which begins at 1024 as on a device without static
// shared memory. Bits 24 and up: the rank of the block plus one, or 0 for the block itself.
#include <cstdio>

#include "emulator/language.h"

namespace nrd::cuda::emulator {
namespace {

constexpr uint32_t kBase = 1024;
constexpr int kRankShift = 24;

}  // namespace

uint32_t shared_address(const void* pointer) {
  const Block& own = *self().block;
  const auto offset = static_cast<const char*>(pointer) - own.shared;
  // One past the end is an address too; reading there is not.
  if (offset < 0 || static_cast<size_t>(offset) > own.shared_bytes)
    fail("a pointer that is not of the block's shared memory is converted to an address of it");
  return kBase + static_cast<uint32_t>(offset);
}

uint32_t map_shared(uint32_t address, int rank) {
  cluster_block(rank);  // judges the rank
  return (address & ((1u << kRankShift) - 1)) | static_cast<uint32_t>(rank + 1) << kRankShift;
}

void* shared_pointer(uint32_t address, size_t bytes) {
  const auto rank = static_cast<int>(address >> kRankShift) - 1;
  return shared_pointer(rank < 0 ? *self().block : cluster_block(rank), address, bytes);
}

void* shared_pointer(const Block& block, uint32_t address, size_t bytes) {
  const uint32_t offset = (address & ((1u << kRankShift) - 1)) - kBase;
  if (offset + bytes > block.shared_bytes) {
    char text[128];
    std::snprintf(text, sizeof text, "%zu bytes at %d of a shared memory of %zu bytes", bytes,
                  static_cast<int>(offset), block.shared_bytes);
    fail(text);
  }
  return block.shared + offset;
}

}  // namespace nrd::cuda::emulator
