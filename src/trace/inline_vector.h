// SPDX-License-Identifier: MIT
// src/trace/inline_vector.h: a vector whose first elements need no allocation.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace nrd {

template <class T, size_t kInline>
class InlineVector {
 public:
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return size_ > kInline ? many_.data() : few_.data(); }
  const T* data() const { return size_ > kInline ? many_.data() : few_.data(); }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }

  void push_back(const T& value) {
    if (size_ < kInline) {
      few_[size_++] = value;
      return;
    }
    if (size_ == kInline) many_.assign(few_.begin(), few_.end());
    many_.push_back(value);
    size_++;
  }

 private:
  size_t size_ = 0;
  std::array<T, kInline> few_{};
  std::vector<T> many_;  // everything, once there is more than fits
};

}  // namespace nrd
