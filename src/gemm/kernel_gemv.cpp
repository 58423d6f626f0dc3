// SPDX-License-Identifier: MIT
// src/gemm/kernel_gemv.cpp: from a Desc to a matrix-vector product of gemm/.
#include "gemm/gemv.h"
#include "gemm/kernels.h"
#include "jit/code.h"

namespace nrd {
namespace {

constexpr size_t kA = 0, kX = 1, kY = 2;  // as the signature lists them

class PreparedGemv final : public PreparedKernel {
 public:
  explicit PreparedGemv(gemm::Gemv gemv) : gemv_(std::move(gemv)) {}

  size_t workspace_bytes() const override { return gemv_.workspace_bytes(); }
  Expected<void> run(const Args& args, void* workspace, const Exec& exec) const override {
    gemv_.run(args.pointers[kA], args.pointers[kX], args.pointers[kY], workspace, exec);
    return {};
  }
  std::string note() const override {
    switch (gemv_.order()) {
      case gemm::GemvOrder::kRows: return "by rows";
      case gemm::GemvOrder::kColumns: return "by columns";
      default: return "element by element";
    }
  }

 private:
  gemm::Gemv gemv_;
};

class GemvKernel final : public Kernel {
 public:
  GemvKernel(const Machine& machine, const jit::Target& target)
      : cores_(machine.profile.cores), target_(target) {}

  std::string isa() const override { return std::string(target_.isa); }
  std::string name() const override { return "gemv_" + isa(); }
  bool serves(const Op& op) const override { return op.name == "gemv"; }

  Expected<void> accepts(const Desc& desc) const override {
    if (!desc.leading.empty()) return refuse("leading axes", to_string(desc.leading), "none");
    return {};
  }

  Expected<std::unique_ptr<PreparedKernel>> prepare(const Desc& desc,
                                                    std::span<void* const>) const override {
    const OperandDesc &a = desc.operands[kA], &x = desc.operands[kX], &y = desc.operands[kY];
    Expected<gemm::Gemv> gemv =
        gemm::Gemv::make({a.sizes[0], a.sizes[1], a.dtype, x.dtype, y.dtype, a.strides[0],
                          a.strides[1], x.strides[0], y.strides[0]},
                         target_, cores_);
    if (!gemv) return gemv.error();
    return std::unique_ptr<PreparedKernel>(std::make_unique<PreparedGemv>(std::move(*gemv)));
  }

 private:
  static Error refuse(std::string argument, std::string got, std::string allowed) {
    return make_error({.code = ErrorCode::kUnsupported,
                       .op = "gemv",
                       .argument = std::move(argument),
                       .got = std::move(got),
                       .allowed = std::move(allowed)});
  }

  int cores_;
  const jit::Target& target_;
};

}  // namespace

std::unique_ptr<Kernel> make_gemv_kernel(const Machine& machine) {
  const std::vector<const jit::Target*> targets = jit::targets(machine.isa);
  if (targets.empty() || !jit::executable_memory_works()) return nullptr;
  return std::make_unique<GemvKernel>(machine, *targets.front());
}

}  // namespace nrd
