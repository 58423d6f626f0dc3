// SPDX-License-Identifier: MIT
// src/ops/evaluate.h: runs a body (a build of a definition, generated code) over all instances of
// a Desc.
//
// Outer axes and leading axes become the instances; the first core axis is cut too when it is
// separable. Operands that the body cannot read as they lie (another dtype, a strided core) are
// converted as whole buffers into the workspace, outputs back out of it.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "base/threads.h"
#include "ops/desc.h"

namespace nrd {

// What computes instances. Immutable; several threads may run it at once.
class Body {
 public:
  virtual ~Body() = default;
  // The element types it reads and writes, as desc.operands.
  virtual DType native(size_t operand) const = 0;
  // `count` instances: the first at args.pointers, each next one `strides` bytes further.
  virtual void run(const InstanceArgs& args, const int64_t* strides, int64_t count,
                   void* scratch) const = 0;
  // For calls that differ in their pointers alone: what they have in common, made once, and a call
  // with it. Empty: there is nothing to be saved, run() does as well.
  virtual std::vector<int64_t> prepare(const InstanceArgs& args, const int64_t* strides,
                                       int64_t count) const;
  virtual void run_prepared(const int64_t* words, void* const* pointers, void* scratch) const;
  // Memory of its own that one thread needs while it runs.
  virtual size_t scratch_bytes(const size_t* sizes) const;
  // One instance on several threads, with the same bits as run(): whether that is worth it, how
  // much memory it needs for at most `parts` of them, and the run itself.
  virtual bool shares(const size_t* sizes) const;
  virtual size_t shared_bytes(const size_t* sizes, int64_t parts) const;
  virtual void run_shared(const InstanceArgs& args, void* shared, int64_t parts,
                          const Exec& exec) const;
};
// A build of a definition; must belong to desc's variant.
Expected<std::shared_ptr<const Body>> definition_body(const Desc& desc,
                                                      const Definition& definition);

class Evaluation {
 public:
  static Expected<Evaluation> prepare(const Desc& desc, std::shared_ptr<const Body> body);

  size_t workspace_bytes() const { return workspace_bytes_; }
  bool converts() const { return copies_bytes_ > 0; }

  // `pointers` as desc.operands. Deterministic: threads decide who computes, never what.
  void run(void* const* pointers, void* workspace, const Exec& exec) const;

 private:
  struct Operand {
    bool present = true;
    bool output = false;
    bool read = true;            // what it holds before matters
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
  void add_scratch();

  void convert_inputs(void* const* pointers, char* workspace, const Exec& exec) const;
  void convert_outputs(void* const* pointers, const char* workspace, const Exec& exec) const;
  void place(char* const* bases, int64_t instance, int64_t step, void** at) const;
  void run_range(char* const* bases, int64_t begin, int64_t end, void* scratch) const;

  std::shared_ptr<const Body> body_;
  std::vector<Operand> operands_;
  std::vector<int64_t> outer_sizes_;
  int64_t instances_ = 1;
  std::vector<size_t> sizes_;  // core sizes
  int cut_ = -1;               // index into sizes_ of the axis that may be cut, or -1
  int64_t most_ = std::numeric_limits<int64_t>::max();  // that the first core size may become
  int64_t grain_ = 1;  // steps of the cut axis (or instances) worth a thread
  std::vector<double> numbers_;
  std::vector<int> types_;
  size_t workspace_bytes_ = 0;
  size_t copies_bytes_ = 0;   // at the start of the workspace: converted operands
  size_t scratch_bytes_ = 0;  // of each of parts_ threads, behind them
  int64_t parts_ = 1;
  bool one_call_ = false;  // on one thread all instances go to the body at once, operands as given
  std::vector<int64_t> prepared_;                // of that call
  std::array<int64_t, kMaxOperands> strides_{};  // between instances along the last outer axis
  size_t shared_bytes_ = 0;
  bool shares_ = false;  // the one instance goes to several threads
};

}  // namespace nrd
