// SPDX-License-Identifier: MIT
// src/workbench/runner.h: KernelRunner: a kernel, prepared for a case, with its memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dispatch/registry.h"
#include "workbench/case.h"
#include "workbench/operand_memory.h"

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
  // The operand beside which a device kernel wrote: "out: 4 bytes behind its end". On the CPU that
  // is a fault.
  std::string damaged;
};

class KernelRunner {
 public:
  // Validates the case against the kernel, makes its inputs `sets` times (a cold cache needs
  // more than one) and prepares the kernel on each.
  static Expected<KernelRunner> create(const KernelChoice& choice, const Case& c, MemoryMode mode,
                                       int sets = 1);

  // The timed path: one call on a set. On a device it enqueues on the stream.
  Expected<void> run(int set = 0, void* stream = nullptr) {
    Set& s = sets_[static_cast<size_t>(set)];
    Exec exec = exec_;
    exec.stream = stream;
    return s.prepared->run({s.pointers.data()}, workspace_, exec);
  }

  // A run of such a case changes what the next one begins with: an output is read too. Who runs it
  // again restores the set first, and does not time that.
  bool needs_restoring() const { return !initial_.empty(); }
  Expected<void> restore(int set = 0);

  // Runs twice on differently poisoned outputs and looks for what stayed poisoned in both.
  Expected<RunOutputs> run_checked();

  int sets() const { return static_cast<int>(sets_.size()); }
  double prepare_us() const { return prepare_us_; }
  size_t workspace_bytes() const { return workspace_bytes_; }
  size_t operand_bytes() const { return operand_bytes_; }  // of one set
  std::string note() const { return sets_.front().prepared->note(); }

 private:
  struct Set {
    std::vector<void*> pointers;
    std::shared_ptr<const PreparedKernel> prepared;
  };

  Expected<void> add_set(const KernelChoice& choice, MemoryMode mode);
  Expected<void> prepare(const KernelChoice& choice, Set& set);
  Expected<void> check_strict(const KernelChoice& choice, const PreparedKernel& prepared) const;
  Expected<void> allocate(Set& set, MemoryMode mode);
  Expected<void> fill(const Set& set);
  void keep_initial();
  size_t bytes_of(size_t operand) const;
  size_t padded_bytes(size_t operand) const;
  size_t set_bytes() const;
  bool has_constants() const;
  Expected<void> poison(unsigned char byte);
  Expected<std::vector<Output>> collect() const;
  Expected<std::string> damage() const;

  Case case_;
  std::unique_ptr<OperandMemory> memory_;
  // What outputs that are read too hold before a run, on the host.
  struct Initial {
    size_t operand = 0;
    std::shared_ptr<const std::vector<char>> bytes;
  };
  std::vector<Initial> initial_;
  char* block_ = nullptr;  // of a timed case: the operands of all sets behind each other
  std::vector<Set> sets_;
  void* workspace_ = nullptr;
  size_t workspace_bytes_ = 0;
  Exec exec_;
  double prepare_us_ = 0;
  size_t operand_bytes_ = 0;
};

}  // namespace nrd
