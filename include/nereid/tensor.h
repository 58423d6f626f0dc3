// SPDX-License-Identifier: MIT
// nereid/tensor.h: views of your memory as strided arrays, and a tensor that owns its own.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <ranges>
#include <span>
#include <string>

#include "nereid/device.h"
#include "nereid/dtype.h"
#include "nereid/error.h"

namespace nereid {

class Tensor;

// A view: pointer, dtype, sizes, strides (in elements) and device. Owns nothing; cheap to copy. A
// default constructed view is an absent operand. Views of const memory are refused as outputs.
class TensorView {
 public:
  TensorView() = default;

  // Any dtype. Empty strides mean contiguous, last axis fastest.
  TensorView(void* data, DType dtype, std::span<const int64_t> sizes,
             std::span<const int64_t> strides = {}) {
    set(data, dtype, sizes, strides);
  }
  TensorView(void* data, DType dtype, std::initializer_list<int64_t> sizes,
             std::initializer_list<int64_t> strides = {}) {
    set(data, dtype, span_of(sizes), span_of(strides));
  }
  TensorView(const void* data, DType dtype, std::initializer_list<int64_t> sizes,
             std::initializer_list<int64_t> strides = {}) {
    set(const_cast<void*>(data), dtype, span_of(sizes), span_of(strides));
    read_only_ = true;
  }

  // Contiguous memory of a device.
  TensorView(void* data, DType dtype, std::span<const int64_t> sizes, Device device)
      : TensorView(data, dtype, sizes) {
    device_ = device;
  }
  TensorView(void* data, DType dtype, std::initializer_list<int64_t> sizes, Device device)
      : TensorView(data, dtype, span_of(sizes), device) {}

  // The dtype from the element type: TensorView(pointer, {rows, cols}).
  template <Element T>
  TensorView(T* data, std::initializer_list<int64_t> sizes) {
    set(const_cast<std::remove_cv_t<T>*>(data), dtype_of<T>(), span_of(sizes), {});
    read_only_ = std::is_const_v<T>;
  }

  // A vector, array or span, as one axis or with sizes that it fills.
  template <std::ranges::contiguous_range R>
  requires Element<std::ranges::range_value_t<R>> TensorView(
      R&& range)  // NOLINT: implicit, so that vectors are operands
      : TensorView(std::ranges::data(range), {static_cast<int64_t>(std::ranges::size(range))}) {}
  template <std::ranges::contiguous_range R>
  requires Element<std::ranges::range_value_t<R>> TensorView(R&& range,
                                                             std::initializer_list<int64_t> sizes)
      : TensorView(std::ranges::data(range), sizes) {
    if (count() != static_cast<int64_t>(std::ranges::size(range)))
      fail("sizes", shape_text(), std::to_string(std::ranges::size(range)) + " elements");
  }

  void* data() const { return data_; }
  DType dtype() const { return dtype_; }
  int rank() const { return rank_; }
  int64_t size(int axis) const { return sizes_[index(axis)]; }      // negative: from the end
  int64_t stride(int axis) const { return strides_[index(axis)]; }  // in elements
  std::span<const int64_t> sizes() const { return {sizes_.data(), static_cast<size_t>(rank_)}; }
  std::span<const int64_t> strides() const { return {strides_.data(), static_cast<size_t>(rank_)}; }
  bool read_only() const { return read_only_; }
  Device device() const { return device_; }
  explicit operator bool() const { return present_; }

  int64_t count() const {
    int64_t n = 1;
    for (int64_t size : sizes()) n *= size;
    return n;
  }
  bool is_contiguous() const {
    int64_t expected = 1;
    for (int i = rank_ - 1; i >= 0; i--) {
      if (size(i) != 1 && stride(i) != expected) return false;
      expected *= size(i);
    }
    return true;
  }

