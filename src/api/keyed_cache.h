// SPDX-License-Identifier: MIT
// src/api/keyed_cache.h: what was prepared for a call, by the bytes of its CallKey.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace nrd {

// Bounded: what has rested longest goes first.
template <class T>
class KeyedCache {
 public:
  explicit KeyedCache(size_t capacity) : capacity_(capacity) {}

  std::shared_ptr<const T> find(std::string_view key) const {
    const std::shared_lock lock(mutex_);
    auto found = entries_.find(key);
    if (found == entries_.end()) return nullptr;
    const uint64_t now = clock_.load(std::memory_order_relaxed);
    // Written only when it changes: threads that repeat a call share the line unwritten.
    if (found->second.last_used.load(std::memory_order_relaxed) != now)
      found->second.last_used.store(now, std::memory_order_relaxed);
    return found->second.value;
  }

  // What is in the cache afterwards: another thread may have been faster.
  std::shared_ptr<const T> insert(std::string_view key, std::shared_ptr<const T> value) {
    const std::unique_lock lock(mutex_);
    if (auto found = entries_.find(key); found != entries_.end()) return found->second.value;
    if (entries_.size() >= capacity_) {
      auto oldest = std::min_element(entries_.begin(), entries_.end(), [](auto& a, auto& b) {
        return a.second.last_used.load() < b.second.last_used.load();
      });
      entries_.erase(oldest);
    }
    Entry& entry = entries_[std::string(key)];
    entry.value = std::move(value);
    entry.last_used = clock_.fetch_add(1, std::memory_order_relaxed) + 1;
    return entry.value;
  }

  size_t size() const {
    const std::shared_lock lock(mutex_);
    return entries_.size();
  }

 private:
  struct Entry {
    std::shared_ptr<const T> value;
    mutable std::atomic<uint64_t> last_used{0};
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view key) const { return std::hash<std::string_view>()(key); }
  };

  const size_t capacity_;
  mutable std::shared_mutex mutex_;
  std::atomic<uint64_t> clock_{0};  // counts insertions
  std::unordered_map<std::string, Entry, Hash, std::equal_to<>> entries_;
};

}  // namespace nrd
