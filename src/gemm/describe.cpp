// SPDX-License-Identifier: MIT
// src/gemm/describe.cpp: see describe.h.
//
// Scales of a tensor, of rows and of columns multiply the sums; those of blocks along k multiply
// the elements while they are packed.
#include "gemm/describe.h"

namespace nrd {
namespace {

using gemm::OperandShape;
using gemm::StepKind;

int64_t element_bytes(const OperandDesc& operand) {
  return static_cast<int64_t>(byte_size(operand.dtype));
}

// Bytes along the leading axes, of which an operand with `core` axes of its own has the last.
Dims leading_steps(const Dims& leading, const OperandDesc& operand, int core) {
  const int missing = leading.size() - (operand.sizes.size() - core);
  Dims steps;
  for (int axis = 0; axis < leading.size(); axis++) {
    const int own = axis - missing;
    const bool is_shared = own < 0 || operand.sizes[own] == 1;
    steps.push_back(is_shared ? 0 : operand.strides[own] * element_bytes(operand));
  }
  return steps;
}

// Strides of the last two axes, in elements.
struct LastStrides {
  explicit LastStrides(const OperandDesc& operand)
      : row(operand.strides[operand.strides.size() - 2]), column(operand.strides.back()) {}
  int64_t row, column;
};

class Describer {
 public:
  explicit Describer(const Desc& desc) : desc_(desc) {}

  DescribedProduct describe(Numerics numerics) {
    ProductOperands& at = d_.at;
    at.a = find("a"), at.b = find("b"), at.c = find("c");
    const OperandDesc &a = operand(at.a), &b = operand(at.b), &c = operand(at.c);
    gemm::ProductDesc& product = d_.batch.product;
    product.m = c.sizes[c.sizes.size() - 2], product.n = c.sizes.back();
    product.k = a.sizes.back();
    product.a = a.dtype, product.b = b.dtype;
    product.a_row = LastStrides(a).row, product.a_column = LastStrides(a).column;
    product.b_row = LastStrides(b).row, product.b_column = LastStrides(b).column;
    product.c_row = LastStrides(c).row, product.c_column = LastStrides(c).column;
    product.numerics = numerics;
    product.epilogue.out = c.dtype;
    d_.batch.sizes = desc_.leading;
    d_.batch.steps[0] = leading_steps(desc_.leading, a, 2);
    d_.batch.steps[1] = leading_steps(desc_.leading, b, 2);
    d_.batch.steps[2] = leading_steps(desc_.leading, c, 2);
    add_scale(find("a_scale"), OperandShape::kRows);
    add_scale(find("b_scale"), OperandShape::kColumns);
    if (const int bias = find("bias"); bias >= 0) add(bias, StepKind::kAdd, OperandShape::kColumns);
    return std::move(d_);
  }

 private:
  const OperandDesc& operand(int i) const { return desc_.operands[static_cast<size_t>(i)]; }

  int find(std::string_view name) const {
    const int i = desc_.signature().find_operand(name);
    return i >= 0 && operand(i).present ? i : -1;
  }

  // One for all, one a row or column, or one a block, as the signature says.
  void add_scale(int i, OperandShape shape) {
    if (i < 0) return;
    const OperandDesc& scale = operand(i);
    const size_t axes = desc_.signature().operands[static_cast<size_t>(i)].axes.size();
    if (axes == 0) return add(i, StepKind::kMultiply, OperandShape::kNumber);
    if (axes == 1) return add(i, StepKind::kMultiply, shape);
    constexpr int kBlock = 128;
    if (shape == OperandShape::kRows) {  // [m, k/128]
      d_.batch.product.a_blocks = {kBlock, 1, scale.strides[1], scale.strides[0]};
      d_.at.a_scales = i;
    } else {  // [k/128, n/128]
      d_.batch.product.b_blocks = {kBlock, kBlock, scale.strides[0], scale.strides[1]};
      d_.at.b_scales = i;
    }
  }

  // A step with an operand that has `shape` beside the leading axes.
  void add(int i, StepKind kind, OperandShape shape) {
    const OperandDesc& own = operand(i);
    const bool has_rows = shape == OperandShape::kRows,
               has_columns = shape == OperandShape::kColumns;
    const bool is_contiguous = !has_columns || own.strides.back() == 1 || own.sizes.back() <= 1;
    gemm::Epilogue& epilogue = d_.batch.product.epilogue;
    const gemm::Operand added = {shape, own.dtype, is_contiguous};
    const auto number = static_cast<size_t>(kind == StepKind::kAdd ? epilogue.add(added)
                                                                   : epilogue.multiply(added));
    gemm::OperandMemory& memory = d_.batch.operands[number];
    if (has_rows) memory.row = own.strides.back() * element_bytes(own);
    if (has_columns) memory.column = own.strides.back() * element_bytes(own);
    const int axes = has_rows || has_columns ? 1 : 0;
    d_.batch.steps[gemm::kFirstOperand + number] = leading_steps(desc_.leading, own, axes);
    d_.at.epilogue.push_back({i, 0});
  }

  const Desc& desc_;
  DescribedProduct d_;
};

}  // namespace

DescribedProduct describe_product(const Desc& desc, Numerics numerics) {
  return Describer(desc).describe(numerics);
}

}  // namespace nrd
