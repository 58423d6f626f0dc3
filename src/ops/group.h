// SPDX-License-Identifier: MIT
// src/ops/group.h: several independent runs over one pool of threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/error.h"
#include "base/threads.h"
#include "ops/kernel.h"

namespace nrd {

// Runs 0 to count - 1, the ones that cost most first. None writes what another touches.
class Jobs {
 public:
  virtual ~Jobs() = default;
  virtual int64_t count() const = 0;
  virtual double work(int64_t i) const = 0;  // operations
  virtual Expected<void> run(int64_t i, void* workspace, const Exec& exec) const = 0;
};

// Memory for one run on all threads or, later in the same place, for one on each thread.
class JobSpace {
 public:
  explicit JobSpace(int threads) : slots_(std::max(threads, 1)) {}
  // A run with so much on all threads, and on one.
  void add(size_t bytes, size_t one_thread_bytes);
  size_t bytes() const { return std::max(shared_, slot_ * static_cast<size_t>(slots_)); }
  size_t slot_bytes() const { return slot_; }
  int slots() const { return slots_; }

 private:
  size_t shared_ = 0, slot_ = 0;
  int slots_;
};

// What is a large part of all is shared by all threads, the others are taken one by one by whoever
// is free. Each has the bits it has alone. Allocates nothing; all are run, and the error is the
// one that came first.
Expected<void> run_jobs(const Jobs& jobs, double all_work, const JobSpace& space, void* workspace,
                        const Exec& exec);

// Prepared kernels with their memory: a group is a list of these.
struct GroupItem {
  const PreparedKernel* kernel = nullptr;
  Args args;
};
JobSpace group_space(std::span<const GroupItem> items, int threads);
// `items` by falling work(). The workspace is group_space().bytes() long.
Expected<void> run_group(std::span<const GroupItem> items, void* workspace, const Exec& exec);

}  // namespace nrd
