// SPDX-License-Identifier: MIT
// nereid/tensor.h: views of your memory as strided arrays, and a tensor that owns its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "nereid/ownership.h"
#include "nereid/view.h"  // IWYU pragma: export

namespace nereid {

// Contiguous memory of its own, aligned to 64 bytes (on a CUDA device to 256) and not initialised;
// copies share it. That of a CUDA device is given back when nothing there can be using it, for
// which the last owner waits: in a loop, name memory for results (`out`). What cannot be had is an
// Exception.
class Tensor {
 public:
  Tensor() = default;
  Tensor(DType dtype, const Axes& sizes, Device device = {})
      : view_(nullptr, dtype, sizes, device) {
    void* memory = nullptr;
    check(nereid_device_allocate(device.kind, device.index, bytes(), &memory));
    memory_ = {memory, [device](void* p) { nereid_device_release(device.kind, device.index, p); }};
    view_ = TensorView(memory, dtype, sizes, device);
  }

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
  size_t bytes() const {
    if (byte_size(dtype()) == 0)
      throw_error(make_error(NEREID_UNSUPPORTED_DTYPE, "Tensor", "dtype",
                             "number " + std::to_string(static_cast<int>(dtype())),
                             "a constant of DType"));
    int64_t bytes = 0;
    if (__builtin_mul_overflow(count(), static_cast<int64_t>(byte_size(dtype())), &bytes))
      throw_error(make_error(NEREID_SHAPE_MISMATCH, "Tensor", "sizes", view_.shape_text(),
                             "at most 9223372036854775807 bytes"));
    return bytes > 0 ? static_cast<size_t>(bytes) : 1;
  }

  TensorView view_;
  detail::Shared<void> memory_;
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
