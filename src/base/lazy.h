// SPDX-License-Identifier: MIT
// src/base/lazy.h: a value that is made when it is first asked for.
//
// A function's static has a guard that a fork can catch half-way, and then every child waits for a
// thread that it does not have. Here nobody waits: threads that come together each make the value,
// the first to finish publishes its own and the others throw theirs away.
#pragma once

#include <atomic>
#include <memory>

namespace nrd {

// For the process: never destroyed, since other threads may still ask while the process ends.
template <class T>
class Lazy {
 public:
  constexpr Lazy() = default;
  Lazy(const Lazy&) = delete;
  Lazy& operator=(const Lazy&) = delete;

  template <class Make>  // T()
  T& get(Make&& make) {
    if (T* known = value_.load(std::memory_order_acquire)) return *known;
    std::unique_ptr<T> made(new T(make()));
    T* first = nullptr;
    if (value_.compare_exchange_strong(first, made.get(), std::memory_order_acq_rel))
      return *made.release();
    return *first;
  }
  T& get() {
    return get([] { return T(); });
  }
  T* peek() const { return value_.load(std::memory_order_acquire); }  // null: nobody asked yet

 private:
  std::atomic<T*> value_{nullptr};
};

// For a member: goes with its object.
template <class T>
class LazyMember : public Lazy<T> {
 public:
  ~LazyMember() { delete this->peek(); }
};

}  // namespace nrd
