// SPDX-License-Identifier: MIT
// nereid/view.h: views of your memory as strided arrays. Include nereid/tensor.h, which has the
// rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "nereid/axes.h"
#include "nereid/device.h"
#include "nereid/dtype.h"
#include "nereid/error.h"

namespace nereid {

class Tensor;

// A pointer that remembers whether it may be written through.
class Address {
 public:
  Address(std::nullptr_t) {}            // NOLINT: implicit
  Address(void* data) : data_(data) {}  // NOLINT: implicit
  Address(const void* data)             // NOLINT: implicit
      : data_(const_cast<void*>(data)), read_only_(true) {}
  void* data() const { return data_; }
  bool read_only() const { return read_only_; }

 private:
  void* data_ = nullptr;
  bool read_only_ = false;
};

// A vector, array or span of elements: what has data() and size().
template <class R>
concept ElementRange = requires(R& range) {
  requires Element<std::remove_pointer_t<decltype(range.data())>>;
  range.size();
};
template <class P>
concept ElementPointer = std::is_pointer_v<P> && Element<std::remove_pointer_t<P>>;

// A view: pointer, dtype, sizes, strides (in elements) and device. Owns nothing; cheap to copy. A
// default constructed view is an absent operand. Views of const memory are refused as outputs.
class TensorView {
 public:
  TensorView() = default;

  // Any dtype, any memory. No strides mean contiguous, last axis fastest.
  TensorView(Address data, DType dtype, const Axes& sizes, const Axes& strides = {},
             Device device = {})
      : data_(data.data()), dtype_(dtype), read_only_(data.read_only()), device_(device) {
    set(sizes, strides);
  }
  TensorView(Address data, DType dtype, const Axes& sizes, Device device)
      : TensorView(data, dtype, sizes, {}, device) {}

  // The dtype from the element type: TensorView(pointer, {rows, cols}).
  template <ElementPointer P>
  TensorView(const P& data, const Axes& sizes, const Axes& strides = {}, Device device = {})
      : TensorView(Address(data), dtype_of<std::remove_pointer_t<P>>(), sizes, strides, device) {}
  template <ElementPointer P>
  TensorView(const P& data, const Axes& sizes, Device device)
      : TensorView(data, sizes, {}, device) {}

  // A vector, array or span: as one axis, with sizes that it fills, or with sizes and strides that
  // stay inside it.
  template <ElementRange R>
  TensorView(R&& range)  // NOLINT: implicit, so that vectors are operands
      : TensorView(range.data(), {range.size()}) {}
  template <ElementRange R>
  TensorView(R&& range, const Axes& sizes, const Axes& strides = {})
      : TensorView(range.data(), sizes, strides) {
    check_fits(range.size(), strides.empty());
  }
  template <Element T, size_t kCount>
  TensorView(T (&array)[kCount])  // NOLINT: implicit, as above
      : TensorView(std::span<T>(array)) {}
  template <Element T, size_t kCount>
  TensorView(T (&array)[kCount], const Axes& sizes, const Axes& strides = {})
      : TensorView(std::span<T>(array), sizes, strides) {}

  void* data() const { return data_; }
  DType dtype() const { return dtype_; }
  int rank() const { return static_cast<int>(sizes_.size()); }
  int64_t size(int axis) const { return sizes_[index(axis)]; }      // negative: from the end
  int64_t stride(int axis) const { return strides_[index(axis)]; }  // in elements
  std::span<const int64_t> sizes() const { return sizes_; }
  std::span<const int64_t> strides() const { return strides_; }
  bool read_only() const { return read_only_; }
  Device device() const { return device_; }
  explicit operator bool() const { return present_; }

  int64_t count() const {  // what is beyond int64_t counts as its largest
    int64_t n = 1;
    for (int64_t size : sizes_)
      if (size == 0) return 0;
    for (int64_t size : sizes_)
      if (__builtin_mul_overflow(n, size, &n)) return INT64_MAX;
    return n;
  }
  bool is_contiguous() const {
    uint64_t expected = 1;  // unsigned: sizes that nobody has checked may overflow
    for (int i = rank() - 1; i >= 0; i--) {
      if (size(i) != 1 && static_cast<uint64_t>(stride(i)) != expected) return false;
      expected *= static_cast<uint64_t>(size(i));
    }
    return true;
  }

