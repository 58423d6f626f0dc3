// SPDX-License-Identifier: MIT
// tests/cuda/emulator/shadow.h: who has touched which word of shared memory last, so that two
// threads of which neither knows of the other's access (order.h) are a data race, whatever the
// order in which they happened to run and whether or not the value came out right.
//
// Plain accesses arrive by the calls that -fsanitize=thread puts in front of them, asynchronous
// ones from the emulated instructions, which are judged and noted when they are issued.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace nrd::cuda::emulator {

struct Block;
struct Thread;

struct Access {
  uint32_t count = 0;  // of the agent, 0: none
  uint16_t agent = 0;
  uint8_t bytes = 0;       // of the word, as a mask
  uint8_t is_pending = 0;  // a cp.async that its thread has not waited for
  bool exists() const { return count != 0; }
};
struct Word {
  Access write, read;
  uint32_t readers = 0;  // number in Shadow::readers_, 0: none but `read`
};

// Of one block.
class Shadow {
 public:
  Shadow(Block& block, size_t bytes) : block_(block), words_((bytes + 3) / 4) {}

  // Each ends the launch with a report where it races. Offsets are those of the block's memory.
  void read(Thread& by, size_t offset, size_t bytes);
  void write(Thread& by, size_t offset, size_t bytes);
  // Started by a thread, done by an agent at its present count.
  void read_async(Thread& by, size_t offset, size_t bytes, size_t agent, uint32_t count);
  void write_async(Thread& by, size_t offset, size_t bytes, size_t agent, uint32_t count);
  // A word that a thread copies to and may use after land().
  Word& write_pending(Thread& by, size_t word);
  static void land(Thread& by, Word& word);
  // An mbarrier is used by someone who must know that it was initialised.
  void check_initialised(Thread& by, size_t offset);

 private:
  template <class F>
  void each_word(size_t offset, size_t bytes, F f);
  void check_write(Thread& by, size_t word, uint8_t bytes, bool is_async);
  void check_read(Thread& by, size_t word, uint8_t bytes, bool is_async);
  void note_read(const Thread& by, Word& word, const Access& access);
  void set_write(Word& word, const Access& access);
  bool knows(const Thread& by, const Access& access, bool fenced) const;
  [[noreturn]] void race(const Thread& by, const char* does, size_t word, const Access& other,
                         const char* did) const;
  std::string agent_name(size_t agent) const;

  Block& block_;
  std::vector<Word> words_;
  std::deque<std::vector<Access>> readers_;
};

// Whose plain accesses are looked at: those of the thread that runs, or nobody's.
void watch(const Thread* thread);
// A thread has an instruction touch global memory.
void check_global(const void* address);

}  // namespace nrd::cuda::emulator
