// SPDX-License-Identifier: MIT
// src/workbench/memory.cpp: mmap with a guard page behind.
#include "workbench/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace nrd {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kWorthAHugePage = size_t{16} << 10;  // what a few small pages hold needs no luck

size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

}  // namespace

Expected<Buffer> Buffer::allocate(size_t bytes, MemoryMode mode) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const bool huge = mode == MemoryMode::kTimed && bytes >= kWorthAHugePage;
  const size_t alignment = huge ? kHugePage : page;
  const size_t body = round_up(bytes ? bytes : 1, alignment);
  Buffer b;
  b.map_bytes_ = body + page + (alignment - page);
  b.bytes_ = bytes;
  void* map =
      mmap(nullptr, b.map_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED)
    return make_error({.code = ErrorCode::kEnvironment,
                       .argument = "memory",
                       .got = fmt::format("{} for {} bytes", std::strerror(errno), bytes),
                       .hint = "choose a smaller shape"});
  b.map_ = map;
  char* first = static_cast<char*>(map);
  first +=
      round_up(reinterpret_cast<uintptr_t>(first), alignment) - reinterpret_cast<uintptr_t>(first);
  if (huge) madvise(first, body, MADV_HUGEPAGE);
  mprotect(first + body, page, PROT_NONE);
  b.data_ = mode == MemoryMode::kGuarded ? first + body - bytes : first;
  return b;
}

Buffer::~Buffer() {
  if (map_) munmap(map_, map_bytes_);
}

Buffer::Buffer(Buffer&& other) noexcept { *this = std::move(other); }

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(map_, other.map_);
  std::swap(map_bytes_, other.map_bytes_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

}  // namespace nrd
