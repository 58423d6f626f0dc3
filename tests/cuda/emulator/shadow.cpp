// SPDX-License-Identifier: MIT
// tests/cuda/emulator/shadow.cpp
#include "emulator/shadow.h"

#include <algorithm>
#include <map>
#include <string>

#include "emulator/machine.h"

namespace nrd::cuda::emulator {

// ---- clocks ----

void publish(Thread& thread, Clock& clock) {
  clock.join(thread.clock);
  if (machine().request.cluster > 1) clock.join(thread.block->base);  // others lack it
  Order& order = *thread.block->order;
  clock.learn(thread.agent, order.count(thread.agent));
  order.advance(thread.agent);
}

void acquire(Thread& thread, const Clock& clock) { thread.clock.join(clock); }

void synchronise_block(Block& block) {
  for (Thread* t : block.threads) {
    if (t->done) continue;
    publish(*t, block.base);
    t->clock.clear();
  }
}

void fence_proxies(Thread& thread) {
  Order& order = *thread.block->order;
  thread.clock.join(thread.block->base);
  thread.clock.learn(thread.agent, order.count(thread.agent));
  order.advance(thread.agent);
  thread.clock.fence();
}

// ---- words ----

bool Shadow::knows(const Thread& by, const Access& access, bool fenced) const {
  if (access.is_pending) return false;
  if (!fenced && access.agent == by.agent) return true;
  // What a thread was told at a barrier of its block is in that block's base.
  const Clock &own = by.clock, &base = by.block->base;
  const auto known = [&](const Clock& c) {
    return fenced ? c.fenced(access.agent) : c.seen(access.agent);
  };
  return access.count <= known(own) || access.count <= known(base);
}

std::string Shadow::agent_name(size_t agent) const {
  const size_t threads = block_.threads.size();
  if (agent / threads < static_cast<size_t>(cluster_size())) {
    const Block& block = cluster_block(block_, static_cast<int>(agent / threads));
    return name(*block.threads[agent % threads]);
  }
  return "something asynchronous";
}

void Shadow::race(const Thread& by, const char* does, size_t word, const Access& other,
                  const char* did) const {
  fail("a data race: it " + std::string(does) + " bytes " + std::to_string(4 * word) + " to " +
       std::to_string(4 * word + 3) + " of the shared memory of block (" +
       std::to_string(block_.position.x) + ",...), which " + agent_name(other.agent) + " " + did +
       (other.is_pending ? " by a copy that was not waited for"
                         : ", and no barrier, wait or fence orders the two") +
       (by.block == &block_ ? "" : " (another block of the cluster)"));
}

template <class F>
void Shadow::each_word(size_t offset, size_t bytes, F f) {
  size_t at = offset;
  const size_t end = offset + bytes;
  while (at < end) {
    const size_t first = at % 4, count = std::min(4 - first, end - at);
    f(at / 4, static_cast<uint8_t>(((1u << count) - 1) << first));
    at += count;
  }
}

void Shadow::check_read(Thread& by, size_t word, uint8_t bytes, bool is_async) {
  const Access& w = words_[word].write;
  if (w.exists() && (w.bytes & bytes) && !knows(by, w, is_async))
    race(by, "reads", word, w, "wrote");
}

void Shadow::check_write(Thread& by, size_t word, uint8_t bytes, bool is_async) {
  const Word& to = words_[word];
  if (to.write.exists() && (to.write.bytes & bytes) && !knows(by, to.write, is_async))
    race(by, "writes", word, to.write, "wrote");
  const auto check = [&](const Access& r) {
    if (r.exists() && (r.bytes & bytes) && !knows(by, r, false))
      race(by, "writes", word, r, "reads");
  };
  check(to.read);
  if (to.readers)
    for (const Access& r : readers_[to.readers - 1]) check(r);
}

void Shadow::note_read(const Thread& by, Word& word, const Access& access) {
  Access& first = word.read;
  // Who knows of the reader before stands for both.
  if (!first.exists() || first.agent == access.agent ||
      (first.bytes == access.bytes && knows(by, first, false))) {
    first = access;
    return;
  }
  if (!word.readers) {
    readers_.emplace_back();
    word.readers = static_cast<uint32_t>(readers_.size());
  }
  std::vector<Access>& others = readers_[word.readers - 1];
  for (Access& r : others) {
    if (r.agent != access.agent) continue;
    r = access;
    return;
  }
  others.push_back(access);
}

void Shadow::set_write(Word& word, const Access& access) {
  word.write = access;
  word.read = {};
  if (word.readers) readers_[word.readers - 1].clear();
}

void Shadow::read(Thread& by, size_t offset, size_t bytes) {
  read_async(by, offset, bytes, by.agent, by.block->order->count(by.agent));
}

void Shadow::write(Thread& by, size_t offset, size_t bytes) {
  write_async(by, offset, bytes, by.agent, by.block->order->count(by.agent));
}

void Shadow::read_async(Thread& by, size_t offset, size_t bytes, size_t agent, uint32_t count) {
  each_word(offset, bytes, [&](size_t word, uint8_t mask) {
    check_read(by, word, mask, agent != by.agent);
    note_read(by, words_[word], {count, static_cast<uint16_t>(agent), mask, 0});
  });
}

void Shadow::write_async(Thread& by, size_t offset, size_t bytes, size_t agent, uint32_t count) {
  each_word(offset, bytes, [&](size_t word, uint8_t mask) {
    check_write(by, word, mask, agent != by.agent);
    set_write(words_[word], {count, static_cast<uint16_t>(agent), mask, 0});
  });
}

Word& Shadow::write_pending(Thread& by, size_t word) {
  check_write(by, word, 15, false);
  set_write(words_[word],
            {by.block->order->count(by.agent), static_cast<uint16_t>(by.agent), 15, 1});
  return words_[word];
}

void Shadow::land(Thread& by, Word& word) {
  if (word.write.agent != by.agent) return;
  word.write.is_pending = 0;
  word.write.count = by.block->order->count(by.agent);
}

void Shadow::check_initialised(Thread& by, size_t offset) { check_read(by, offset / 4, 15, false); }

// ---- plain accesses ----

namespace {
char* watched_begin = nullptr;
size_t watched_bytes = 0;
bool watches_global = false;  // the thread must not touch it yet
std::map<const char*, size_t> global_memory;
const void* constant_memory = nullptr;

const char* global_region(const void* address) {
  const auto* at = static_cast<const char*>(address);
  auto next = global_memory.upper_bound(at);
  if (next == global_memory.begin()) return nullptr;
  --next;
  return at < next->first + next->second ? next->first : nullptr;
}

void touch_global(const void* address) {
  if (global_region(address))
    fail(
        "touches global memory before wait_for_previous_kernel(): the launch in front may still "
        "write there, or read");
}

void touch_shared(size_t offset, size_t bytes, bool writes) {
  Thread& t = self();
  Shadow& shadow = *t.block->shadow;
  writes ? shadow.write(t, offset, bytes) : shadow.read(t, offset, bytes);
}

inline void touch(const void* address, size_t bytes, bool writes) {
  const auto offset = static_cast<size_t>(static_cast<const char*>(address) - watched_begin);
  if (offset < watched_bytes) touch_shared(offset, std::min(bytes, watched_bytes - offset), writes);
  if (watches_global) touch_global(address);
}

}  // namespace

void watch(const Thread* thread) {
  watched_begin = thread ? thread->block->shared : nullptr;
  watched_bytes = thread ? thread->block->shared_bytes : 0;
  watches_global = thread && machine().request.overlaps && !thread->may_touch_global;
}

void check_global(const void* address) {
  if (!watches_global) return;
  const bool is_constant =
      constant_memory && global_region(constant_memory) == global_region(address);
  if (!is_constant) touch_global(address);
}

void wait_for_previous_kernel() {
  self().may_touch_global = true;
  watch(&self());
}

void add_global_memory(const void* begin, size_t bytes) {
  global_memory[static_cast<const char*>(begin)] = bytes;
}
void remove_global_memory(const void* begin) {
  global_memory.erase(static_cast<const char*>(begin));
}
void set_constant_memory(const void* begin) { constant_memory = begin; }

}  // namespace nrd::cuda::emulator

