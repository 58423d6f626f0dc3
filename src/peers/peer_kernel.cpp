// SPDX-License-Identifier: MIT
// src/peers/peer_kernel.cpp: loading once, refusals, and strides in BLAS terms.
#include "peers/peer_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cstdlib>

namespace nrd {
namespace {

struct Axis2 {
  int64_t size = 1;
  int64_t stride = 1;
};

// Axis counted from the last, 0 being the last.
Axis2 axis_from_end(const OperandDesc& operand, int back) {
  const int index = operand.sizes.size() - 1 - back;
  if (index < 0) return {};
  return {operand.sizes[index], operand.strides[index]};
}

// The distance between runs of `inner`, when `inner` lies without gaps and runs do not overlap.
std::optional<int64_t> leading_distance(Axis2 outer, Axis2 inner) {
  const int64_t least = std::max<int64_t>(1, inner.size);
  if (outer.size == 0 || inner.size == 0) return least;  // nothing lies anywhere
  if (inner.size > 1 && inner.stride != 1) return std::nullopt;
  if (outer.size == 1) return least;
  if (outer.stride < least) return std::nullopt;
  return outer.stride;
}

}  // namespace

Expected<void> PeerBackend::load() {
  if (!loaded_) loaded_ = open();
  return *loaded_;
}

std::vector<const Kernel*> PeerBackend::kernels(const Op& op) const {
  std::vector<const Kernel*> list;
  for (const auto& kernel : kernels_)
    if (kernel->op() == op.name) list.push_back(kernel.get());
  return list;
}

void FreeDeleter::operator()(void* memory) const { std::free(memory); }

AlignedMemory aligned_memory(size_t bytes) {
  return AlignedMemory(std::aligned_alloc(64, (bytes + 64) / 64 * 64));
}

std::string joined(const std::string& first, const std::string& second) {
  return first.empty() || second.empty() ? first + second : first + ", " + second;
}

Error refuse(const Desc& desc, std::string argument, std::string got, std::string allowed,
             std::string hint) {
  return make_error({.code = ErrorCode::kUnsupported,
                     .op = desc.op->name,
                     .argument = std::move(argument),
                     .got = std::move(got),
                     .allowed = std::move(allowed),
                     .hint = std::move(hint)});
}

std::string operand_name(const Desc& desc, int operand) {
  return desc.signature().operands[static_cast<size_t>(operand)].name;
}

Expected<void> accept_plain(const Desc& desc) {
  for (int64_t size : desc.leading)
    if (size != 1) return refuse(desc, "leading axes", to_string(desc.leading), "1 in each");
  return {};
}

Expected<void> accept_dtypes(const Desc& desc, std::span<const DType> dtypes) {
  bool same = desc.operands.size() == dtypes.size();
  std::string allowed;
  for (size_t i = 0; i < dtypes.size(); i++) {
    same = same && desc.operands[i].dtype == dtypes[i];
    if (i > 0) allowed += i + 1 == dtypes.size() ? "->" : ",";
    allowed += word(dtypes[i]);
  }
  if (!same) return refuse(desc, "dtype", desc.dtype_text(), allowed);
  return {};
}

Expected<MatrixLayout> matrix_layout(const Desc& desc, int operand) {
  const OperandDesc& o = desc.operands[static_cast<size_t>(operand)];
  const Axis2 row = axis_from_end(o, 1), column = axis_from_end(o, 0);
  std::optional<int64_t> ld = leading_distance(row, column);
  const bool row_major = ld.has_value();
  if (!row_major) ld = leading_distance(column, row);
  if (!ld)
    return refuse(desc, operand_name(desc, operand), "strides " + to_string(o.strides),
                  "stride 1 along one axis and no overlap");
  if (row.size > INT_MAX || column.size > INT_MAX || *ld > INT_MAX)
    return refuse(desc, operand_name(desc, operand), "sizes " + to_string(o.sizes),
                  "sizes and strides below 2^31");
  return MatrixLayout{static_cast<int>(row.size), static_cast<int>(column.size), row_major,
                      static_cast<int>(*ld)};
}

Expected<int> vector_size(const Desc& desc, int operand) {
  const Axis2 axis = axis_from_end(desc.operands[static_cast<size_t>(operand)], 0);
  if (axis.size <= INT_MAX) return static_cast<int>(axis.size);
  return refuse(desc, operand_name(desc, operand), fmt::format("size {}", axis.size),
                "sizes below 2^31");
}

Expected<int> vector_stride(const Desc& desc, int operand) {
  const Axis2 axis = axis_from_end(desc.operands[static_cast<size_t>(operand)], 0);
  if (axis.size <= 1) return 1;
  if (axis.stride >= 1 && axis.stride <= INT_MAX) return static_cast<int>(axis.stride);
  return refuse(desc, operand_name(desc, operand), fmt::format("stride {}", axis.stride),
                "a positive stride below 2^31");
}

Expected<void> accept_contiguous(const Desc& desc, int operand) {
  Expected<int> stride = vector_stride(desc, operand);
  if (!stride) return stride.error();
  if (*stride == 1) return {};
  return refuse(desc, operand_name(desc, operand), fmt::format("stride {}", *stride), "stride 1");
}

}  // namespace nrd
