// SPDX-License-Identifier: MIT
// src/lift/flat_map.h: a small open-addressing map from 64-bit keys to 32-bit values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace nrd::lift {

// Keys are any number but ~0. Nothing is ever removed, which is all the lifter needs.
class FlatMap {
 public:
  static constexpr uint32_t kMissing = ~uint32_t{0};

  uint32_t find(uint64_t key) const {
    if (entries_.empty()) return kMissing;
    for (size_t at = home(key);; at = (at + 1) & mask()) {
      if (entries_[at].key == key) return entries_[at].value;
      if (entries_[at].key == kFree) return kMissing;
    }
  }

  void set(uint64_t key, uint32_t value) {
    if ((used_ + 1) * 4 > entries_.size() * 3) grow();
    for (size_t at = home(key);; at = (at + 1) & mask()) {
      if (entries_[at].key == kFree) {
        entries_[at].key = key;
        used_++;
      }
      if (entries_[at].key != key) continue;
      entries_[at].value = value;
      return;
    }
  }

  size_t size() const { return used_; }

 private:
  static constexpr uint64_t kFree = ~uint64_t{0};
  struct Entry {
    uint64_t key = kFree;
    uint32_t value = kMissing;
  };

  size_t mask() const { return entries_.size() - 1; }
  size_t home(uint64_t key) const { return (key * 0x9e3779b97f4a7c15ull >> 20) & mask(); }

  void grow() {
    std::vector<Entry> old(entries_.empty() ? 64 : entries_.size() * 2);
    old.swap(entries_);
    used_ = 0;
    for (const Entry& entry : old)
      if (entry.key != kFree) set(entry.key, entry.value);
  }

  std::vector<Entry> entries_;
  size_t used_ = 0;
};

}  // namespace nrd::lift
