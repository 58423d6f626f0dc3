// SPDX-License-Identifier: MIT
// src/base/tensor.h: a view of memory as a strided array. Owns nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "base/dtype.h"

namespace nrd {

constexpr int kMaxRank = 8;

enum class DeviceKind : int { kCpu = 0, kCuda = 1 };

struct Device {
  DeviceKind kind = DeviceKind::kCpu;
  int index = 0;
  friend bool operator==(const Device&, const Device&) = default;
};

// A short list of sizes or strides; no allocation.
class Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<int64_t> values) {
    for (int64_t v : values) push_back(v);
  }
  explicit Dims(std::span<const int64_t> values) {
    for (int64_t v : values) push_back(v);
  }
  int size() const { return rank_; }
  bool empty() const { return rank_ == 0; }
  int64_t operator[](int i) const { return values_[static_cast<size_t>(i)]; }
  int64_t& operator[](int i) { return values_[static_cast<size_t>(i)]; }
  const int64_t* begin() const { return values_.data(); }
  const int64_t* end() const { return values_.data() + rank_; }
  int64_t back() const { return values_[static_cast<size_t>(rank_ - 1)]; }
  // Both need a rank below kMaxRank.
  void push_back(int64_t value) { values_[static_cast<size_t>(rank_++)] = value; }
  void push_front(int64_t value);
  friend bool operator==(const Dims& a, const Dims& b) {
    return std::span(a.begin(), a.end()).size() == std::span(b.begin(), b.end()).size() &&
           std::equal(a.begin(), a.end(), b.begin());
  }

 private:
  std::array<int64_t, kMaxRank> values_{};
  int rank_ = 0;
};

std::string to_string(const Dims& dims);  // "[2, 4096]"
// Row-major strides in elements; the innermost is 1.
Dims contiguous_strides(const Dims& sizes);
// The product of the sizes, or an error when it (times bytes) leaves int64.
Expected<int64_t> element_count(const Dims& sizes, size_t element_bytes);

struct TensorView {
  void* data = nullptr;
  DType dtype = DType::kF32;
  Dims sizes;
  Dims strides;  // in elements; may be 0 (broadcast) or negative
  Device device;

  int rank() const { return sizes.size(); }
  int64_t count() const;  // of a view that was checked by element_count
  bool is_contiguous() const;
};

TensorView make_view(void* data, DType dtype, Dims sizes);

// The bytes a view can touch: [first, last). Empty when a size is 0.
struct ByteRange {
  const char* first = nullptr;
  const char* last = nullptr;
};
ByteRange byte_range(const TensorView& view);
// Whether the byte ranges intersect (and the devices are the same). False is certain; true may be
// too careful: two views that interleave without sharing (even and odd columns) count as
// overlapping, and their user gets a refusal, never a wrong result.
bool overlap(const TensorView& a, const TensorView& b);
// The same elements in the same order: base, dtype, sizes and strides are equal.
bool same_elements(const TensorView& a, const TensorView& b);

}  // namespace nrd
