// SPDX-License-Identifier: MIT
// tests/cuda/fake_kernels.h: the definitions as CUDA kernels of a fake device.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "cuda/operation.h"
#include "fake_device.h"
#include "graph/program.h"

namespace nrd::testing {

// Enqueues the scalar definitions of any operator.
class FakeOperation final : public cuda::Operation {
 public:
  FakeOperation(Program program, int device, size_t operands)
      : program_(std::make_shared<Program>(std::move(program))),
        device_(device),
        operands_(operands) {}
  // Never 0: every run asks for a workspace of its stream.
  size_t workspace_bytes() const override { return program_->workspace_bytes() + kExtra; }
  Expected<void> launch(void* const* pointers, void* workspace,
                        cuda::Stream stream) const override {
    EXPECT_EQ(FakeDevice::current(), device_);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(workspace) % 256, 0u);
    fake().enqueue(
        device_, stream,
        [program = program_, workspace, own = std::vector<void*>(pointers, pointers + operands_)] {
          program->run(own.data(), workspace, {1, nullptr});
        });
    return {};
  }
  std::string note() const override { return "the definition, enqueued"; }

  static FakeDevice& fake() { return *static_cast<FakeDevice*>(*device_runtime()); }

 private:
  static constexpr size_t kExtra = 64;
  std::shared_ptr<const Program> program_;  // outlives the plan while it is queued
  int device_;
  size_t operands_;
};

inline bool fake_serves(const Op&) { return true; }
inline Expected<void> fake_accepts(const Desc& desc, const cuda::Target&) {
  for (const OperandDesc& operand : desc.operands)
    if (operand.present && operand.dtype == DType::kF64)
      return make_error({.code = ErrorCode::kUnsupported,
                         .op = desc.op->name,
                         .argument = "dtype",
                         .got = "f64"});
  return {};
}
inline Expected<std::unique_ptr<cuda::Operation>> fake_prepare(const Desc& desc,
                                                               const cuda::Target& target,
                                                               std::span<void* const>) {
  Desc on_host = desc;
  on_host.device = {};
  Expected<Program> program = Program::prepare(on_host, Build::kScalar);
  if (!program) return program.error();
  return std::unique_ptr<cuda::Operation>(std::make_unique<FakeOperation>(
      std::move(*program), target.device.index, desc.operands.size()));
}
inline std::string fake_numerics(const Desc&, const cuda::Target& target) {
  return target.device.major == 9 ? "256 threads a row" : "128 threads a row";
}

inline std::span<const cuda::Implementation* const> fake_implementations() {
  static const cuda::Implementation one{"fake", fake_serves, fake_accepts, fake_prepare,
                                        fake_numerics};
  static const cuda::Implementation* const all[] = {&one};
  return all;
}

}  // namespace nrd::testing
