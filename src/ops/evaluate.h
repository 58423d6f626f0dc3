// SPDX-License-Identifier: MIT
// src/ops/evaluate.h: runs one build of a definition over all instances of a Desc.
//
// Outer axes and leading axes become the instances; the first core axis is cut too when it is
// separable. Operands that a definition cannot read as they lie (another dtype, a strided core)
// are converted as whole buffers into the workspace, outputs back out of it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/threads.h"
#include "ops/desc.h"

namespace nrd {

class Evaluation {
 public:
  // The definition must belong to desc's variant.
  static Expected<Evaluation> prepare(const Desc& desc, const Definition& definition);

  size_t workspace_bytes() const { return workspace_bytes_; }
  bool converts() const { return workspace_bytes_ > 0; }

  // `pointers` as desc.operands. Deterministic: threads decide who computes, never what.
  void run(void* const* pointers, void* workspace, const Exec& exec) const;

 private:
  struct Operand {
    bool present = true;
    bool output = false;
    DType dtype = DType::kF32;   // in memory
    DType native = DType::kF32;  // in the definition
    Dims sizes, strides;         // as described, for conversion
    bool copied = false;
    size_t workspace_offset = 0;
    std::vector<int64_t> outer_strides;  // bytes per step of each outer axis, of what is read
    int64_t cut_stride = 0;              // bytes per step of the cut axis
  };

  void add_operand(const Desc& desc, size_t index, const std::vector<int>& outer_axes);
  void set_strides(Operand& operand, const Desc& desc, const OperandSpec& spec,
                   const std::vector<int>& outer_axes, int core_rank);
  void fold_outer_axes();
  void choose_grain();

  void convert_inputs(void* const* pointers, char* workspace, const Exec& exec) const;
  void convert_outputs(void* const* pointers, const char* workspace, const Exec& exec) const;
  void run_range(char* const* bases, int64_t begin, int64_t end) const;

  Definition definition_;
  std::vector<Operand> operands_;
  std::vector<int64_t> outer_sizes_;
  int64_t instances_ = 1;
  std::vector<size_t> sizes_;  // core sizes
  int cut_ = -1;               // index into sizes_ of the axis that may be cut, or -1
  int64_t grain_ = 1;          // steps of the cut axis (or instances) worth a thread
  std::vector<double> numbers_;
  std::vector<int> types_;
  size_t workspace_bytes_ = 0;
};

}  // namespace nrd
