// SPDX-License-Identifier: MIT
// src/gemm/batch.cpp: folds axes into rows, orders the others, and runs the products.
#include "gemm/batch.h"

namespace nrd::gemm {
namespace {

constexpr size_t kA = 0, kB = 1, kC = 2;

bool has_rows(const Operand& operand) {
  return operand.shape == OperandShape::kRows || operand.shape == OperandShape::kMatrix;
}

int64_t bytes(int64_t elements, DType dtype) {
  return elements * static_cast<int64_t>(byte_size(dtype));
}

const char* move(const void* data, int64_t bytes) { return static_cast<const char*>(data) + bytes; }

// Whether the instances along an axis are further rows of the product; then they become such.
bool fold(BatchDesc& desc, int axis) {
  ProductDesc& p = desc.product;
  const auto step = [&](size_t matrix) { return desc.steps[matrix][axis]; };
  const bool has_one_row = p.m == 1;
  const auto follows = [&](int64_t step, int64_t row) { return has_one_row || step == p.m * row; };
  if (step(kB) != 0 || !follows(step(kA), bytes(p.a_row, p.a)) ||
      !follows(step(kC), bytes(p.c_row, p.epilogue.out))) {
    return false;
  }
  for (size_t i = 0; i < p.epilogue.operands.size(); i++) {
    const int64_t operand = step(kFirstOperand + i);
    if (has_rows(p.epilogue.operands[i]) ? !follows(operand, desc.operands[i].row) : operand != 0) {
      return false;
    }
  }
  if (has_one_row) {
    p.a_row = step(kA) / static_cast<int64_t>(byte_size(p.a));
    p.c_row = step(kC) / static_cast<int64_t>(byte_size(p.epilogue.out));
    for (size_t i = 0; i < p.epilogue.operands.size(); i++) {
      if (has_rows(p.epilogue.operands[i])) desc.operands[i].row = step(kFirstOperand + i);
    }
  }
  p.m *= desc.sizes[axis];
  return true;
}

void keep_axes(BatchDesc& desc, const std::vector<int>& axes) {
  const auto pick = [&](const Dims& from) {
    Dims kept;
    for (int axis : axes) kept.push_back(from[axis]);
    return kept;
  };
  desc.sizes = pick(desc.sizes);
  for (Dims& steps : desc.steps) {
    if (!steps.empty()) steps = pick(steps);
  }
}

// Innermost axes first: an outer one may follow when the inner one is part of the rows.
void fold_axes(BatchDesc& desc) {
  std::vector<int> varying, shared;
  for (int axis = desc.sizes.size(); axis-- > 0;) {
    if (desc.sizes[axis] == 1 || fold(desc, axis)) continue;
    std::vector<int>& kept = desc.steps[kB][axis] != 0 ? varying : shared;
    kept.insert(kept.begin(), axis);
  }
  varying.insert(varying.end(), shared.begin(), shared.end());
  keep_axes(desc, varying);
}

}  // namespace

Expected<Batch> Batch::make(const BatchDesc& given, const jit::Target& target,
                            const DeviceProfile& profile) {
  BatchDesc desc = given;
  for (Dims& steps : desc.steps) {
    while (steps.size() < desc.sizes.size()) steps.push_back(0);
  }
  fold_axes(desc);
  int64_t outer = 1, inner = 1;
  for (int axis = 0; axis < desc.sizes.size(); axis++) {
    (desc.steps[kB][axis] != 0 ? outer : inner) *= desc.sizes[axis];
  }
  const bool packs = inner > 1 && !desc.product.is_packed && desc.product.n > 0;
  if (packs) desc.product.is_packed = true;
  Expected<Product> product = Product::make(desc.product, target, profile);
  if (!product) return product.error();
  Batch batch(desc, std::move(*product), outer * inner <= 1 ? 1 : profile.cores);
  batch.outer_ = outer, batch.inner_ = inner;
  batch.space_.add(batch.product_.workspace_bytes(), batch.product_.workspace_bytes(1));
  if (!packs) return batch;
  const ProductDesc& p = desc.product;
  const Family& family = batch.product_.family();
  Expected<PackedLayout> layout = make_packed_layout(family, p.b, p.k, p.n);
  if (!layout) return layout.error();
  Expected<MatrixPacker> packer =
      MatrixPacker::make(target, *layout, {nullptr, p.b, p.b_row, p.b_column, p.b_blocks});
  if (!packer) return packer.error();
  batch.packer_ = *packer;
  batch.packed_bytes_ = (layout->bytes() + 63) / 64 * 64;
  return batch;
}

std::array<int64_t, kBatchMatrices> Batch::place(int64_t instance) const {
  std::array<int64_t, kBatchMatrices> at{};
  for (int axis = desc_.sizes.size(); axis-- > 0; instance /= desc_.sizes[axis]) {
    for (size_t matrix = 0; matrix < at.size(); matrix++) {
      at[matrix] += instance % desc_.sizes[axis] * desc_.steps[matrix][axis];
    }
  }
  return at;
}

ProductArgs Batch::instance_args(const ProductArgs& args, int64_t instance, const void* b) const {
  const std::array<int64_t, kBatchMatrices> at = place(instance);
  ProductArgs one = args;
  one.a = move(args.a, at[kA]);
  one.b = b;
  one.c = static_cast<char*>(args.c) + at[kC];
  for (size_t o = 0; o < desc_.product.epilogue.operands.size(); o++) {
    one.operands[o] = {move(args.operands[o].data, at[kFirstOperand + o]), desc_.operands[o].row,
                       desc_.operands[o].column};
  }
  return one;
}

// The instances from `first` on, all with `packed` or each with a b of its own.
class BatchJobs final : public Jobs {
 public:
  BatchJobs(const Batch& batch, const ProductArgs& args, int64_t first, int64_t count,
            const void* packed)
      : batch_(batch), args_(args), first_(first), count_(count), packed_(packed) {}
  int64_t count() const override { return count_; }
  double work(int64_t) const override { return flops(batch_.product_.desc()); }
  Expected<void> run(int64_t i, void* workspace, const Exec& exec) const override {
    const int64_t instance = first_ + i;
    const void* b = packed_ ? packed_ : move(args_.b, batch_.place(instance)[kB]);
    batch_.product_.run(batch_.instance_args(args_, instance, b), workspace, exec);
    return {};
  }

 private:
  const Batch& batch_;
  const ProductArgs& args_;
  int64_t first_, count_;
  const void* packed_;
};

void Batch::run(const ProductArgs& args, void* workspace, const Exec& exec) const {
  const bool packs = packer_.has_value();
  char* space = static_cast<char*>(workspace) + packed_bytes_;
  const int64_t all = outer_ * inner_, count = packs ? inner_ : all;
  const double all_flops = flops(product_.desc()) * static_cast<double>(count);
  for (int64_t first = 0; first < all; first += count) {
    if (packs) packer_->run(move(args.b, place(first)[kB]), args.b_scales, workspace, exec);
    const BatchJobs jobs(*this, args, first, count, packs ? workspace : nullptr);
    const Expected<void> done = run_jobs(jobs, all_flops, space_, space, exec);
    (void)done;  // products cannot fail
  }
}

}  // namespace nrd::gemm
