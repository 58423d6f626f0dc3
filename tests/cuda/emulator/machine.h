// SPDX-License-Identifier: MIT
// tests/cuda/emulator/machine.h: the state of the emulator, which runs one launch at a time.
#pragma once

#include <csetjmp>
#include <mutex>

#include "emulator/scheduler.h"

namespace nrd::cuda::emulator {

struct Machine {
  std::mutex one_launch;
  uint64_t seed = 0;
  std::string report;

  // Of the launch that runs.
  LaunchRequest request;
  Random dice;
  int lateness = 0;  // of asynchronous work: 0 none, 1 as late as it may be, 2 drawn each time
  uint64_t passes = 0;
  volatile uint64_t switches = 0;  // the watchdog looks whether it moves
  cudaError_t error = cudaSuccess;
  sigjmp_buf abandon;  // a failure jumps there, from whatever stack
  Context scheduler;
  Thread* current = nullptr;

  // Of the blocks that live. Stacks and shared memory are used again.
  std::vector<std::unique_ptr<Block>> blocks;
  std::vector<std::unique_ptr<Thread>> threads;
  std::deque<Barrier> cluster_barriers;
  std::deque<Order> orders;  // of clusters
  Barrier grid_barrier;
  std::deque<std::shared_ptr<Pending>> pending;
  std::vector<std::unique_ptr<GuardedPages>> spare_stacks, spare_memory;

  Machine();
};
Machine& machine();

// Jumps out of the launch with that error and the report.
[[noreturn]] void abandon(cudaError_t error, const std::string& report);

// While one of these lives, a fault or an endless loop in a kernel ends the launch with a report
// and not the process.
class FaultHandlers {
 public:
  FaultHandlers();
  ~FaultHandlers();
};

// All that the barrier of a block waits for have arrived.
void complete_block_barrier(Block& block, Barrier& barrier);
// After a thread has returned: the others may be all that are waited for.
void complete_cluster_barrier(Block& block);
void complete_grid_barrier();

// Lines for every group of threads that waits at the same place.
std::string describe_waiting();

}  // namespace nrd::cuda::emulator
