// SPDX-License-Identifier: MIT
// src/jit/constant_pool.h: the constants behind the code, each kept once.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace nrd::jit {

class ConstantPool {
 public:
  // The offset of these bytes, aligned to their number (a power of two).
  uint32_t add(std::span<const uint8_t> value) {
    const size_t size = value.size();
    for (size_t at = 0; at + size <= bytes_.size(); at += size) {
      if (std::memcmp(&bytes_[at], value.data(), size) == 0) return static_cast<uint32_t>(at);
    }
    const size_t at = (bytes_.size() + size - 1) / size * size;
    bytes_.resize(at);
    bytes_.insert(bytes_.end(), value.begin(), value.end());
    return static_cast<uint32_t>(at);
  }

  // `element` bytes (4 or 8) of `bits`, repeated over `size` bytes.
  uint32_t add_splat(uint64_t bits, int element, int size) {
    std::array<uint64_t, 8> value;
    value.fill(element == 8 ? bits : (bits & 0xffffffff) * 0x100000001);
    return add({reinterpret_cast<const uint8_t*>(value.data()), static_cast<size_t>(size)});
  }

  // Any number of bytes, from a multiple of 8 on.
  uint32_t add_data(std::span<const uint8_t> value) {
    const auto known = std::search(bytes_.begin(), bytes_.end(), value.begin(), value.end());
    const auto found = static_cast<size_t>(known - bytes_.begin());
    if (known != bytes_.end() && found % 8 == 0) return static_cast<uint32_t>(found);
    const size_t at = (bytes_.size() + 7) / 8 * 8;
    bytes_.resize(at);
    bytes_.insert(bytes_.end(), value.begin(), value.end());
    return static_cast<uint32_t>(at);
  }

  // 32-bit numbers.
  uint32_t add_words(std::span<const uint32_t> words) {
    return add({reinterpret_cast<const uint8_t*>(words.data()), words.size_bytes()});
  }

  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

}  // namespace nrd::jit
