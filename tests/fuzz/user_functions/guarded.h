// SPDX-License-Identifier: MIT
// tests/fuzz/user_functions/guarded.h: memory between two regions that nobody may touch.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <utility>

namespace judge {

// Far more than a wrong stride reaches; it costs address space only.
constexpr size_t kGuardBytes = size_t{16} << 20;

inline size_t page_bytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

class Guarded {
 public:
  Guarded() = default;
  explicit Guarded(size_t bytes) {
    const size_t page = page_bytes();
    bytes_ = (bytes + page - 1) / page * page;
    void* all = mmap(nullptr, bytes_ + 2 * kGuardBytes, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) std::abort();
    begin_ = static_cast<char*>(all) + kGuardBytes;
    if (bytes_ && mprotect(begin_, bytes_, PROT_READ | PROT_WRITE) != 0) std::abort();
  }
  Guarded(Guarded&& other) noexcept { *this = std::move(other); }
  Guarded& operator=(Guarded&& other) noexcept {
    std::swap(begin_, other.begin_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Guarded() {
    if (begin_) munmap(begin_ - kGuardBytes, bytes_ + 2 * kGuardBytes);
  }

  char* begin() const { return begin_; }
  char* end() const { return begin_ + bytes_; }
  size_t bytes() const { return bytes_; }

 private:
  char* begin_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace judge