// What code that is compiled with -fsanitize=thread calls; the library behind it is not linked.
using nrd::cuda::emulator::touch;
extern "C" {
#define NRD_PLAIN_ACCESS(bytes)                                          \
  void __tsan_read##bytes(void* p) { touch(p, bytes, false); }           \
  void __tsan_write##bytes(void* p) { touch(p, bytes, true); }           \
  void __tsan_unaligned_read##bytes(void* p) { touch(p, bytes, false); } \
  void __tsan_unaligned_write##bytes(void* p) { touch(p, bytes, true); } \
  void __tsan_volatile_read##bytes(void* p) { touch(p, bytes, false); }  \
  void __tsan_volatile_write##bytes(void* p) { touch(p, bytes, true); }
NRD_PLAIN_ACCESS(1)
NRD_PLAIN_ACCESS(2)
NRD_PLAIN_ACCESS(4)
NRD_PLAIN_ACCESS(8)
NRD_PLAIN_ACCESS(16)
#undef NRD_PLAIN_ACCESS
void __tsan_read_range(void* p, unsigned long bytes) { touch(p, bytes, false); }
void __tsan_write_range(void* p, unsigned long bytes) { touch(p, bytes, true); }
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}

// Atomics of the standard library, in test code.
#define NRD_ATOMICS(bits, T)                                                                       \
  T __tsan_atomic##bits##_load(const volatile T* p, int) { return __atomic_load_n(p, 5); }         \
  void __tsan_atomic##bits##_store(volatile T* p, T v, int) { __atomic_store_n(p, v, 5); }         \
  T __tsan_atomic##bits##_exchange(volatile T* p, T v, int) {                                      \
    return __atomic_exchange_n(p, v, 5);                                                           \
  }                                                                                                \
  T __tsan_atomic##bits##_fetch_add(volatile T* p, T v, int) {                                     \
    return __atomic_fetch_add(p, v, 5);                                                            \
  }                                                                                                \
  T __tsan_atomic##bits##_fetch_sub(volatile T* p, T v, int) {                                     \
    return __atomic_fetch_sub(p, v, 5);                                                            \
  }                                                                                                \
  T __tsan_atomic##bits##_fetch_or(volatile T* p, T v, int) { return __atomic_fetch_or(p, v, 5); } \
  T __tsan_atomic##bits##_fetch_and(volatile T* p, T v, int) {                                     \
    return __atomic_fetch_and(p, v, 5);                                                            \
  }                                                                                                \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T* p, T* e, T v, int, int) {          \
    return __atomic_compare_exchange_n(p, e, v, false, 5, 5);                                      \
  }                                                                                                \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile T* p, T* e, T v, int, int) {            \
    return __atomic_compare_exchange_n(p, e, v, true, 5, 5);                                       \
  }
NRD_ATOMICS(8, unsigned char)
NRD_ATOMICS(32, unsigned)
NRD_ATOMICS(64, unsigned long)
#undef NRD_ATOMICS
void __tsan_atomic_thread_fence(int) {}
void __tsan_atomic_signal_fence(int) {}
}