  // The last two axes swapped: the (k,n) view of an [N,K] weight.
  TensorView t() const {
    if (rank() < 2) fail("t()", shape_text(), "two axes or more");
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
    const int64_t kept = end > begin ? (end - begin - 1) / step + 1 : 0;
    view.sizes_[index(axis)] = kept;
    if (kept > 0) view.data_ = static_cast<char*>(data_) + begin * stride(axis) * element_bytes();
    if (kept > 1) view.strides_[index(axis)] *= step;
    return view;
  }
  // Other sizes for the same elements; contiguous views only.
  TensorView reshape(const Axes& sizes) const {
    const TensorView view = as_strided(sizes, {});
    if (!is_contiguous()) fail("reshape", "a strided view", "a contiguous one");
    if (view.count() != count()) fail("reshape", view.shape_text(), shape_text() + "'s elements");
    return view;
  }
  // The same memory with sizes and strides of your own (0 repeats an axis).
  TensorView as_strided(const Axes& sizes, const Axes& strides) const {
    TensorView view = *this;
    view.set(sizes, strides);
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

  std::string shape_text() const { return to_string(sizes_); }  // "[2, 4096]"

  // For the C ABI; points into this view.
  nereid_tensor c() const {
    return {sizeof(nereid_tensor),
            read_only_ ? uint32_t{NEREID_READ_ONLY} : 0u,
            data_,
            static_cast<int32_t>(dtype_),
            rank(),
            sizes_.data(),
            strides_.data(),
            device_.kind,
            device_.index,
            nullptr};
  }

 private:
  [[noreturn]] static void fail(const char* argument, std::string got, std::string allowed) {
    throw_error(make_error(NEREID_SHAPE_MISMATCH, "TensorView", argument, std::move(got),
                           std::move(allowed)));
  }
  int64_t element_bytes() const { return static_cast<int64_t>(byte_size(dtype_)); }
  size_t index(int axis) const {
    const int from_front = axis < 0 ? axis + rank() : axis;
    if (from_front < 0 || from_front >= rank())
      fail("axis", std::to_string(axis), "an axis of " + shape_text());
    return static_cast<size_t>(from_front);
  }
  void set(const Axes& sizes, const Axes& strides) {
    for (int64_t size : sizes)
      if (size < 0) fail("sizes", to_string(sizes), "sizes of 0 or more");
    if (!strides.empty() && strides.size() != sizes.size())
      fail("strides", to_string(strides), "one stride for each size of " + to_string(sizes));
    present_ = true;
    sizes_ = sizes;
    strides_ = strides.empty() ? sizes : strides;
    uint64_t stride = 1;  // unsigned: sizes that nobody has checked may overflow
    for (size_t i = sizes.size(); i-- > 0 && strides.empty();) {
      strides_[i] = static_cast<int64_t>(stride);
      if (sizes[i] > 0) stride *= static_cast<uint64_t>(sizes[i]);
    }
  }
  // Whether this is a view of `elements` elements: all of them, or none outside.
  void check_fits(size_t elements, bool all) const {
    const std::string held = std::to_string(elements) + " elements";
    if (all && static_cast<uint64_t>(count()) != elements)
      fail("sizes", shape_text(), "sizes that " + held + " fill");
    if (all || count() == 0) return;
    int64_t last = 0;
    for (int i = 0; i < rank(); i++) {
      int64_t reach = 0;
      if (stride(i) < 0 && size(i) > 1)
        fail("strides", to_string(strides_),
             "strides of 0 or more, as the view begins at the first element");
      if (__builtin_mul_overflow(size(i) - 1, stride(i), &reach) ||
          __builtin_add_overflow(last, reach, &last))
        last = INT64_MAX;
    }
    if (static_cast<uint64_t>(last) >= elements)
      fail("strides",
           to_string(strides_) + " of sizes " + shape_text() + ", up to element " +
               std::to_string(last),
           "a view inside the " + held);
  }

  void* data_ = nullptr;
  DType dtype_ = DType::f32;
  bool read_only_ = false;
  bool present_ = false;
  Device device_;
  Axes sizes_, strides_;
};

}  // namespace nereid
