// SPDX-License-Identifier: MIT
// src/cuda/operation.h: what a family of CUDA kernels offers to dispatch.
//
// Desc (what) -> Implementation -> Operation (prepared) -> launch. A family is one file under
// launch/ that reads a Desc into plain argument structs, and one or more files under kernels/ that
// run them. Every file of kernels/ is compiled once a target (launch/tables.h).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "cuda/devices.h"
#include "ops/desc.h"

struct CUstream_st;

namespace nrd::cuda {

using Stream = CUstream_st*;

struct KernelTables;

// The device that a Desc names, and the kernels that it runs.
struct Target {
  DeviceInfo device;
  const KernelTables* kernels = nullptr;
};

// Prepared for one Desc. Immutable; several threads may launch it, each with its own workspace.
class Operation {
 public:
  virtual ~Operation() = default;
  virtual size_t workspace_bytes() const { return 0; }
  // Device pointers as desc.operands (null where absent). Enqueues on the stream of the current
  // device; never allocates, synchronises or waits. The workspace is 256-byte aligned and has no
  // defined content.
  virtual Expected<void> launch(void* const* pointers, void* workspace, Stream stream) const = 0;
  virtual std::string note() const { return {}; }  // "128x256 tiles, cluster 2, 4 stages"
};

// Stateless; one global constant a family. Best first in implementations().
struct Implementation {
  std::string_view name;  // "fp8_gemm_wgmma"
  bool (*serves)(const Op& op) = nullptr;
  // The error says why not and is shown by `explain`.
  Expected<void> (*accepts)(const Desc& desc, const Target& target) = nullptr;
  // `constants`: device pointers of operands marked constant, null elsewhere.
  Expected<std::unique_ptr<Operation>> (*prepare)(const Desc& desc, const Target& target,
                                                  std::span<void* const> constants) = nullptr;
  // How many threads share a row, how many parts K has: what the bits depend on.
  std::string (*numerics)(const Desc& desc, const Target& target) = nullptr;  // may be null
};

std::span<const Implementation* const> implementations();

}  // namespace nrd::cuda
