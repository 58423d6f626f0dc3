// SPDX-License-Identifier: MIT
// tests/cuda/emulator/scheduler.h: the blocks, warps and threads of a launch, and who runs next.
//
// All blocks of a cluster (of the grid, where the launch is cooperative) live at once; the next
// cluster starts when they are done. In each pass every thread that can go on runs until it waits.
// Without a seed that is in the order of blocks and threads; a seed permutes the order, lets up to
// four clusters live at once and warps fall behind, lets threads stop at atomics, and delays
// asynchronous work. When no thread can go on and nothing asynchronous is left, the launch fails
// with a report of who waits at what.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "emulator/fiber.h"
#include "emulator/order.h"
#include "emulator/shadow.h"
#include "emulator/sites.h"

namespace nrd::cuda::emulator {

// The emulated device.
constexpr int kMultiprocessors = 4;
constexpr int kThreadsOfMultiprocessor = 2048;
constexpr size_t kSharedOfMultiprocessor = 228 * 1024;
constexpr size_t kSharedOfBlock = 227 * 1024;

constexpr int kWarp = 32;
constexpr int kNamedBarriers = 16;

// Small, seeded, the same everywhere.
class Random {
 public:
  explicit Random(uint64_t seed = 0) : state_(seed * 0x9e3779b97f4a7c15u + 0x1234567) {}
  uint64_t next();
  uint64_t below(uint64_t n) { return next() % n; }

 private:
  uint64_t state_;
};

struct Block;
struct Warp;

// What a suspended thread waits for. Lives on its stack.
struct Waiting {
  bool (*ready)(const void* state) = nullptr;
  std::string (*describe)(const void* state) = nullptr;
  const void* ready_state = nullptr;
  const void* describe_state = nullptr;
  bool spins = false;  // asks again and again: running it is no progress
};

class Pending;
// Copies that a thread has started and not waited for: the open group, then the committed ones.
struct CopyGroups {
  struct Group {
    std::vector<std::shared_ptr<Pending>> copies;
    std::vector<Word*> words;  // of shared memory that they write, where a thread waits for that
    uint32_t last = 0;         // the number of the last one
  };
  Group open;
  std::deque<Group> committed;
  uint32_t issued = 0;
  size_t agent = 0;  // that reads shared memory for them, 0: none yet
};

struct Thread {
  Block* block = nullptr;
  Warp* warp = nullptr;
  int index = 0;  // in the block
  int lane = 0;
  uint3 position{};
  bool done = false;
  int atomics = 0;  // since it was last suspended
  const Waiting* waiting = nullptr;
  Context context;
  std::unique_ptr<GuardedPages> stack;
  CopyGroups copies, bulk;             // cp.async, cp.async.bulk
  int64_t products = 0;                // wgmma that it has issued,
  std::deque<int64_t> product_groups;  // and how many at each commit that was not waited for
  uint64_t cluster_round = 0;          // of the cluster's barrier, where it has arrived
  bool cluster_arrived = false;
  bool may_touch_global = false;
  size_t agent = 0;  // its number in the cluster
  Clock clock;       // what it knows beyond the base of its block
};

// A barrier over threads of a block; two results, since a fast thread may be one round ahead.
struct Barrier {
  int arrived = 0;
  int expected = 0;
  uint64_t round = 0;
  uint64_t sum = 0;  // of the round that gathers
  std::array<uint64_t, 2> sums{};
  std::array<Clock, 2> clocks;  // what those that arrived knew