  // The last two axes swapped: the (k,n) view of an [N,K] weight.
  TensorView t() const {
    if (rank_ < 2) fail("t()", shape_text(), "two axes or more");
    return transpose(-2, -1);
  }
  TensorView transpose(int a, int b) const {
    TensorView view = *this;
    std::swap(view.sizes_[index(a)], view.sizes_[index(b)]);
    std::swap(view.strides_[index(a)], view.strides_[index(b)]);
    return view;
  }
  // Elements begin, begin + step ... before end of one axis.
  TensorView slice(int axis, int64_t begin, int64_t end, int64_t step = 1) const {
    if (begin < 0 || end < begin || end > size(axis) || step < 1)
      fail("slice", "[" + std::to_string(begin) + ", " + std::to_string(end) + ")",
           "a range inside axis " + std::to_string(axis) + " of " + shape_text());
    TensorView view = *this;
    view.data_ = static_cast<char*>(data_) + begin * stride(axis) * element_bytes();
    view.sizes_[index(axis)] = (end - begin + step - 1) / step;
    view.strides_[index(axis)] *= step;
    return view;
  }
  // Other sizes for the same elements; contiguous views only.
  TensorView reshape(std::span<const int64_t> sizes) const {
    TensorView view(data_, dtype_, sizes, device_);
    view.read_only_ = read_only_;
    if (!is_contiguous()) fail("reshape", "a strided view", "a contiguous one");
    if (view.count() != count()) fail("reshape", view.shape_text(), shape_text() + "'s elements");
    return view;
  }
  TensorView reshape(std::initializer_list<int64_t> sizes) const { return reshape(span_of(sizes)); }
  // The same memory with sizes and strides of your own (0 repeats an axis).
  TensorView as_strided(std::span<const int64_t> sizes, std::span<const int64_t> strides) const {
    TensorView view(data_, dtype_, sizes, strides);
    view.read_only_ = read_only_;
    view.device_ = device_;
    return view;
  }
  // The same pointer as memory of that device.
  TensorView on(Device device) const {
    TensorView view = *this;
    view.device_ = device;
    return view;
  }
  // A copy on a device; contiguous views only. Returns when it is there, after what the stream was
  // given before (of the target device, or of this one where the target is the CPU).
  Tensor to(Device device, void* stream = nullptr) const;

  std::string shape_text() const {  // "[2, 4096]"
    std::string text = "[";
    for (int i = 0; i < rank_; i++) text += (i ? ", " : "") + std::to_string(size(i));
    return text + "]";
  }

  // For the C ABI; points into this view.
  nereid_tensor c() const {
    return {sizeof(nereid_tensor),
            read_only_ ? uint32_t{NEREID_READ_ONLY} : 0u,
            data_,
            static_cast<int32_t>(dtype_),
            rank_,
            sizes_.data(),
            strides_.data(),
            device_.kind,
            device_.index};
  }

 private:
  static std::span<const int64_t> span_of(std::initializer_list<int64_t> list) {
    return {list.begin(), list.size()};
  }
  [[noreturn]] static void fail(const char* argument, std::string got, std::string allowed) {
    throw_error(make_error(NEREID_SHAPE_MISMATCH, "TensorView", argument, std::move(got),
                           std::move(allowed)));
  }
  int64_t element_bytes() const { return static_cast<int64_t>(byte_size(dtype_)); }
  size_t index(int axis) const {
    const int from_front = axis < 0 ? axis + rank_ : axis;
    if (from_front < 0 || from_front >= rank_)
      fail("axis", std::to_string(axis), "an axis of " + shape_text());
    return static_cast<size_t>(from_front);
  }
  void set(void* data, DType dtype, std::span<const int64_t> sizes,
           std::span<const int64_t> strides) {
    if (sizes.size() > NEREID_MAX_RANK)
      fail("sizes", std::to_string(sizes.size()) + " axes", "at most 8 axes");
    if (!strides.empty() && strides.size() != sizes.size())
      fail("strides", std::to_string(strides.size()), "one a size");
    data_ = data;
    dtype_ = dtype;
    present_ = true;
    rank_ = static_cast<int>(sizes.size());
    std::copy(sizes.begin(), sizes.end(), sizes_.begin());
    std::copy(strides.begin(), strides.end(), strides_.begin());
    uint64_t stride = 1;  // unsigned: sizes that nobody has checked may overflow
    for (int i = rank_ - 1; i >= 0 && strides.empty(); i--) {
      strides_[static_cast<size_t>(i)] = static_cast<int64_t>(stride);
      stride *= static_cast<uint64_t>(std::max<int64_t>(sizes_[static_cast<size_t>(i)], 1));
    }
  }

