// SPDX-License-Identifier: MIT
// src/dispatch/registry.h: the backends there are, and which kernel answers a call.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dispatch/backend.h"
#include "machine/machine.h"

namespace nrd {

struct KernelChoice {
  const Backend* backend = nullptr;
  const Kernel* kernel = nullptr;
};

// One line of `explain`: a kernel, and whether it would run or why not.
struct Explanation {
  std::string backend;
  std::string kernel;  // empty when the backend itself cannot be used
  std::string isa;
  std::string numerics;  // a word, see Kernel::numerics
  bool accepted = false;
  bool chosen = false;
  std::string reason;
};

// Looked at by many threads without a lock, also while a backend is added.
class KernelRegistry {
 public:
  // The built-in backends: cpu, autovec, scalar, cuda.
  explicit KernelRegistry(Machine machine);

  // A second backend of the same name is an error.
  Expected<void> add(std::unique_ptr<Backend> backend);
  // Takes the place of the one with its name. For tests: what was chosen from the former must be
  // gone.
  void replace(std::unique_ptr<Backend> backend);
  // Adds the backend that a shared library exports (include/nereid/plugin.h).
  Expected<std::string> add_plugin(const std::string& path);  // its name

  const Machine& machine() const { return machine_; }
  std::vector<Backend*> backends() const { return list(); }  // in the order they were added
  Expected<Backend*> find_backend(std::string_view name) const;

  // The best kernel of that backend for an operator, whatever the case.
  Expected<KernelChoice> get_kernel(std::string_view backend, std::string_view op) const;
  // The first kernel of the backend that accepts the case; the error tells why each did not.
  Expected<KernelChoice> select(std::string_view backend, const Desc& desc) const;
  // Every kernel of every backend that reaches the operands (or of one), in the order of selection.
  std::vector<Explanation> explain(const Desc& desc, std::string_view backend = {}) const;

  // The process's default instance, with plug-ins of NEREID_PLUGINS.
  static Expected<KernelRegistry*> shared();

 private:
  using List = std::vector<Backend*>;
  const List& list() const { return *list_.load(std::memory_order_acquire); }
  void publish();

  Machine machine_;
  // Changed under LockName::kBackends.
  std::vector<std::unique_ptr<Backend>> backends_;
  std::vector<std::unique_ptr<const List>> lists_;  // also former ones, which some may still read
  std::atomic<const List*> list_{nullptr};          // the newest; never changed once it is here
};

}  // namespace nrd
