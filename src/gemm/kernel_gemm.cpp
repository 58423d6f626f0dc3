// SPDX-License-Identifier: MIT
// src/gemm/kernel_gemm.cpp: from a Desc to products of gemm/. A constant b that all of them
// share is packed when the kernel is prepared, any other inside each run.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "gemm/describe.h"
#include "gemm/kernels.h"
#include "jit/code.h"
#include "ops/epilogue.h"

namespace nrd {
namespace {

class PreparedProduct final : public PreparedKernel {
 public:
  PreparedProduct(gemm::Batch batch, std::optional<gemm::PackedMatrix> b, ProductOperands at)
      : batch_(std::move(batch)), b_(std::move(b)), at_(std::move(at)) {}

  size_t workspace_bytes() const override { return batch_.workspace_bytes(); }
  size_t one_thread_bytes() const override { return batch_.one_thread_bytes(); }
  double work() const override {
    return gemm::flops(batch_.product().desc()) * static_cast<double>(batch_.products());
  }

  Expected<void> run(const Args& args, void* workspace, const Exec& exec) const override {
    gemm::ProductArgs own;
    own.a = args.pointers[at_.a];
    own.b = b_ ? b_->data() : args.pointers[at_.b];
    own.c = args.pointers[at_.c];
    if (at_.a_scales >= 0) own.a_scales = static_cast<const float*>(args.pointers[at_.a_scales]);
    if (at_.b_scales >= 0) own.b_scales = static_cast<const float*>(args.pointers[at_.b_scales]);
    for (size_t i = 0; i < at_.epilogue.size(); i++) {
      const EpilogueSource& source = at_.epilogue[i];
      own.operands[i].data = source.operand < 0 ? &source.number : args.pointers[source.operand];
    }
    batch_.run(own, workspace, exec);
    return {};
  }

  std::string note() const override {
    const gemm::Product& product = batch_.product();
    const gemm::Family& family = product.family();
    std::string text = fmt::format("{}x{} tiles", family.rows, family.columns());
    if (batch_.products() != 1) text += fmt::format(", {} products", batch_.products());
    if (product.desc().is_packed && !batch_.packs()) text += ", b packed";
    const size_t steps = product.desc().epilogue.steps.size();
    if (steps > 0) text += fmt::format(", {} step{} on the sums", steps, steps == 1 ? "" : "s");
    return text;
  }

 private:
  gemm::Batch batch_;
  std::optional<gemm::PackedMatrix> b_;
  ProductOperands at_;
};

constexpr std::string_view kOperators[] = {"gemm", "gemm_prepacked", "gemm_bias", "gemm_dequant",
                                           "fp8_gemm"};

class GemmKernel final : public Kernel {
 public:
  GemmKernel(const Machine& machine, const jit::Target& target, TraceSource traces)
      : machine_(machine), target_(target), traces_(traces) {}

  std::string isa() const override { return std::string(target_.isa); }
  std::string name() const override { return "gemm_" + isa(); }
  bool reads_forms() const override { return true; }

  bool serves(const Op& op) const override {
    return is_epilogue_name(op.name) ||
           std::find(std::begin(kOperators), std::end(kOperators), op.name) != std::end(kOperators);
  }

  std::string numerics(const Desc& desc) const override {
    return std::string(numerics_word(product_class(desc)));
  }

  Expected<void> accepts(const Desc& desc) const override {
    // Scales of blocks belong to one product.
    if (desc.op->name == "fp8_gemm" && !desc.leading.empty()) {
      return refuse(desc, "leading axes", to_string(desc.leading), "none");
    }
    Expected<const gemm::Family*> family =
        gemm::find_family(target_, machine_.isa, product_class(desc));
    if (!family) return family.error();
    for (const char* name : {"a", "b"}) {
      // Quantised first, by the steps of the composite.
      if (desc.op->name != "fp8_gemm" || byte_size(operand(desc, name).dtype) == 1) continue;
      return refuse(desc, name, std::string(word(operand(desc, name).dtype)), "f8e4m3, f8e5m2");
    }
    NRD_TRY(gemm::check_dtypes(**family, operand(desc, "a").dtype, operand(desc, "b").dtype));
    NRD_TRY(check_forms(desc, **family));
    Expected<DescribedProduct> described = describe(desc);
    if (!described) return described.error();
    return gemm::check_epilogue(described->batch.product.epilogue);
  }

