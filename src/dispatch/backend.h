// SPDX-License-Identifier: MIT
// src/dispatch/backend.h: a family of kernels that stand or fall together: ours, or a peer's
// library.
#pragma once

#include <string>
#include <vector>

#include "machine/profile.h"
#include "ops/kernel.h"

namespace nrd {

struct EnvSetting {
  std::string name;
  std::string value;
};

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
