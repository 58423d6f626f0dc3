// SPDX-License-Identifier: MIT
// src/cuda/launch/elements.cpp: elementwise operators of the catalogue.
#include "cuda/launch/elements.h"

#include <optional>

#include "cuda/launch/error.h"
#include "cuda/launch/loops.h"
#include "cuda/launch/tables.h"

namespace nrd::cuda {
namespace {

struct NamedOp {
  std::string_view name;
  ElementOp op;
};
constexpr NamedOp kNames[] = {
#define NRD_CUDA_NAME(name, functor) {#name, ElementOp::k##functor},
    NRD_CUDA_UNARY_OPS(NRD_CUDA_NAME) NRD_CUDA_BINARY_OPS(NRD_CUDA_NAME)
#undef NRD_CUDA_NAME
        {"cast", ElementOp::kCast},
};

std::optional<ElementOp> element_op(std::string_view name) {
  for (const NamedOp& named : kNames)
    if (named.name == name) return named.op;
  return std::nullopt;
}

class Elements final : public Operation {
 public:
  Elements(const Desc& desc, const Target& target)
      : kernels_(*target.kernels->elements), name_(desc.op->name), operands_(desc.operands.size()) {
    args_.op = *element_op(name_);
    args_.multiprocessors = target.device.multiprocessors;
    if (!desc.numbers.empty()) args_.number = static_cast<float>(desc.numbers.front());
    args_.saturate = args_.op == ElementOp::kCast && desc.choice("overflow") == "saturate";
    Loops loops = element_loops(desc);
    loops.fold();
    if (loops.rank() == 0) {  // one element
      loops.sizes = {1};
      for (std::vector<int64_t>& steps : loops.steps) steps = {1};
    }
    args_.rank = loops.rank();
    for (size_t d = 0; d < loops.sizes.size(); d++) args_.sizes[d] = loops.sizes[d];
    for (size_t o = 0; o < operands_; o++) {
      ElementOperand& operand = operand_at(args_, o);
      operand.dtype = desc.operands[o].dtype;
      for (size_t d = 0; d < loops.sizes.size(); d++) operand.steps[d] = loops.steps[o][d];
    }
    is_empty_ = loops.count() == 0;
  }

  Expected<void> launch(void* const* pointers, void*, Stream stream) const override {
    if (is_empty_) return {};
    ElementArgs args = args_;
    for (size_t o = 0; o < operands_; o++) operand_at(args, o).data = pointers[o];
    const auto kernel = args.op == ElementOp::kCast ? kernels_.cast
                        : operands_ == 2            ? kernels_.unary
                                                    : kernels_.binary;
    return check(name_.c_str(), kernel(args, stream));
  }

 private:
  // Inputs, then the output.
  ElementOperand& operand_at(ElementArgs& args, size_t o) const {
    return o + 1 == operands_ ? args.out : args.in[o];
  }

  const ElementKernels& kernels_;
  std::string name_;
  size_t operands_;
  ElementArgs args_;
  bool is_empty_ = false;
};

}  // namespace

extern const Implementation kElements;

const Implementation kElements = {
    .name = "elements",
    .serves = [](const Op& op) { return element_op(op.name).has_value(); },
    .accepts = [](const Desc&, const Target&) -> Expected<void> { return {}; },
    .prepare = [](const Desc& desc, const Target& target,
                  std::span<void* const>) -> Expected<std::unique_ptr<Operation>> {
      return std::unique_ptr<Operation>(std::make_unique<Elements>(desc, target));
    },
};

}  // namespace nrd::cuda
