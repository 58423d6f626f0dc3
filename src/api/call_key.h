// SPDX-License-Identifier: MIT
// src/api/call_key.h: the bytes that make two calls the same plan.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace nrd {

// Built on the stack: a repeated call allocates nothing for it. What does not fit (a call with
// dozens of operands) is not kept in a cache.
class CallKey {
 public:
  void add(int64_t value) {
    if (void* at = reserve(sizeof value)) std::memcpy(at, &value, sizeof value);
  }
  void add(double value) {
    if (void* at = reserve(sizeof value)) std::memcpy(at, &value, sizeof value);
  }
  void add(const int64_t* values, int count) {
    const size_t bytes = static_cast<size_t>(count) * sizeof(int64_t);
    if (void* at = bytes ? reserve(bytes) : nullptr) std::memcpy(at, values, bytes);
  }
  void add(std::string_view text) {  // with its length, so that neighbours cannot run together
    add(static_cast<int64_t>(text.size()));
    if (void* at = text.empty() ? nullptr : reserve(text.size()))
      std::memcpy(at, text.data(), text.size());
  }
  bool fits() const { return fits_; }
  std::string_view bytes() const { return {bytes_, size_}; }

 private:
  static constexpr size_t kCapacity = 4096;

  void* reserve(size_t bytes) {
    fits_ = fits_ && bytes <= kCapacity - size_;
    if (!fits_) return nullptr;
    void* at = bytes_ + size_;
    size_ += bytes;
    return at;
  }

  char bytes_[kCapacity];
  size_t size_ = 0;
  bool fits_ = true;
};

}  // namespace nrd
