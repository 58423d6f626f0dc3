// SPDX-License-Identifier: MIT
// tests/fuzz/user_functions/guarded.h: memory between two pages that nobody may touch.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <utility>

namespace judge {

inline size_t page_bytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

class Guarded {
 public:
  Guarded() = default;
  explicit Guarded(size_t bytes) {
    const size_t page = page_bytes();
    bytes_ = (bytes + page - 1) / page * page;
    void* all = mmap(nullptr, bytes_ + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) std::abort();
    begin_ = static_cast<char*>(all) + page;
    if (bytes_ && mprotect(begin_, bytes_, PROT_READ | PROT_WRITE) != 0) std::abort();
  }
  Guarded(Guarded&& other) noexcept { *this = std::move(other); }
  Guarded& operator=(Guarded&& other) noexcept {
    std::swap(begin_, other.begin_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Guarded() {
    if (begin_) munmap(begin_ - page_bytes(), bytes_ + 2 * page_bytes());
  }

  char* begin() const { return begin_; }
  char* end() const { return begin_ + bytes_; }
  size_t bytes() const { return bytes_; }

 private:
  char* begin_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace judge
