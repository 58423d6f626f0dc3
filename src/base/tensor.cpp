// SPDX-License-Identifier: MIT
// src/base/tensor.cpp: sizes, strides and the memory a view touches.
#include "base/tensor.h"

#include <functional>
#include <limits>

namespace nrd {

void Dims::push_front(int64_t value) {
  for (int i = rank_; i > 0; i--) {
    values_[static_cast<size_t>(i)] = values_[static_cast<size_t>(i - 1)];
  }
  values_[0] = value;
  rank_++;
}

std::string to_string(const Dims& dims) {
  std::string text = "[";
  for (int i = 0; i < dims.size(); i++) {
    if (i > 0) text += ", ";
    text += std::to_string(dims[i]);
  }
  return text + "]";
}

Dims contiguous_strides(const Dims& sizes) {
  Dims strides = sizes;
  uint64_t stride = 1;  // unsigned: sizes nobody has checked yet must not be undefined behaviour
  for (int i = sizes.size() - 1; i >= 0; i--) {
    strides[i] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(std::max<int64_t>(sizes[i], 1));
  }
  return strides;
}

Expected<int64_t> element_count(const Dims& sizes, size_t element_bytes) {
  bool is_empty = false;
  for (int64_t size : sizes) {
    if (size < 0) {
      return make_error({.code = ErrorCode::kInvalidArgument,
                         .op = "",
                         .argument = "sizes",
                         .got = to_string(sizes),
                         .allowed = "sizes of 0 or more",
                         .hint = ""});
    }
    is_empty |= size == 0;
  }
  if (is_empty) return int64_t{0};
  int64_t count = 1;
  int64_t bytes = 0;
  bool overflows = false;
  for (int64_t size : sizes) overflows |= __builtin_mul_overflow(count, size, &count);
  overflows |= __builtin_mul_overflow(count, element_bytes, &bytes);
  if (!overflows) return count;
  return make_error({.code = ErrorCode::kInvalidArgument,
                     .op = "",
                     .argument = "sizes",
                     .got = to_string(sizes) + " of " + std::to_string(element_bytes) + " bytes",
                     .allowed = "tensors of less than 2^63 bytes",
                     .hint = ""});
}

int64_t TensorView::count() const {
  int64_t count = 1;
  for (int64_t size : sizes) {
    if (size == 0) return 0;
  }
  for (int64_t size : sizes) count *= size;
  return count;
}

bool TensorView::is_contiguous() const {
  for (int64_t size : sizes) {
    if (size == 0) return true;
  }
  int64_t expected = 1;
  for (int i = rank() - 1; i >= 0; i--) {
    if (sizes[i] != 1 && strides[i] != expected) return false;  // one element: any stride will do
    expected *= sizes[i];
  }
  return true;
}

TensorView make_view(void* data, DType dtype, Dims sizes) {
  TensorView view;
  view.data = data;
  view.dtype = dtype;
  view.sizes = sizes;
  view.strides = contiguous_strides(sizes);
  return view;
}

ByteRange byte_range(const TensorView& view) {
  int64_t below = 0;  // bytes before and behind the first element that strides reach
  int64_t above = static_cast<int64_t>(byte_size(view.dtype));
  bool overflows = false;
  for (int i = 0; i < view.rank(); i++) {
    if (view.sizes[i] == 0) return {};
    int64_t reach = 0;
    overflows |= __builtin_mul_overflow(view.sizes[i] - 1, view.strides[i], &reach);
    overflows |= __builtin_mul_overflow(reach, byte_size(view.dtype), &reach);
    int64_t& side = reach < 0 ? below : above;
    overflows |= __builtin_add_overflow(side, reach, &side);
  }
  // Addresses as numbers: a view that leaves its buffer must not be undefined behaviour here.
  const auto base = reinterpret_cast<uintptr_t>(view.data);
  uintptr_t first = 0;
  uintptr_t last = 0;
  overflows |= __builtin_add_overflow(base, below, &first);
  overflows |= __builtin_add_overflow(base, above, &last);
  if (overflows) {  // strides no memory can have: everything, so that overlap() refuses
    first = 0;
    last = std::numeric_limits<uintptr_t>::max();
  }
  return {reinterpret_cast<const char*>(first), reinterpret_cast<const char*>(last)};
}

bool overlap(const TensorView& a, const TensorView& b) {
  if (a.device != b.device) return false;
  const ByteRange x = byte_range(a);
  const ByteRange y = byte_range(b);
  if (x.first == x.last || y.first == y.last) return false;
  return std::less<const char*>()(x.first, y.last) && std::less<const char*>()(y.first, x.last);
}

bool same_elements(const TensorView& a, const TensorView& b) {
  return a.data == b.data && a.dtype == b.dtype && a.device == b.device && a.sizes == b.sizes &&
         a.strides == b.strides;
}

}  // namespace nrd
