// SPDX-License-Identifier: MIT
// src/machine/peaks_team.cpp: windows of about a millisecond between two spinning barriers.
//
// A window's rate is all work over the time from the first start to the last end. The best window
// counts: a neighbour, an interrupt or a slow mode of the machine can only make a window slower.
// The team's own threads run everything, so the caller's affinity and pool stay untouched.
#include "machine/peaks_team.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <system_error>
#include <thread>

namespace nrd {
namespace {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;

// Shorter than a scheduler's time slice, so that some windows are undisturbed on a busy machine;
// long against the skew of the barrier.
constexpr double kWindowSeconds = 1e-3;
constexpr double kGrowth = 8;     // at most, from one calibrating window to the next
constexpr int kLeastWindows = 5;  // a probe's: a disturbed calibrating window passes for a long one

double seconds_between(Time from, Time to) {
  return std::chrono::duration<double>(to - from).count();
}

class SpinBarrier {
 public:
  void set_width(int width) { width_ = width; }
  void wait() {
    const int turn = turn_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == width_) {
      arrived_.store(0, std::memory_order_relaxed);
      turn_.store(turn + 1, std::memory_order_release);
      return;
    }
    for (int spins = 0; turn_.load(std::memory_order_acquire) == turn; ++spins) {
      if (spins > 1000) std::this_thread::yield();  // someone may need this very CPU to arrive
    }
  }

 private:
  int width_ = 1;
  std::atomic<int> arrived_{0};
  std::atomic<int> turn_{0};
};

struct alignas(64) Window {  // of one thread, on a cache line of its own
  Time begin, end;
  int64_t work = 0;
};

// With a thread for every CPU each gets its own, and none waits for the scheduler to spread them.
// With fewer the kernel knows better which CPUs are idle or share a core.
void pin_if_full(int thread, int threads) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) != threads) return;
  for (int cpu = 0, seen = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || seen++ != thread) continue;
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(cpu, &own);
    pthread_setaffinity_np(pthread_self(), sizeof own, &own);
    return;
  }
}

class Team {
 public:
  Team(const TeamPlan& plan, const std::function<void(int, int)>& setup,
       const std::vector<Probe>& probes)
      : plan_(plan),
        setup_(setup),
        probes_(probes),
        windows_(plan.threads),
        units_(probes.size(), 1),
        taken_(probes.size(), 0) {}

  int run() {
    std::vector<std::thread> threads;
    threads.reserve(static_cast<size_t>(plan_.threads));
    try {
      for (int i = 0; i < plan_.threads; ++i) threads.emplace_back([this, i] { work(i); });
    } catch (const std::system_error&) {
      // Those that started form the team.
    }
    const int size = static_cast<int>(threads.size());
    barrier_.set_width(size);
    size_.store(size, std::memory_order_release);
    size_.notify_all();
    for (std::thread& thread : threads) thread.join();
    return size;
  }

 private:
  void work(int thread) {
    size_.wait(0, std::memory_order_acquire);
    const int size = size_.load(std::memory_order_acquire);
    pin_if_full(thread, size);
    setup_(thread, size);
    const Time begin = Clock::now();
    for (int round = 0; round < plan_.rounds; ++round) {
      for (size_t probe = 0; probe < probes_.size(); ++probe) turn(thread, probe);
      if (thread == 0) on_time_ = seconds_between(begin, Clock::now()) < planned_seconds();
      barrier_.wait();
      if (!on_time_) return;  // a busy machine stretches every window
    }
  }

  double planned_seconds() const {
    return plan_.slice_seconds * plan_.rounds * static_cast<double>(probes_.size());
  }

  // A probe's turn. Thread 0 decides between the barriers; the others see it after the next one.
  void turn(int thread, size_t probe) {
    const Time begin = Clock::now();
    do {
      barrier_.wait();
      Window& own = windows_[thread];
      own.begin = Clock::now();
      own.work = probes_[probe].run(thread, units_[probe]);
      own.end = Clock::now();
      barrier_.wait();
      if (thread == 0) {
        take_window(probe);
        go_on_ = taken_[probe] < kLeastWindows ||
                 seconds_between(begin, Clock::now()) < plan_.slice_seconds;
      }
      barrier_.wait();
    } while (go_on_);
  }

  // Notes the window, or makes the next one longer where this one was too short to count.
  void take_window(size_t probe) {
    const int size = size_.load(std::memory_order_relaxed);
    Time first = windows_[0].begin, last = windows_[0].end;
    double work = 0;
    for (int i = 0; i < size; ++i) {
      first = std::min(first, windows_[i].begin);
      last = std::max(last, windows_[i].end);
      work += static_cast<double>(windows_[i].work);
    }
    const double seconds = std::max(seconds_between(first, last), 1e-9);
    if (seconds < kWindowSeconds / 2) {
      const double factor = std::clamp(kWindowSeconds / seconds, 1.5, kGrowth);
      units_[probe] = static_cast<int64_t>(static_cast<double>(units_[probe]) * factor) + 1;
      return;
    }
    ++taken_[probe];
    *probes_[probe].best = std::max(*probes_[probe].best, work / seconds / 1e9);
  }

  const TeamPlan& plan_;
  const std::function<void(int, int)>& setup_;
  const std::vector<Probe>& probes_;
  std::vector<Window> windows_;
  std::vector<int64_t> units_;  // a window's, by probe
  std::vector<int> taken_;      // windows that counted, by probe
  SpinBarrier barrier_;
  std::atomic<int> size_{0};
  bool go_on_ = false;    // written by thread 0 before a barrier, read by all after it
  bool on_time_ = false;  // likewise
};

}  // namespace

int run_probes(const TeamPlan& plan, const std::function<void(int, int)>& setup,
               const std::vector<Probe>& probes) {
  return Team(plan, setup, probes).run();
}

}  // namespace nrd
