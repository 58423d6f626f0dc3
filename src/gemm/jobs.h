// SPDX-License-Identifier: MIT
// src/gemm/jobs.h: several products over one pool of tasks.
#pragma once

#include <algorithm>
#include <memory>

#include "gemm/product.h"

namespace nrd::gemm {

struct Job {
  const Product* product = nullptr;
  ProductArgs args;
};

// Multiply-adds count two; what a product costs beside others.
double flops(const ProductDesc& desc);

// Memory for one product on all cores or, later in the same place, for one on each core.
struct JobSpace {
  explicit JobSpace(const DeviceProfile& profile) : slots(std::max(profile.cores, 1)) {}
  void add(const Product& product) {
    shared_bytes = std::max(shared_bytes, product.workspace_bytes());
    slot_bytes = std::max(slot_bytes, (product.workspace_bytes(1) + 63) / 64 * 64);
  }
  size_t bytes() const { return std::max(shared_bytes, slot_bytes * static_cast<size_t>(slots)); }

  size_t shared_bytes = 0;  // the largest product's on all threads
  size_t slot_bytes = 0;    // and on one
  int slots;
};

// Jobs [0, count) of job(context, i), all_flops together. What is a large part of all is shared by
// all threads, the others are taken one by one by whoever is free; so the large ones come first.
// Each has the bits it has alone.
void run_jobs(int64_t count, Job (*job)(const void* context, int64_t i), const void* context,
              double all_flops, const JobSpace& space, void* workspace, const Exec& exec);

template <class JobAt>  // Job(int64_t)
void run_jobs(int64_t count, const JobAt& job, double all_flops, const JobSpace& space,
              void* workspace, const Exec& exec) {
  run_jobs(
      count,
      [](const void* context, int64_t i) { return (*static_cast<const JobAt*>(context))(i); },
      std::addressof(job), all_flops, space, workspace, exec);
}

}  // namespace nrd::gemm
