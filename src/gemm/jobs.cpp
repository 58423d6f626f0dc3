// SPDX-License-Identifier: MIT
// src/gemm/jobs.cpp: see jobs.h.
#include "gemm/jobs.h"

#include <atomic>

namespace nrd::gemm {
namespace {

// A product on one thread ends when all others are done at the latest if it is no more than this
// part of what each thread has to do.
constexpr double kLargePart = 0.5;

}  // namespace

double flops(const ProductDesc& desc) {
  return 2.0 * static_cast<double>(desc.m) * static_cast<double>(desc.n) *
         static_cast<double>(std::max<int64_t>(desc.k, 1));
}

void run_jobs(int64_t count, Job (*job)(const void* context, int64_t i), const void* context,
              double all_flops, const JobSpace& space, void* workspace, const Exec& exec) {
  const int threads = std::clamp(exec.threads, 1, space.slots);
  const double large = kLargePart * all_flops / threads;
  std::atomic<int64_t> next{0};
  for (; next < count; next++) {
    const Job one = job(context, next);
    if (threads > 1 && flops(one.product->desc()) <= large) break;
    one.product->run(one.args, workspace, exec);
  }
  const int64_t left = count - next;
  parallel_for(Exec{threads, exec.executor}, std::min<int64_t>(threads, left), 1,
               [&](int64_t slot, int64_t) {
                 char* own =
                     static_cast<char*>(workspace) + space.slot_bytes * static_cast<size_t>(slot);
                 for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) {
                   const Job one = job(context, i);
                   one.product->run(one.args, own, Exec{1, nullptr});
                 }
               });
}

}  // namespace nrd::gemm
