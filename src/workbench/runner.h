// SPDX-License-Identifier: MIT
// src/workbench/runner.h: KernelRunner: a kernel, prepared for a case, with its memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dispatch/registry.h"
#include "workbench/case.h"
#include "workbench/memory.h"

namespace nrd {

// An output as it was computed: contiguous, in its dtype.
struct Output {
  size_t operand = 0;
  std::vector<char> data;
};

struct RunOutputs {
  std::vector<Output> outputs;
  // The first element that no run wrote: "out[128]"; empty when all were written.
  std::string unwritten;
};

class KernelRunner {
 public:
  // Validates the case against the kernel, makes its inputs `sets` times (a cold cache needs
  // more than one) and prepares the kernel on each.
  static Expected<KernelRunner> create(const KernelChoice& choice, const Case& c, MemoryMode mode,
                                       int sets = 1);

  // The timed path: one call on a set.
  Expected<void> run(int set = 0) {
    Set& s = sets_[static_cast<size_t>(set)];
    return s.prepared->run({s.pointers.data()}, workspace_.data(), exec_);
  }

  // Runs twice on differently poisoned outputs and looks for what stayed poisoned in both.
  Expected<RunOutputs> run_checked();

  int sets() const { return static_cast<int>(sets_.size()); }
  double prepare_us() const { return prepare_us_; }
  size_t workspace_bytes() const { return workspace_.bytes(); }
  size_t operand_bytes() const { return operand_bytes_; }
  std::string note() const { return sets_.front().prepared->note(); }

 private:
  struct Set {
    std::vector<Buffer> buffers;  // one an operand when guarded; else they lie in block_
    std::vector<void*> pointers;
    std::unique_ptr<PreparedKernel> prepared;
  };

  Expected<void> add_set(const KernelChoice& choice, MemoryMode mode);
  Expected<void> check_strict(const KernelChoice& choice, const PreparedKernel& prepared) const;
  Expected<void> allocate(Set& set, MemoryMode mode);
  size_t bytes_of(size_t operand) const;
  size_t set_bytes() const;
  void poison(unsigned char byte);
  std::vector<Output> collect() const;

  Case case_;
  Buffer block_;
  std::vector<Set> sets_;
  Buffer workspace_;
  Exec exec_;
  double prepare_us_ = 0;
  size_t operand_bytes_ = 0;
};

}  // namespace nrd
