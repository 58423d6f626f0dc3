// SPDX-License-Identifier: MIT
// src/api/status.h: the border of the C ABI: errors become a status, exceptions stop here.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <cstring>
#include <new>
#include <string>
#include <string_view>

#include "base/error.h"
#include "nereid/c.h"

namespace nrd {

// A hook of the caller's let an exception out.
struct HookThrew {
  const char* hook;
};
template <class Body>
void call_hook(const char* hook, Body&& body) {
  try {
    body();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (...) {
    throw HookThrew{hook};
  }
}

// Keeps the error as this thread's last one.
nereid_status fail(const Error& error) noexcept;
// The same for whatever is being caught.
nereid_status fail_with_exception() noexcept;

// A caller's executor ran `done` of `count` indices; the call that this thread is in fails of it.
extern std::atomic<int> g_executor_faults;  // noted and not taken yet
void note_executor_fault(int64_t count, int64_t done);
Expected<void> take_executor_fault();

template <class Body>  // Expected<void>()
nereid_status guarded(Body&& body) noexcept {
  try {
    Expected<void> done = body();
    if (g_executor_faults.load(std::memory_order_relaxed) != 0) {
      const Expected<void> ran = take_executor_fault();
      if (done) done = ran;
    }
    return done ? NEREID_OK : fail(done.error());
  } catch (...) {
    return fail_with_exception();
  }
}

Error null_error(std::string_view argument, std::string_view allowed, std::string_view op = "");
Error struct_size_error(std::string_view type, uint32_t got, size_t known);

// A caller's struct in our version: what an older caller lacks is zero.
template <class T>
Expected<void> read_struct(const T* given, std::string_view type, T& to) {
  if (given == nullptr) return null_error(type, "a pointer to a struct");
  const uint32_t size = given->struct_size;
  if (size == 0 || size > sizeof(T)) return struct_size_error(type, size, sizeof(T));
  to = T{};
  std::memcpy(&to, given, size);
  return {};
}

// Fills as much of a caller's struct as the caller knows.
template <class T>
Expected<void> write_struct(T value, T* given, std::string_view type) {
  if (given == nullptr) return null_error(type, "a pointer to a struct");
  if (given->struct_size == 0 || given->struct_size > sizeof(T))
    return struct_size_error(type, given->struct_size, sizeof(T));
  value.struct_size = given->struct_size;
  std::memcpy(given, &value, given->struct_size);
  return {};
}

}  // namespace nrd
