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

// By number, -1 where the operator has none.
struct Operands {
  int a, b, c, bias, a_scale, b_scale;
};

Operands operands_of(const Desc& desc) {
  const Signature& s = desc.signature();
  return {s.find_operand("a"),    s.find_operand("b"),       s.find_operand("c"),
          s.find_operand("bias"), s.find_operand("a_scale"), s.find_operand("b_scale")};
}

// An operand of the epilogue: which of the operator's it is, and its strides in bytes.
struct Extra {
  int operand;
  int64_t row, column;
};

class PreparedProduct final : public PreparedKernel {
 public:
  PreparedProduct(gemm::Product product, std::optional<gemm::PackedMatrix> b, const Operands& at,
                  std::vector<Extra> extras)
      : product_(std::move(product)), b_(std::move(b)), at_(at), extras_(std::move(extras)) {}

  size_t workspace_bytes() const override { return product_.workspace_bytes(); }

  Expected<void> run(const Args& args, void* workspace, const Exec& exec) const override {
    gemm::ProductArgs own;
    own.a = args.pointers[at_.a];
    own.b = b_ ? b_->data() : args.pointers[at_.b];
    own.c = args.pointers[at_.c];
    for (size_t i = 0; i < extras_.size(); i++) {
      own.operands[i] = {args.pointers[extras_[i].operand], extras_[i].row, extras_[i].column};
    }
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
  std::vector<Extra> extras_;
};

class GemmKernel final : public Kernel {
 public:
  GemmKernel(const Machine& machine, const jit::Target& target)
      : machine_(machine), target_(target) {}

  std::string isa() const override { return std::string(target_.isa); }
  std::string name() const override { return "gemm_" + isa(); }

  bool serves(const Op& op) const override {
    return op.name == "gemm" || op.name == "gemm_prepacked" || op.name == "gemm_bias" ||
           op.name == "gemm_dequant";
  }

  Numerics numerics(const Desc& desc) const override {
    const Operands at = operands_of(desc);
    return gemm::product_numerics(dtype(desc, at.a), dtype(desc, at.b), machine_.profile);
  }

  Expected<void> accepts(const Desc& desc) const override {
    if (desc.device.kind != DeviceKind::kCpu) return refuse(desc, "device", "cuda", "cpu");
    if (!desc.leading.empty()) {
      return refuse(desc, "leading axes", to_string(desc.leading), "none");
    }
    Expected<const gemm::Family*> family = gemm::find_family(target_, machine_.isa, numerics(desc));
    if (!family) return family.error();
    const Operands at = operands_of(desc);
    return gemm::check_dtypes(**family, dtype(desc, at.a), dtype(desc, at.b));
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
    product.numerics = numerics(desc);
    product.epilogue.out = c.dtype;
    std::vector<Extra> extras;
    // One value a row or a column, its only stride in elements.
    const auto add = [&](int index, gemm::OperandShape shape, bool is_factor) {
      if (index < 0) return;
      const OperandDesc& x = operand(index);
      const bool is_row = shape == gemm::OperandShape::kRows;
      const gemm::Operand extra = {shape, x.dtype, is_row || x.strides[0] == 1 || product.n <= 1};
      is_factor ? product.epilogue.multiply(extra) : product.epilogue.add(extra);
      const int64_t stride = x.strides[0] * static_cast<int64_t>(byte_size(x.dtype));
      extras.push_back({index, is_row ? stride : 0, is_row ? 0 : stride});
    };
    add(at.a_scale, gemm::OperandShape::kRows, true);
    add(at.b_scale, gemm::OperandShape::kColumns, true);
    add(at.bias, gemm::OperandShape::kColumns, false);
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
    return std::unique_ptr<PreparedKernel>(std::make_unique<PreparedProduct>(
        std::move(*made), std::move(packed), at, std::move(extras)));
  }

 private:
  static DType dtype(const Desc& desc, int operand) {
    return desc.operands[static_cast<size_t>(operand)].dtype;
  }
  static Error refuse(const Desc& desc, std::string argument, std::string got,
                      std::string allowed) {
    return make_error({.code = ErrorCode::kUnsupported,
                       .op = desc.op->name,
                       .argument = std::move(argument),
                       .got = std::move(got),
                       .allowed = std::move(allowed)});
  }

  Expected<gemm::PackedMatrix> pack(const gemm::ProductDesc& product, const void* b) const {
    Expected<const gemm::Family*> family =
        gemm::find_family(target_, machine_.isa, product.numerics);
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
