// SPDX-License-Identifier: MIT
// src/dispatch/gemm_desc.cpp: see gemm_desc.h.
//
// Scales of a tensor, of rows and of columns multiply the sums; those of blocks along k multiply
// the elements while they are packed.
#include "dispatch/gemm_desc.h"

namespace nrd {
namespace {

using gemm::OperandShape;

class Describer {
 public:
  explicit Describer(const Desc& desc) : desc_(desc) {}

  DescribedProduct describe(Numerics numerics) {
    gemm::ProductDesc& product = d_.product;
    ProductOperands& at = d_.at;
    at.a = find("a"), at.b = find("b"), at.c = find("c");
    const OperandDesc &a = operand(at.a), &b = operand(at.b), &c = operand(at.c);
    product.m = a.sizes[0], product.k = a.sizes[1], product.n = b.sizes[1];
    product.a = a.dtype, product.b = b.dtype;
    product.a_row = a.strides[0], product.a_column = a.strides[1];
    product.b_row = b.strides[0], product.b_column = b.strides[1];
    product.c_row = c.strides[0], product.c_column = c.strides[1];
    product.numerics = numerics;
    product.epilogue.out = c.dtype;
    add_scale(find("a_scale"), OperandShape::kRows);
    add_scale(find("b_scale"), OperandShape::kColumns);
    if (const int bias = find("bias"); bias >= 0) add(bias, OperandShape::kColumns, false);
    return std::move(d_);
  }

 private:
  const OperandDesc& operand(int i) const { return desc_.operands[static_cast<size_t>(i)]; }

  int find(std::string_view name) const {
    const int i = desc_.signature().find_operand(name);
    return i >= 0 && operand(i).present ? i : -1;
  }

  // One for all, one a row or column, or one a block, as its rank says.
  void add_scale(int i, OperandShape shape) {
    if (i < 0) return;
    const OperandDesc& scale = operand(i);
    if (scale.sizes.empty()) return add(i, OperandShape::kNumber, true);
    if (scale.sizes.size() == 1) return add(i, shape, true);
    constexpr int kBlock = 128;
    if (shape == OperandShape::kRows) {  // [m, k/128]
      d_.product.a_blocks = {kBlock, 1, scale.strides[1], scale.strides[0]};
      d_.at.a_scales = i;
    } else {  // [k/128, n/128]
      d_.product.b_blocks = {kBlock, kBlock, scale.strides[0], scale.strides[1]};
      d_.at.b_scales = i;
    }
  }

  void add(int i, OperandShape shape, bool is_factor) {
    const OperandDesc& x = operand(i);
    const int64_t stride = x.strides.empty() ? 0 : x.strides[0];
    const bool is_column = shape == OperandShape::kColumns;
    const gemm::Operand extra = {shape, x.dtype, !is_column || stride == 1 || d_.product.n <= 1};
    is_factor ? d_.product.epilogue.multiply(extra) : d_.product.epilogue.add(extra);
    const int64_t bytes = stride * static_cast<int64_t>(byte_size(x.dtype));
    d_.at.extras.push_back({i, is_column ? 0 : bytes, is_column ? bytes : 0});
  }

  const Desc& desc_;
  DescribedProduct d_;
};

}  // namespace

DescribedProduct describe_product(const Desc& desc, Numerics numerics) {
  return Describer(desc).describe(numerics);
}

}  // namespace nrd
