// SPDX-License-Identifier: MIT
// src/cuda/launch/glue.cpp: reductions, argmax, quantize_i8 and embedding of the catalogue.
#include "cuda/launch/glue.h"

#include "cuda/launch/error.h"
#include "cuda/launch/loops.h"
#include "cuda/launch/tables.h"

namespace nrd::cuda {
namespace {

// Rows along the leading axes and, where the operator has one, the axis that numbers rows. What
// folds into one axis is one launch.
class RowOperation : public Operation {
 public:
  Expected<void> launch(void* const* pointers, void* workspace, Stream stream) const final {
    if (loops_.count() == 0) return {};
    cudaError_t code = cudaSuccess;
    loops_.for_each(outer_, [&](const std::vector<int64_t>& offsets) {
      std::vector<GlueOperand> operands = operands_;
      for (size_t o = 0; o < operands.size(); o++)
        operands[o].data = static_cast<char*>(pointers[o]) +
                           offsets[o] * static_cast<int64_t>(byte_size(operands[o].dtype));
      if (code == cudaSuccess) code = start(operands, workspace, stream);
    });
    return check(name_.c_str(), code);
  }

 protected:
  // `row_axis`: "" where the leading axes alone number rows. `col_axis`: along a row.
  RowOperation(const Desc& desc, const Target& target, std::string_view row_axis,
               std::string_view col_axis)
      : kernels_(*target.kernels->glue), name_(desc.op->name), loops_(leading_loops(desc)) {
    const Signature& s = desc.signature();
    const int row = row_axis.empty() ? -1 : s.find_axis(row_axis), col = s.find_axis(col_axis);
    cols_ = desc.axes[static_cast<size_t>(col)];
    if (row >= 0) loops_.sizes.push_back(desc.axes[static_cast<size_t>(row)]);
    for (size_t o = 0; o < desc.operands.size(); o++) {
      operands_.push_back({.dtype = desc.operands[o].dtype, .col = step(desc, o, col)});
      if (row >= 0) loops_.steps[o].push_back(step(desc, o, row));
    }
    loops_.fold();
    outer_ = loops_.rank() > 0 ? loops_.rank() - 1 : 0;
    rows_ = loops_.rank() > 0 ? loops_.sizes.back() : 1;
    for (size_t o = 0; o < operands_.size(); o++)
      operands_[o].row = loops_.rank() > 0 ? loops_.steps[o].back() : 0;
  }

  virtual cudaError_t start(const std::vector<GlueOperand>& operands, void* workspace,
                            Stream stream) const = 0;

  const GlueKernels& kernels_;
  std::string name_;
  Loops loops_;
  int outer_ = 0;
  int64_t rows_ = 1, cols_ = 0;
  std::vector<GlueOperand> operands_;

 private:
  // Of an operand along a named axis; 0 where it has none.
  static int64_t step(const Desc& desc, size_t operand, int axis) {
    const std::vector<AxisRef>& axes = desc.signature().operands[operand].axes;
    const Dims& strides = desc.operands[operand].strides;
    for (size_t d = 0; d < axes.size(); d++)
      if (axes[d].axis == axis) return strides[strides.size() - static_cast<int>(axes.size() - d)];
    return 0;
  }
};

class Reduce final : public RowOperation {
 public:
  Reduce(const Desc& desc, const Target& target) : RowOperation(desc, target, "", "n") {
    op_ = name_ == "vec_dot"   ? Reduction::kDot
          : name_ == "vec_sum" ? Reduction::kSum
          : name_ == "vec_max" ? Reduction::kMax
                               : Reduction::kSumSquares;
  }
  size_t workspace_bytes() const override {
    const int64_t parts = reduction_parts(cols_);
    return parts == 1 ? 0 : static_cast<size_t>(rows_ * parts) * sizeof(float);
  }

 private:
  cudaError_t start(const std::vector<GlueOperand>& operands, void* workspace,
                    Stream stream) const override {
    ReduceArgs args{.op = op_, .rows = rows_, .cols = cols_};
    args.x = operands.front();
    args.y = operands[operands.size() == 3 ? 1 : 0];
    args.out = operands.back();
    args.partials = static_cast<float*>(workspace);
    return kernels_.reduce(args, stream);
  }
  Reduction op_;
};

class Argmax final : public RowOperation {
 public:
  Argmax(const Desc& desc, const Target& target) : RowOperation(desc, target, "rows", "cols") {}

 private:
  cudaError_t start(const std::vector<GlueOperand>& o, void*, Stream stream) const override {
    return kernels_.argmax({.rows = rows_, .cols = cols_, .x = o[0], .index = o[1]}, stream);
  }
};

class QuantizeI8 final : public RowOperation {
 public:
  QuantizeI8(const Desc& desc, const Target& target) : RowOperation(desc, target, "rows", "cols") {}

 private:
  cudaError_t start(const std::vector<GlueOperand>& o, void*, Stream stream) const override {
    return kernels_.quantize_i8({.rows = rows_, .cols = cols_, .x = o[0], .q = o[1], .scale = o[2]},
                                stream);
  }
};

class Embedding final : public RowOperation {
 public:
  Embedding(const Desc& desc, const Target& target)
      : RowOperation(desc, target, "tokens", "dim"),
        vocab_(desc.axes[static_cast<size_t>(desc.signature().find_axis("vocab"))]),
        table_row_(desc.operands[0].strides[desc.operands[0].strides.size() - 2]) {}

 private:
  cudaError_t start(const std::vector<GlueOperand>& o, void*, Stream stream) const override {
    EmbeddingArgs args{.rows = rows_, .cols = cols_, .vocab = vocab_};
    args.table = o[0], args.ids = o[1], args.out = o[2];
    args.table.row = table_row_;
    return kernels_.embedding(args, stream);
  }
  int64_t vocab_, table_row_;
};

template <class Made>
Expected<std::unique_ptr<Operation>> make(const Desc& desc, const Target& target) {
  return std::unique_ptr<Operation>(std::make_unique<Made>(desc, target));
}

bool is_reduction(std::string_view name) {
  return name == "vec_dot" || name == "vec_sum" || name == "vec_max" || name == "vec_sum_squares";
}

// A table for each index of the leading axes would have to advance with the rows.
Expected<void> accepts(const Desc& desc, const Target&) {
  if (desc.op->name != "embedding" || desc.operands[0].sizes.size() == 2) return {};
  return make_error({.code = ErrorCode::kUnsupported,
                     .op = desc.op->name,
                     .argument = "table",
                     .got = "shape " + to_string(desc.operands[0].sizes),
                     .allowed = "one table for all tokens: [vocab, dim]"});
}

}  // namespace

extern const Implementation kGlue;

const Implementation kGlue = {
    .name = "glue",
    .serves =
        [](const Op& op) {
          return is_reduction(op.name) || op.name == "argmax" || op.name == "quantize_i8" ||
                 op.name == "embedding";
        },
    .accepts = accepts,
    .prepare = [](const Desc& desc, const Target& target,
                  std::span<void* const>) -> Expected<std::unique_ptr<Operation>> {
      if (is_reduction(desc.op->name)) return make<Reduce>(desc, target);
      if (desc.op->name == "argmax") return make<Argmax>(desc, target);
      if (desc.op->name == "embedding") return make<Embedding>(desc, target);
      return make<QuantizeI8>(desc, target);
    },
};

}  // namespace nrd::cuda
