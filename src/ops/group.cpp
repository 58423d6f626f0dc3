// SPDX-License-Identifier: MIT
// src/ops/group.cpp: see group.h.
#include "ops/group.h"

#include <atomic>
#include <optional>

namespace nrd {
namespace {

// A run on one thread ends when all others are done at the latest if it is no more than this part
// of what each thread has to do.
constexpr double kLargePart = 0.5;
constexpr size_t kAlignment = 64;

// The error that came first.
class FirstError {
 public:
  void note(const Expected<void>& done) {
    if (!done && !is_taken_.exchange(true)) error_ = done.error();
  }
  // Once all are done.
  Expected<void> result() const {
    if (error_) return *error_;
    return {};
  }

 private:
  std::atomic<bool> is_taken_{false};
  std::optional<Error> error_;
};

class GroupJobs final : public Jobs {
 public:
  explicit GroupJobs(std::span<const GroupItem> items) : items_(items) {}
  int64_t count() const override { return static_cast<int64_t>(items_.size()); }
  double work(int64_t i) const override { return at(i).kernel->work(); }
  Expected<void> run(int64_t i, void* workspace, const Exec& exec) const override {
    return at(i).kernel->run(at(i).args, workspace, exec);
  }

 private:
  const GroupItem& at(int64_t i) const { return items_[static_cast<size_t>(i)]; }
  std::span<const GroupItem> items_;
};

}  // namespace

void JobSpace::add(size_t bytes, size_t one_thread_bytes) {
  shared_ = std::max(shared_, bytes);
  slot_ = std::max(slot_, (one_thread_bytes + kAlignment - 1) / kAlignment * kAlignment);
}

Expected<void> run_jobs(const Jobs& jobs, double all_work, const JobSpace& space, void* workspace,
                        const Exec& exec) {
  const int threads = std::clamp(exec.threads, 1, space.slots());
  const double large = kLargePart * all_work / threads;
  const int64_t count = jobs.count();
  FirstError error;
  int64_t first = 0;
  for (; first < count && (threads == 1 || jobs.work(first) > large); first++)
    error.note(jobs.run(first, workspace, exec));
  std::atomic<int64_t> next{first};
  parallel_for(Exec{threads, exec.executor}, std::min<int64_t>(threads, count - first), 1,
               [&](int64_t slot, int64_t) {
                 char* own =
                     static_cast<char*>(workspace) + space.slot_bytes() * static_cast<size_t>(slot);
                 for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;)
                   error.note(jobs.run(i, own, Exec{1, nullptr}));
               });
  return error.result();
}

JobSpace group_space(std::span<const GroupItem> items, int threads) {
  JobSpace space(threads);
  for (const GroupItem& item : items)
    space.add(item.kernel->workspace_bytes(), item.kernel->one_thread_bytes());
  return space;
}

Expected<void> run_group(std::span<const GroupItem> items, void* workspace, const Exec& exec) {
  const GroupJobs jobs(items);
  double all_work = 0;
  for (const GroupItem& item : items) all_work += item.kernel->work();
  return run_jobs(jobs, all_work, group_space(items, exec.threads), workspace, exec);
}

}  // namespace nrd