  Expected<std::unique_ptr<PreparedKernel>> prepare(
      const Desc& desc, std::span<void* const> constants) const override {
    Expected<DescribedProduct> described = describe(desc);
    if (!described) return described.error();
    const auto constant = [&](int i) -> const void* {
      const auto at = static_cast<size_t>(i);
      return i >= 0 && at < constants.size() && desc.operands[at].constant ? constants[at]
                                                                           : nullptr;
    };
    std::optional<gemm::PackedMatrix> packed;
    const void* b = constant(described->at.b);
    const auto* scales = static_cast<const float*>(constant(described->at.b_scales));
    gemm::BatchDesc& batch = described->batch;
    const Dims& steps = batch.steps[1];
    const bool is_shared =
        std::all_of(steps.begin(), steps.end(), [](int64_t step) { return step == 0; });
    if (operand(desc, "b").form) {
      batch.product.is_packed = true;
    } else if (b != nullptr && is_shared && (described->at.b_scales < 0 || scales != nullptr)) {
      Expected<gemm::PackedMatrix> made = pack(batch.product, b, scales);
      if (!made) return made.error();
      packed = std::move(*made);
      batch.product.is_packed = true;
    }
    Expected<gemm::Batch> made = gemm::Batch::make(batch, target_, machine_.profile);
    if (!made) return made.error();
    return std::unique_ptr<PreparedKernel>(std::make_unique<PreparedProduct>(
        std::move(*made), std::move(packed), std::move(described->at)));
  }

 private:
  static const OperandDesc& operand(const Desc& desc, std::string_view name) {
    return desc.operands[static_cast<size_t>(desc.signature().find_operand(name))];
  }
  Numerics product_class(const Desc& desc) const {
    return gemm::product_numerics(operand(desc, "a").dtype, operand(desc, "b").dtype,
                                  machine_.profile);
  }
  static Error refuse(const Desc& desc, std::string argument, std::string got,
                      std::string allowed) {
    return make_error({.code = ErrorCode::kUnsupported,
                       .op = desc.op->name,
                       .argument = std::move(argument),
                       .got = std::move(got),
                       .allowed = std::move(allowed)});
  }

  // b alone may be packed, for this very family.
  Expected<void> check_forms(const Desc& desc, const gemm::Family& family) const {
    for (size_t i = 0; i < desc.operands.size(); i++) {
      const OperandDesc& own = desc.operands[i];
      const std::string& name = desc.signature().operands[i].name;
      if (!own.form) continue;
      const gemm::PackedLayout* layout = packed_layout(own);
      if (name != "b" || !layout || own.sizes.size() != 2)
        return refuse(desc, name, own.form->text(), "elements as their strides say");
      NRD_TRY(gemm::check_packed(*layout, family, own.sizes[0], own.sizes[1]));
    }
    return {};
  }

  Expected<DescribedProduct> describe(const Desc& desc) const {
    const bool is_matched = is_epilogue_name(desc.op->name) || desc.op->name == "gemm_bias";
    if (!is_matched) return describe_product(desc, product_class(desc));
    Expected<Graph> graph = build_graph(desc);
    if (!graph) return graph.error();
    return match_product(*graph, product_class(desc), traces_);
  }

  Expected<gemm::PackedMatrix> pack(const gemm::ProductDesc& product, const void* b,
                                    const float* scales) const {
    Expected<const gemm::Family*> family =
        gemm::find_family(target_, machine_.isa, product.numerics);
    if (!family) return family.error();
    Expected<gemm::PackedLayout> layout =
        gemm::make_packed_layout(**family, product.b, product.k, product.n);
    if (!layout) return layout.error();
    const gemm::Matrix matrix = {
        b, product.b, product.b_row, product.b_column, product.b_blocks, scales};
    return gemm::PackedMatrix::make(target_, *layout, matrix, {default_threads(), nullptr});
  }

  Machine machine_;
  const jit::Target& target_;
  TraceSource traces_;
};

}  // namespace

std::unique_ptr<Kernel> make_gemm_kernel(const Machine& machine, TraceSource traces) {
  const std::vector<const jit::Target*> targets = jit::targets(machine.isa);
  if (targets.empty() || !jit::executable_memory_works()) return nullptr;
  return std::make_unique<GemmKernel>(machine, *targets.front(), traces);
}

}  // namespace nrd
