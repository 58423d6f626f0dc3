// SPDX-License-Identifier: MIT
// src/cuda/launch/fp8_gemm_engine.h: what multiplies 8-bit codes on a target.
#pragma once

#include <string>

#include "cuda/launch/error.h"
#include "cuda/launch/fp8_gemm.h"
#include "cuda/launch/fp8_gemm_place.h"
#include "cuda/launch/fp8_gemm_portable.h"
#include "cuda/launch/tables.h"

namespace nrd::cuda {

// The kernels of a target under one roof: wgmma where it has them.
class Fp8GemmEngine {
 public:
  explicit Fp8GemmEngine(const Target& target)
      : wgmma_(target.kernels->fp8_gemm),
        portable_(target.kernels->portable_gemm),
        place_(target.kernels->place) {}

  bool exists() const { return (wgmma_ || portable_) && place_; }
  // TMA reads rows at multiples of 16 bytes; the portable kernels read them anywhere.
  bool aligned_rows() const { return wgmma_ != nullptr; }
  size_t workspace_bytes(const Fp8GemmArgs& args) const {
    return wgmma_ ? fp8_gemm_workspace_bytes(args) : portable_gemm_workspace_bytes(args);
  }
  Expected<void> launch(const Fp8GemmArgs& args, void* workspace, Stream stream) const {
    if (wgmma_) return launch_fp8_gemm(*wgmma_, args, workspace, stream);
    return check("fp8_gemm", launch_portable_gemm(*portable_, args, workspace, stream));
  }
  // What a side that lies where TMA cannot read it is copied to.
  Expected<void*> allocate(size_t bytes, Stream stream) const {
    return wgmma_->allocate(bytes, stream);
  }
  void release(void* pointer, Stream stream) const {
    if (pointer) wgmma_->release(pointer, stream);
  }
  Expected<void> place(const PlaceArgs& args, Stream stream) const {
    return check("fp8_gemm_place", place_->place(args, stream));
  }
  std::string numerics(const Fp8GemmArgs& args) const {
    return wgmma_ ? fp8_gemm_numerics(args) : portable_gemm_numerics(args);
  }
  std::string note(const Fp8GemmArgs& args) const {
    return wgmma_ ? fp8_gemm_note(args) : portable_gemm_note(args);
  }

 private:
  const Fp8GemmKernels* wgmma_;
  const PortableGemmKernels* portable_;
  const PlaceKernels* place_;
};

}  // namespace nrd::cuda
