// SPDX-License-Identifier: MIT
// benchmarks/fork_join.cpp: what it costs to start and end a parallel call, ours and OpenMP's.
//
// Two threads. The pools take turns in slices (A B A B ...); before each slice both are left
// alone until their workers sleep, so that one's spinning does not take the other's core. Each
// call is timed by itself and the table shows medians: a preempted call does not count.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

#include "base/threads.h"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kThreads = 2;
constexpr int kSlices = 20;
constexpr auto kSettle = std::chrono::milliseconds(20);  // libgomp's workers spin for some ms
constexpr auto kIdle = std::chrono::microseconds(200);   // long enough for ours to fall asleep

enum class Work { kNothing, kMeet, kTenMicroseconds };

void spin_for(Clock::duration time) {
  const auto end = Clock::now() + time;
  while (Clock::now() < end) continue;
}

std::atomic<int> g_arrived{0};

// What each of the two threads does.
void do_work(Work work) {
  if (work == Work::kMeet) {  // proves that two threads came
    g_arrived.fetch_add(1);
    while (g_arrived.load(std::memory_order_relaxed) % kThreads != 0) continue;
  } else if (work == Work::kTenMicroseconds) {
    spin_for(std::chrono::microseconds(10));
  }
}

void call_ours(Work work) {
  nrd::parallel_for({.threads = kThreads}, kThreads, 1, [work](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) do_work(work);
  });
}

#ifdef _OPENMP
void call_openmp(Work work) {
#pragma omp parallel num_threads(kThreads)
  do_work(work);
}
#endif

struct Case {
  const char* name;
  Work work;
  bool is_idle_before;
  int calls;  // a slice
};

using Call = void (*)(Work);

void run_slice(const Case& what, Call call, std::vector<double>& samples) {
  std::this_thread::sleep_for(kSettle);
  for (int i = -what.calls / 10; i < what.calls; i++) {  // the first tenth warms up
    if (what.is_idle_before) spin_for(kIdle);
    g_arrived = 0;
    const auto begin = Clock::now();
    call(what.work);
    const std::chrono::duration<double, std::nano> time = Clock::now() - begin;
    if (i >= 0) samples.push_back(time.count());
  }
}

double median(std::vector<double>& samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

void measure(const Case& what) {
  std::vector<double> ours, openmp;
  for (int slice = 0; slice < kSlices; slice++) {
    run_slice(what, call_ours, ours);
#ifdef _OPENMP
    run_slice(what, call_openmp, openmp);
#endif
  }
  const double time = median(ours);
  std::printf("%-34s %10.0f", what.name, time);
  if (openmp.empty()) {
    std::printf(" %10s %8s\n", "-", "-");
  } else {
    const double other = median(openmp);
    std::printf(" %10.0f %8.2f\n", other, time / other);
  }
}

}  // namespace

int main() {
  if (nrd::default_threads() < kThreads) {
    std::fprintf(stderr, "fork_join: needs %d cores or NEREID_THREADS=%d\n", kThreads, kThreads);
    return 1;
  }
  std::printf("%-34s %10s %10s %8s\n", "median of a call, 2 threads, ns", "nereid", "openmp",
              "ratio");
  measure({"nothing", Work::kNothing, false, 2000});
  measure({"threads meet", Work::kMeet, false, 2000});
  measure({"10 us each", Work::kTenMicroseconds, false, 500});
  measure({"nothing, after 200 us idle", Work::kNothing, true, 100});
  measure({"threads meet, after 200 us idle", Work::kMeet, true, 100});
  measure({"10 us each, after 200 us idle", Work::kTenMicroseconds, true, 100});
  return 0;
}
