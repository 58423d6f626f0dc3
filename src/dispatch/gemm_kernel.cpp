// SPDX-License-Identifier: MIT
// src/dispatch/gemm_kernel.cpp: from a Desc to a product of gemm/. A constant b is packed when the
// kernel is prepared, any other inside each run.
#include "dispatch/gemm_kernel.h"

#include <fmt/format.h>

#include <optional>

#include "gemm/product.h"
#include "jit/code.h"

namespace nrd {
namespace {

struct Operands {
  int a, b, c, bias;
};

Operands operands_of(const Desc& desc) {
  const Signature& s = desc.signature();
  return {s.find_operand("a"), s.find_operand("b"), s.find_operand("c"), s.find_operand("bias")};
}

class PreparedProduct final : public PreparedKernel {
 public:
  PreparedProduct(gemm::Product product, std::optional<gemm::PackedMatrix> b, const Operands& at,
                  int64_t bias_column)
      : product_(std::move(product)), b_(std::move(b)), at_(at), bias_column_(bias_column) {}

  size_t workspace_bytes() const override { return product_.workspace_bytes(); }

  Expected<void> run(const Args& args, void* workspace, const Exec& exec) const override {
    gemm::ProductArgs own;
    own.a = args.pointers[at_.a];
    own.b = b_ ? b_->data() : args.pointers[at_.b];
    own.c = args.pointers[at_.c];
    if (at_.bias >= 0) own.operands[0] = {args.pointers[at_.bias], 0, bias_column_};
    product_.run(own, workspace, exec);
    return {};
  }

  std::string note() const override {
    const gemm::Family& family = product_.family();
    return fmt::format("{}x{} tiles{}", family.rows, family.columns(), b_ ? ", b packed" : "");
  }

 private:
  gemm::Product product_;
  std::optional<gemm::PackedMatrix> b_;
  Operands at_;
  int64_t bias_column_;  // bytes
};

class GemmKernel final : public Kernel {
 public:
  GemmKernel(const Machine& machine, const jit::Target& target)
      : machine_(machine), target_(target) {}

  std::string isa() const override { return std::string(target_.isa); }
  std::string name() const override { return "gemm_" + isa(); }

  bool serves(const Op& op) const override {
    return op.name == "gemm" || op.name == "gemm_prepacked" || op.name == "gemm_bias";
  }

  Expected<void> accepts(const Desc& desc) const override {
    if (desc.device.kind != DeviceKind::kCpu) return refuse(desc, "device", "cuda", "cpu");
    if (!desc.leading.empty()) {
      return refuse(desc, "leading axes", to_string(desc.leading), "none");
    }
    Expected<const gemm::Family*> family = gemm::find_family(target_, desc.numerics);
    if (!family) return family.error();
    for (size_t i = 0; i < desc.operands.size(); i++) {
      const DType dtype = desc.operands[i].dtype;
      if (dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16) continue;
      return refuse(desc, desc.signature().operands[i].name, std::string(word(dtype)),
                    "f32, f16, bf16");
    }
    return {};
  }

  Expected<std::unique_ptr<PreparedKernel>> prepare(
      const Desc& desc, std::span<void* const> constants) const override {
    const Operands at = operands_of(desc);
    const auto operand = [&](int i) -> const OperandDesc& {
      return desc.operands[static_cast<size_t>(i)];
    };
    const OperandDesc &a = operand(at.a), &b = operand(at.b), &c = operand(at.c);
    gemm::ProductDesc product;
    product.m = a.sizes[0], product.k = a.sizes[1], product.n = b.sizes[1];
    product.a = a.dtype, product.b = b.dtype;
    product.a_row = a.strides[0], product.a_column = a.strides[1];
    product.b_row = b.strides[0], product.b_column = b.strides[1];
    product.c_row = c.strides[0], product.c_column = c.strides[1];
    product.numerics = desc.numerics;
    product.epilogue.out = c.dtype;
    int64_t bias_column = 0;
    if (at.bias >= 0) {
      const OperandDesc& bias = operand(at.bias);
      product.epilogue.add(
          {gemm::OperandShape::kColumns, bias.dtype, bias.strides[0] == 1 || product.n <= 1});
      bias_column = bias.strides[0] * static_cast<int64_t>(byte_size(bias.dtype));
    }
    std::optional<gemm::PackedMatrix> packed;
    const auto b_index = static_cast<size_t>(at.b);
    if (b.constant && b_index < constants.size() && constants[b_index] != nullptr) {
      Expected<gemm::PackedMatrix> made = pack(product, constants[b_index]);
      if (!made) return made.error();
      packed = std::move(*made);
      product.is_packed = true;
    }
    Expected<gemm::Product> made = gemm::Product::make(product, target_, machine_.profile);
    if (!made) return made.error();
    return std::unique_ptr<PreparedKernel>(
        std::make_unique<PreparedProduct>(std::move(*made), std::move(packed), at, bias_column));
  }

 private:
  static Error refuse(const Desc& desc, std::string argument, std::string got,
                      std::string allowed) {
    return make_error({.code = ErrorCode::kUnsupported,
                       .op = desc.op->name,
                       .argument = std::move(argument),
                       .got = std::move(got),
                       .allowed = std::move(allowed)});
  }

  Expected<gemm::PackedMatrix> pack(const gemm::ProductDesc& product, const void* b) const {
    Expected<const gemm::Family*> family = gemm::find_family(target_, product.numerics);
    if (!family) return family.error();
    Expected<gemm::PackedLayout> layout =
        gemm::make_packed_layout(**family, product.b, product.k, product.n);
    if (!layout) return layout.error();
    const gemm::Matrix matrix = {b, product.b, product.b_row, product.b_column};
    return gemm::PackedMatrix::make(target_, *layout, matrix, {default_threads(), nullptr});
  }

  Machine machine_;
  const jit::Target& target_;
};

}  // namespace

std::unique_ptr<Kernel> make_gemm_kernel(const Machine& machine) {
  const std::vector<const jit::Target*> targets = jit::targets(machine.isa);
  if (targets.empty() || !jit::executable_memory_works()) return nullptr;
  return std::make_unique<GemmKernel>(machine, *targets.front());
}

}  // namespace nrd
