// SPDX-License-Identifier: MIT
// src/dispatch/kernel.h: what an implementation of an operator looks like.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/threads.h"
#include "machine/profile.h"
#include "ops/desc.h"

namespace nrd {

// The memory of one run: pointers as desc.operands (null where absent). Constant operands were
// given to prepare and are passed again.
struct Args {
  void* const* pointers = nullptr;
};

// A kernel prepared for one Desc: packed weights, generated code, a peer's primitive. Immutable;
// several threads may run it at once, each with its own workspace.
class PreparedKernel {
 public:
  virtual ~PreparedKernel() = default;
  virtual size_t workspace_bytes() const { return 0; }
  // A workspace of at least workspace_bytes(), aligned to workspace_alignment() of its device.
  // Never allocates, locks or waits for a device. The error is for a peer or a device that reports
  // one.
  virtual Expected<void> run(const Args& args, void* workspace, const Exec& exec) const = 0;
  // What a report should say of it: "packed", "capped at AVX-512: CPUID hides AMX".
  virtual std::string note() const { return {}; }
  // Not empty when its backend promises the best and this is not it (whole buffers are converted, a
  // definition stands in for generated code ...). The kernel knows; strict mode makes it an error.
  virtual std::string fallback() const { return {}; }
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual std::string name() const = 0;           // "autovec_avx512", "cblas_sgemm"
  virtual std::string isa() const { return {}; }  // an ISA word, or empty when it is the peer's
  // Whether it is about this operator at all; `explain` does not speak of it elsewhere.
  virtual bool serves(const Op&) const { return true; }
  // Whether it can run this; the error says why not and is shown by `explain`.
  virtual Expected<void> accepts(const Desc& desc) const = 0;
  // The class of its results, as a word: one of numerics_word(), or a device's own ("256 threads a
  // row, 4 parts of k").
  virtual std::string numerics(const Desc&) const { return "plain"; }
  // `constants` holds the pointers of the operands marked constant, null elsewhere. They stay
  // valid and unchanged as long as the prepared kernel lives.
  virtual Expected<std::unique_ptr<PreparedKernel>> prepare(
      const Desc& desc, std::span<void* const> constants) const = 0;
};

// Of the workspace of a run, in bytes: a cache line, or what a tensor map of CUDA asks for.
constexpr size_t workspace_alignment(DeviceKind kind) {
  return kind == DeviceKind::kCpu ? 64 : 256;
}

struct EnvSetting {
  std::string name;
  std::string value;
};

// A family of kernels that stand or fall together: ours, or a peer's library.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string name() const = 0;
  // Loads what it needs, once; the error says why it cannot be used here.
  virtual Expected<void> load() = 0;
  virtual std::string version() const { return {}; }
  // Its kernels of an operator, best first. Only after load() succeeded.
  virtual std::vector<const Kernel*> kernels(const Op& op) const = 0;
  // What must be in the environment before the process that loads it starts.
  virtual std::vector<EnvSetting> environment(const DeviceProfile&) const { return {}; }
  // Whether its kernels read and write such memory; calls with other memory never reach them.
  virtual bool runs_on(DeviceKind kind) const { return kind == DeviceKind::kCpu; }
  // False where its kernels do not compute the case but move as many bytes, or something else that
  // others are measured beside: a roof.
  virtual bool computes() const { return true; }
  // False where its kernels bring memory of their own.
  virtual bool uses_operands() const { return computes(); }
  // A peer is measured against; it is never chosen for a user who did not name it.
  virtual bool peer() const { return true; }
};

}  // namespace nrd
