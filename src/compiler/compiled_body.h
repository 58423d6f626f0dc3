// SPDX-License-Identifier: MIT
// src/compiler/compiled_body.h: generated code as a Body: fills the blocks of calls, and shares one
// long instance out among threads.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "base/lazy.h"
#include "jit/code.h"
#include "jit/lower.h"
#include "ops/evaluate.h"

namespace nrd {

// A block holds at most this much; larger layouts are refused when code is made.
constexpr size_t kMostBlockBytes = 8 * 96;

// lower_in_steps() and the code of each step.
struct CompiledSteps {
  jit::LoweredSteps lowered;
  std::vector<std::shared_ptr<const jit::Code>> code;
};

class CompiledBody final : public Body {
 public:
  // Made when an instance is first long enough to be shared out; null where it cannot be.
  using MakeSteps = std::function<std::unique_ptr<const CompiledSteps>()>;

  CompiledBody(jit::Lowered lowered, std::shared_ptr<const jit::Code> code,
               std::vector<DType> dtypes, MakeSteps make_steps);

  DType native(size_t operand) const override { return dtypes_[operand]; }
  void run(const InstanceArgs& args, const int64_t* strides, int64_t count,
           void* scratch) const override;
  std::vector<int64_t> prepare(const InstanceArgs& args, const int64_t* strides,
                               int64_t count) const override;
  void run_prepared(const int64_t* words, void* const* pointers, void* scratch) const override;
  size_t scratch_bytes(const size_t* sizes) const override;
  bool shares(const size_t* sizes) const override;
  size_t shared_bytes(const size_t* sizes, int64_t parts) const override;
  void run_shared(const InstanceArgs& args, void* shared, int64_t parts,
                  const Exec& exec) const override;

 private:
  struct Block;
  using Pointers = std::array<void*, kMostBlockBytes / 8>;  // an operand's stride is in the block
  using Sizes = std::array<int64_t, kMaxRank>;
  Sizes signed_sizes(const size_t* sizes) const;
  void find_extents();
  void fill(int64_t* words, const jit::BlockLayout& layout, const InstanceArgs& args,
            const int64_t* strides, int64_t count) const;
  void run_steps(const InstanceArgs& args, void* shared, int64_t parts, const Exec& exec) const;
  const CompiledSteps* steps() const;

  jit::Lowered lowered_;
  std::shared_ptr<const jit::Code> code_;
  jit::Code::EntryWithPointers entry_;
  std::vector<DType> dtypes_;  // of the operands, without scratch
  size_t operands_;
  const jit::Helper* helpers_;
  std::vector<bool> wide_numbers_;
  std::vector<bool> counts_;  // of each size, whether a loop runs to it
  MakeSteps make_steps_;
  mutable LazyMember<const std::unique_ptr<const CompiledSteps>> steps_;
};

}  // namespace nrd