  void* data_ = nullptr;
  DType dtype_ = DType::f32;
  int rank_ = 0;
  bool read_only_ = false;
  bool present_ = false;
  Device device_;
  std::array<int64_t, NEREID_MAX_RANK> sizes_{};
  std::array<int64_t, NEREID_MAX_RANK> strides_{};
};

// Contiguous memory of its own, aligned to 64 bytes (on a CUDA device to 256) and not initialised;
// copies share it. That of a CUDA device is given back when nothing there can be using it, for
// which the last owner waits: in a loop, name memory for results (`out`).
class Tensor {
 public:
  Tensor() = default;
  Tensor(DType dtype, std::span<const int64_t> sizes, Device device = {})
      : view_(nullptr, dtype, sizes, device) {
    const size_t bytes = std::max<size_t>(static_cast<size_t>(view_.count()) * byte_size(dtype), 1);
    memory_ = device.is_cpu() ? host_memory(bytes) : device_memory(bytes, device);
    view_ = TensorView(memory_.get(), dtype, sizes, device);
  }
  Tensor(DType dtype, std::initializer_list<int64_t> sizes, Device device = {})
      : Tensor(dtype, std::span<const int64_t>(sizes.begin(), sizes.size()), device) {}

  const TensorView& view() const { return view_; }
  operator const TensorView&() const { return view_; }  // NOLINT: implicit, it is an operand
  explicit operator bool() const { return static_cast<bool>(view_); }
  DType dtype() const { return view_.dtype(); }
  std::span<const int64_t> sizes() const { return view_.sizes(); }
  int64_t count() const { return view_.count(); }
  Device device() const { return view_.device(); }
  template <class T>
  T* data() const {
    return static_cast<T*>(view_.data());
  }
  // This tensor where it is on that device already, else a copy: see TensorView::to.
  Tensor to(Device device, void* stream = nullptr) const {
    return device == view_.device() ? *this : view_.to(device, stream);
  }

 private:
  static std::shared_ptr<void> host_memory(size_t bytes) {
    constexpr std::align_val_t kAlignment{64};
    return {::operator new(bytes, kAlignment), [](void* p) { ::operator delete(p, kAlignment); }};
  }
  static std::shared_ptr<void> device_memory(size_t bytes, Device device) {
    void* memory = nullptr;
    check(nereid_device_allocate(device.kind, device.index, bytes, &memory));
    return {memory, [device](void* p) { nereid_device_release(device.kind, device.index, p); }};
  }

  TensorView view_;
  std::shared_ptr<void> memory_;
};

// Copies a contiguous tensor to another of the same dtype and sizes, each on any device. Returns
// when it is there; other streams than the default one must be waited for first.
inline void copy(const TensorView& from, const TensorView& to) {
  const nereid_tensor source = from.c(), target = to.c();
  check(nereid_copy(&source, &target));
}
// Enqueues the copy in a stream of the device of `to`, or of `from` where `to` is on the CPU.
inline void copy_on(const TensorView& from, const TensorView& to, void* stream) {
  const nereid_tensor source = from.c(), target = to.c();
  check(nereid_copy_on(&source, &target, stream));
}

inline Tensor TensorView::to(Device device, void* stream) const {
  Tensor target(dtype_, sizes(), device);
  copy_on(*this, target, stream);
  const Device waits = device.is_cpu() ? device_ : device;
  synchronize(waits, stream);
  return target;
}

}  // namespace nereid
