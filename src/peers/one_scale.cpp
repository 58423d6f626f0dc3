// SPDX-License-Identifier: MIT
// src/peers/one_scale.cpp: the backend `one_scale`: what scales of blocks cost.
//
// Of fp8_gemm with a scale for each block: our product of the same codes with one scale for each
// side, in the same slices. What it writes is another product: a roof, as a copy is.
#include "cuda/launch/memory.h"
#include "dispatch/cuda_backend.h"
#include "peers/peers.h"

namespace nrd {
namespace {

bool is_scale(const std::string& operand) { return operand == "a_scale" || operand == "b_scale"; }

// The same case with one scale a side; operands keep their places.
Expected<Desc> with_one_scale(const Desc& desc) {
  std::vector<NamedOperand> operands;
  for (size_t i = 0; i < desc.operands.size(); i++) {
    if (!desc.operands[i].present) continue;
    const std::string& name = desc.signature().operands[i].name;
    operands.push_back({name, is_scale(name) ? OperandDesc{} : desc.operands[i]});
  }
  Expected<Desc> other =
      bind(*desc.op, {{"scales", "tensor"}, {"accumulate", std::string(desc.choice("accumulate"))}},
           std::move(operands));
  if (other) other->device = desc.device;
  return other;
}

class PreparedOneScale final : public PreparedKernel {
 public:
  PreparedOneScale(std::unique_ptr<PreparedKernel> ours, cuda::DeviceMemory scale, const Desc& desc)
      : ours_(std::move(ours)), scale_(std::move(scale)) {
    for (const auto& operand : desc.signature().operands)
      are_scales_.push_back(is_scale(operand.name));
  }

  size_t workspace_bytes() const override { return ours_->workspace_bytes(); }
  Expected<void> run(const Args& args, void* workspace, const Exec& exec) const override {
    void* pointers[kMostOperands];
    for (size_t i = 0; i < are_scales_.size(); i++)
      pointers[i] = are_scales_[i] ? scale_.data() : args.pointers[i];
    return ours_->run({pointers}, workspace, exec);
  }
  std::string note() const override { return ours_->note(); }

  static constexpr size_t kMostOperands = 8;

 private:
  std::unique_ptr<PreparedKernel> ours_;
  cuda::DeviceMemory scale_;
  std::vector<bool> are_scales_;
};

class OneScaleKernel final : public Kernel {
 public:
  explicit OneScaleKernel(const Backend& ours) : ours_(ours) {}
  std::string name() const override { return "fp8_gemm_one_scale"; }
  bool serves(const Op& op) const override { return op.name == "fp8_gemm"; }

  Expected<void> accepts(const Desc& desc) const override {
    if (desc.op->name != "fp8_gemm" || desc.choice("scales") != "block")
      return make_error({.op = desc.op->name,
                         .argument = "scales",
                         .got = "a case without scales of blocks",
                         .allowed = "fp8_gemm with scales=block"});
    Expected<Desc> other = with_one_scale(desc);
    if (!other) return other.error();
    return kernel_of(*other).accepts(*other);
  }

  Expected<std::unique_ptr<PreparedKernel>> prepare(
      const Desc& desc, std::span<void* const> constants) const override {
    Expected<Desc> other = with_one_scale(desc);
    if (!other) return other.error();
    Expected<std::unique_ptr<PreparedKernel>> ours = kernel_of(*other).prepare(*other, constants);
    if (!ours) return ours.error();
    Expected<cuda::DeviceMemory> scale =
        cuda::DeviceMemory::allocate(sizeof(float), desc.device.index);
    if (!scale) return scale.error();
    NRD_TRY(cuda::fill_bytes(scale->data(), 0x3C, sizeof(float)));  // 0.0115
    NRD_TRY(cuda::wait_for(nullptr));
    return std::unique_ptr<PreparedKernel>(
        std::make_unique<PreparedOneScale>(std::move(*ours), std::move(*scale), *other));
  }

 private:
  const Kernel& kernel_of(const Desc& desc) const { return *ours_.kernels(*desc.op).front(); }

  const Backend& ours_;
};

class OneScaleBackend final : public Backend {
 public:
  OneScaleBackend() : ours_(make_cuda_backend()), kernel_(*ours_) {}
  std::string name() const override { return "one_scale"; }
  std::string version() const override { return ours_->version(); }
  bool runs_on(DeviceKind kind) const override { return kind == DeviceKind::kCuda; }
  bool computes() const override { return false; }
  bool uses_operands() const override { return true; }
  Expected<void> load() override { return ours_->load(); }
  std::vector<const Kernel*> kernels(const Op& op) const override {
    return kernel_.serves(op) ? std::vector<const Kernel*>{&kernel_} : std::vector<const Kernel*>{};
  }

 private:
  std::unique_ptr<Backend> ours_;
  OneScaleKernel kernel_;
};

}  // namespace

std::unique_ptr<Backend> make_one_scale_backend() { return std::make_unique<OneScaleBackend>(); }

}  // namespace nrd
