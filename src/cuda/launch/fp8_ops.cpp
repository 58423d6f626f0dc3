// SPDX-License-Identifier: MIT
// src/cuda/launch/fp8_ops.cpp: the operators fp8_quantize and fp8_dequantize.
#include <array>

#include "cuda/launch/error.h"
#include "cuda/launch/fp8.h"
#include "cuda/launch/loops.h"

namespace nrd::cuda {
namespace {

Fp8Tile tile_of(std::string_view granularity) {
  constexpr std::array<std::pair<std::string_view, Fp8Tile>, 4> kWords = {{
      {"row", Fp8Tile::kRow},
      {"column", Fp8Tile::kColumn},
      {"block_1x128", Fp8Tile::kBlock1x128},
      {"block_128x128", Fp8Tile::kBlock128x128},
  }};
  for (const auto& [word, tile] : kWords)
    if (word == granularity) return tile;
  return Fp8Tile::kTensor;
}

// Of a matrix or of its scales; the batch comes from the leading axes.
Fp8Strides strides_of(const OperandDesc& operand, Fp8Tile tile, bool is_scale) {
  Fp8Strides s;
  if (!operand.present) return s;
  const int rank = operand.strides.size();
  const bool has_row = !is_scale || (tile != Fp8Tile::kTensor && tile != Fp8Tile::kColumn);
  const bool has_col = !is_scale || (tile != Fp8Tile::kTensor && tile != Fp8Tile::kRow);
  if (has_col) s.col = operand.strides[rank - 1];
  if (has_row) s.row = operand.strides[rank - 1 - (has_col ? 1 : 0)];
  return s;
}

size_t index_of(const Desc& desc, std::string_view name) {
  return static_cast<size_t>(desc.signature().find_operand(name));
}

// What both operators have in common: matrices along the leading axes. The last of these, folded,
// is the batch of a call; further ones are further calls.
class MatrixOperation : public Operation {
 protected:
  MatrixOperation(const Desc& desc, const Target& target)
      : tile_(tile_of(desc.choice("granularity"))),
        rows_(desc.axes[static_cast<size_t>(desc.signature().find_axis("rows"))]),
        cols_(desc.axes[static_cast<size_t>(desc.signature().find_axis("cols"))]),
        loops_(leading_loops(desc)),
        target_(target) {
    loops_.fold();
    outer_ = loops_.rank() > 0 ? loops_.rank() - 1 : 0;
    batch_ = loops_.rank() > 0 ? loops_.sizes.back() : 1;
  }

  Fp8Strides strides(const Desc& desc, size_t operand, bool is_scale) const {
    Fp8Strides s = strides_of(desc.operands[operand], tile_, is_scale);
    if (loops_.rank() > 0) s.batch = loops_.steps[operand].back();
    return s;
  }

  // call(offsets) for each batch, until one fails.
  template <class Call>
  Expected<void> for_batches(const char* name, const Call& call) const {
    cudaError_t code = cudaSuccess;
    loops_.for_each(outer_, [&](const std::vector<int64_t>& offsets) {
      if (code == cudaSuccess) code = call(offsets);
    });
    return check(name, code);
  }

  Fp8Tile tile_;
  int64_t rows_, cols_, batch_ = 1;
  Loops loops_;
  int outer_ = 0;
  Target target_;
};

void* advanced(void* pointer, int64_t elements, DType dtype) {
  return static_cast<char*>(pointer) + elements * static_cast<int64_t>(byte_size(dtype));
}

class Quantize final : public MatrixOperation {
 public:
  Quantize(const Desc& desc, const Target& target)
      : MatrixOperation(desc, target),
        x_(index_of(desc, "x")),
        q_(index_of(desc, "q")),
        scale_(index_of(desc, "scale")) {
    const int given = desc.signature().find_operand("scale_in");
    args_.x_dtype = desc.operands[x_].dtype;
    args_.q_dtype = desc.operands[q_].dtype;
    args_.tile = tile_;
    args_.rows = rows_, args_.cols = cols_, args_.batch = batch_;
    args_.x_strides = strides(desc, x_, false);
    args_.q_strides = strides(desc, q_, false);
    args_.scale_strides = strides(desc, scale_, true);
    if (given >= 0 && desc.operands[static_cast<size_t>(given)].present) {
      given_ = given;
      args_.saturate = desc.choice("overflow") == "saturate";
      args_.scale_in_strides = strides(desc, static_cast<size_t>(given), true);
    }
  }

  size_t workspace_bytes() const override { return fp8_quantize_workspace(args_, target_); }
  std::string note() const override { return fp8_quantize_note(args_, target_); }

  Expected<void> launch(void* const* pointers, void* workspace, Stream stream) const override {
    return for_batches("fp8_quantize", [&](const std::vector<int64_t>& offsets) {
      Fp8QuantizeArgs a = args_;
      a.workspace = workspace;
      a.x = advanced(pointers[x_], offsets[x_], a.x_dtype);
      a.q = static_cast<uint8_t*>(pointers[q_]) + offsets[q_];
      a.scale = static_cast<float*>(pointers[scale_]) + offsets[scale_];
      if (given_ >= 0) {
        const auto given = static_cast<size_t>(given_);
        a.scale_in = static_cast<const float*>(pointers[given]) + offsets[given];
      }
      return fp8_quantize(a, target_, stream);
    });
  }

 private:
  size_t x_, q_, scale_;
  int given_ = -1;
  Fp8QuantizeArgs args_;
};

class Dequantize final : public MatrixOperation {
 public:
  Dequantize(const Desc& desc, const Target& target)
      : MatrixOperation(desc, target),
        q_(index_of(desc, "q")),
        scale_(index_of(desc, "scale")),
        out_(index_of(desc, "out")) {
    args_.q_dtype = desc.operands[q_].dtype;
    args_.out_dtype = desc.operands[out_].dtype;
    args_.tile = tile_;
    args_.rows = rows_, args_.cols = cols_, args_.batch = batch_;
    args_.q_strides = strides(desc, q_, false);
    args_.out_strides = strides(desc, out_, false);
    args_.scale_strides = strides(desc, scale_, true);
  }

  Expected<void> launch(void* const* pointers, void*, Stream stream) const override {
    return for_batches("fp8_dequantize", [&](const std::vector<int64_t>& offsets) {
      Fp8DequantizeArgs a = args_;
      a.q = static_cast<const uint8_t*>(pointers[q_]) + offsets[q_];
      a.scale = static_cast<const float*>(pointers[scale_]) + offsets[scale_];
      a.out = advanced(pointers[out_], offsets[out_], a.out_dtype);
      return fp8_dequantize(a, target_, stream);
    });
  }

 private:
  size_t q_, scale_, out_;
  Fp8DequantizeArgs args_;
};

Expected<void> accepts_all(const Desc&, const Target&) { return {}; }

template <class Made>
Expected<std::unique_ptr<Operation>> prepare(const Desc& desc, const Target& target,
                                             std::span<void* const>) {
  return std::unique_ptr<Operation>(std::make_unique<Made>(desc, target));
}

}  // namespace

extern const Implementation kFp8Quantize, kFp8Dequantize;

const Implementation kFp8Quantize = {
    .name = "fp8_quantize",
    .serves = [](const Op& op) { return op.name == "fp8_quantize"; },
    .accepts = accepts_all,
    .prepare = prepare<Quantize>,
};

const Implementation kFp8Dequantize = {
    .name = "fp8_dequantize",
    .serves = [](const Op& op) { return op.name == "fp8_dequantize"; },
    .accepts = accepts_all,
    .prepare = prepare<Dequantize>,
};

}  // namespace nrd::cuda
