// SPDX-License-Identifier: MIT
// src/api/keyed_cache.h: what was prepared for a call, by the bytes of its CallKey.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/locks.h"

namespace nrd {

// Bounded: what has rested longest goes first.
template <class T>
class KeyedCache {
 public:
  explicit KeyedCache(size_t capacity) : capacity_(capacity) {}

  std::shared_ptr<const T> find(std::string_view key) const {
    const std::lock_guard lock(mutex_);
    auto found = entries_.find(key);
    if (found == entries_.end()) return nullptr;
    found->second.last_used = clock_;
    return found->second.value;
  }

  // What is in the cache afterwards: another thread may have been faster.
  std::shared_ptr<const T> insert(std::string_view key, std::shared_ptr<const T> value) {
    std::shared_ptr<const T> evicted;  // destroyed without the lock
    const std::lock_guard lock(mutex_);
    if (auto found = entries_.find(key); found != entries_.end()) return found->second.value;
    if (entries_.size() >= capacity_) {
      auto oldest = std::min_element(entries_.begin(), entries_.end(), [](auto& a, auto& b) {
        return a.second.last_used < b.second.last_used;
      });
      evicted = std::move(oldest->second.value);
      entries_.erase(oldest);
    }
    Entry& entry = entries_[std::string(key)];
    entry.value = std::move(value);
    entry.last_used = ++clock_;
    return entry.value;
  }

  size_t size() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }

 private:
  struct Entry {
    std::shared_ptr<const T> value;
    mutable uint64_t last_used = 0;
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view key) const { return std::hash<std::string_view>()(key); }
  };

  const size_t capacity_;
  mutable Mutex mutex_;
  uint64_t clock_ = 0;  // counts insertions
  std::unordered_map<std::string, Entry, Hash, std::equal_to<>> entries_;
};

}  // namespace nrd