  Clock& gathering() {
    if (arrived == 0) clocks[round % 2].clear();
    return clocks[round % 2];
  }
};

// What the lanes of one mask exchange.
struct Words {
  std::array<uint64_t, 4> of{};
};
struct Exchange {
  unsigned mask = 0;
  unsigned arrived = 0;
  uint64_t round = 0;
  const char* kind = nullptr;
  std::array<std::array<Words, kWarp>, 2> values{};
  std::array<Clock, 2> clocks;  // of __syncwarp, which orders memory; shuffles do not
};

struct Warp {
  int index = 0;
  unsigned live = 0;  // lanes that have not returned
  uint64_t asleep_until = 0;
  std::deque<Exchange> exchanges;  // one a mask
};

// The wgmma that a warpgroup has issued and that are not executed (wgmma.h).
struct Product;
struct ProductQueue {
  std::deque<std::shared_ptr<Product>> products;
  int64_t executed = 0;  // how many are
  size_t agent = 0;      // that reads their tiles, 0: none yet
};

// What an mbarrier hands from those that arrive, and the copies that it counts, to those that wait.
struct MbarrierOrder {
  size_t offset = 0;
  size_t agent = 0;           // that does the copies
  Clock gathering, ended;     // of the phase that runs, and of those that have ended
  bool is_published = false;  // by mbarrier_init_fence()
  const Thread* made_by = nullptr;
};

struct Block {
  uint3 position{};
  int rank = 0;  // in its cluster
  int live = 0;
  std::vector<Warp> warps;
  std::array<Barrier, kNamedBarriers> barriers;
  std::vector<ProductQueue> warpgroups;
  std::unique_ptr<GuardedPages> memory;
  char* shared = nullptr;
  size_t shared_bytes = 0;
  Barrier* cluster_barrier = nullptr;
  std::vector<Thread*> threads;
  Order* order = nullptr;  // of its cluster
  Clock base;              // what all of its threads know
  std::unique_ptr<Shadow> shadow;
  std::deque<MbarrierOrder> mbarriers;
};

struct LaunchRequest {
  dim3 grid, block;
  size_t shared_bytes = 0;
  int cluster = 1;
  bool cooperative = false;
  bool overlaps = false;  // threads may touch global memory after wait_for_previous_kernel() alone
  void (*call)(void* arguments) = nullptr;
  void* arguments = nullptr;
};
// Runs the kernel to its end. Failures: cudaErrorLaunchTimeout (deadlock), cudaErrorIllegalAddress,
// cudaErrorLaunchFailure (the kernel broke a rule), or what CUDA answers to a wrong shape; report()
// says more.
cudaError_t run(const LaunchRequest& request);

// Of the last launch that failed; taken by the harness, which fails the test with it.
std::string take_report();

// Memory that launches share. What no launch in front writes may be copied before those have ended;
// there is one such region at a time, or none (null).
void add_global_memory(const void* begin, size_t bytes);
void remove_global_memory(const void* begin);
void set_constant_memory(const void* begin);

// 0 is the plain order. The first seed is that of NEREID_EMULATOR_SEED.
void set_seed(uint64_t seed);
uint64_t seed();

// ---- for the emulated instructions, called by a running thread ----

Thread& self();
// The blocks of the running thread's cluster, by rank.
Block& cluster_block(int rank);
Block& cluster_block(const Block& own, int rank);
int cluster_size();
Random& dice();  // meaningful with a seed alone

void suspend(const Waiting& waiting);
// Ends the launch; the report begins with the thread, if one is running.
[[noreturn]] void fail(const std::string& what);

template <class Ready, class Describe>
void wait_until(const Ready& ready, const Describe& describe) {
  if (ready()) return;
  Waiting w;
  w.ready = [](const void* s) { return (*static_cast<const Ready*>(s))(); };
  w.describe = [](const void* s) -> std::string { return (*static_cast<const Describe*>(s))(); };
  w.ready_state = &ready;
  w.describe_state = &describe;
  suspend(w);
}
// Lets others run; `what` is what the thread looks for again and again.
void spin(const char* what, const void* address);
// Every atomic passes here: an endless loop of them is noticed, and a seed stops some of them.
void atomic_point(const void* address);

// Work that may happen at any time from now on: now, later, or when nothing else can go on.
// force() makes it happen; whoever holds the handle may do that.
class Pending {
 public:
  explicit Pending(std::function<void()> work) : work_(std::move(work)) {}
  void force();
  bool done() const { return !work_; }

 private:
  std::function<void()> work_;
};
std::shared_ptr<Pending> start(std::function<void()> work);
// Whether something that could happen now should rather happen as late as it may.
bool prefers_late();

// Of a launch that overlaps the one in front: from now on the thread may touch global memory.
void wait_for_previous_kernel();

// "block (1,0,0) thread 33"
std::string name(const Thread& thread);

}  // namespace nrd::cuda::emulator
