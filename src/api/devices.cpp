// SPDX-License-Identifier: MIT
// src/api/devices.cpp: devices, their memory and copies between them, for users without CUDA's own
// headers.
#include <cstdint>
#include <cstring>
#include <new>

#include "api/call.h"
#include "api/memory.h"
#include "base/device.h"
#include "dispatch/device_runtime.h"

namespace nrd {
namespace {

constexpr const char* kCopy = "nereid_copy";

Error device_error(const char* function, std::string got, std::string allowed) {
  return make_error(
      {ErrorCode::kInvalidArgument, function, "device", std::move(got), std::move(allowed), ""});
}

// A device of the C ABI; the CPU has no numbers.
Expected<Device> read_device(const char* function, int32_t device, int32_t index) {
  if (device == NEREID_CPU) return Device{};
  if (device != NEREID_CUDA)
    return device_error(function, fmt::format("device number {}", device), "cpu (0), cuda (1)");
  if (index < 0) return device_error(function, fmt::format("cuda:{}", index), "cuda:0 and up");
  return Device{DeviceKind::kCuda, index};
}

Expected<void> count_devices(int32_t device, int32_t* count) {
  constexpr const char* kFunction = "nereid_device_count";
  if (!count) return null_error("count", "where to put the number", kFunction);
  *count = 0;
  Expected<Device> asked = read_device(kFunction, device, 0);
  if (!asked) return asked.error();
  if (asked->kind == DeviceKind::kCpu) {
    *count = 1;
    return {};
  }
  Expected<DeviceRuntime*> runtime = device_runtime();
  if (!runtime) return runtime.error();
  Expected<int> found = (*runtime)->device_count();
  if (!found) return found.error();
  *count = *found;
  return {};
}

Expected<void> describe(int32_t device, int32_t index, nereid_device_info* info) {
  constexpr const char* kFunction = "nereid_describe_device";
  Expected<Device> asked = read_device(kFunction, device, index);
  if (!asked) return asked.error();
  if (asked->kind == DeviceKind::kCpu) return device_error(kFunction, "cpu", "cuda");
  Expected<DeviceRuntime*> runtime = device_runtime();
  if (!runtime) return runtime.error();
  Expected<DeviceSummary> found = (*runtime)->describe(asked->index);
  if (!found) return found.error();
  thread_local DeviceSummary kept;
  kept = std::move(*found);
  nereid_device_info known{};
  known.multiprocessors = kept.multiprocessors;
  known.name = kept.name.c_str();
  known.major = kept.major;
  known.minor = kept.minor;
  known.memory_bytes = kept.memory_bytes;
  known.l2_bytes = kept.l2_bytes;
  known.isa = kept.isa.c_str();
  known.reason = kept.reason.c_str();
  return write_struct(known, info, "nereid_device_info");
}

Expected<void> allocate(int32_t device, int32_t index, size_t bytes, void** memory) {
  constexpr const char* kFunction = "nereid_device_allocate";
  if (!memory) return null_error("memory", "where to put the address", kFunction);
  *memory = nullptr;
  Expected<Device> asked = read_device(kFunction, device, index);
  if (!asked) return asked.error();
  if (bytes > static_cast<size_t>(PTRDIFF_MAX))
    return make_error({ErrorCode::kInvalidArgument, kFunction, "bytes", fmt::format("{}", bytes),
                       "fewer than 2^63", ""});
  if (asked->kind == DeviceKind::kCpu) {
    *memory = ::operator new (bytes, std::align_val_t{kWorkspaceAlignment}, std::nothrow);
    if (*memory) return {};
    return make_error({ErrorCode::kEnvironment, kFunction, "bytes", fmt::format("{}", bytes),
                       "what the system has left", "out of memory"});
  }
  Expected<DeviceRuntime*> runtime = device_runtime();
  if (!runtime) return runtime.error();
  Expected<void*> made = (*runtime)->allocate(asked->index, bytes);
  if (!made) return made.error();
  *memory = *made;
  return {};
}

Expected<void> release(int32_t device, int32_t index, void* memory) {
  if (!memory) return {};
  Expected<Device> asked = read_device("nereid_device_release", device, index);
  if (!asked) return asked.error();
  if (asked->kind == DeviceKind::kCpu) {
    ::operator delete (memory, std::align_val_t{kWorkspaceAlignment});
    return {};
  }
  Expected<DeviceRuntime*> runtime = device_runtime();
  if (!runtime) return runtime.error();
  (*runtime)->release(asked->index, memory);
  return {};
}

// One side of a copy.
struct Side {
  Device device;
  void* data = nullptr;
  bool read_only = false;
  TensorView view;
};

Expected<Side> read_side(const nereid_tensor* given, const char* name) {
  nereid_tensor tensor{};
  NRD_TRY(read_tensor(given, kCopy, name, tensor));
  Expected<OperandDesc> operand = read_operand(tensor, kCopy, name);
  if (!operand) return operand.error();
  Side side{device_of(tensor), tensor.data, (tensor.flags & NEREID_READ_ONLY) != 0, {}};
  side.view = {tensor.data, operand->dtype, operand->sizes, operand->strides, side.device};
  if (!side.view.is_contiguous())
    return make_error({ErrorCode::kShapeMismatch, kCopy, name,
                       fmt::format("shape {} with strides {}", to_string(operand->sizes),
                                   to_string(operand->strides)),
                       "a contiguous tensor", "inside a device `cast` copies strided ones"});
  if (tensor.data == nullptr && side.view.count() > 0)
    return make_error({ErrorCode::kInvalidArgument, kCopy, name, "a null pointer",
                       fmt::format("{} elements of {}", side.view.count(), word(operand->dtype)),
                       ""});
  return side;
}

Expected<void> check_sides(const Side& from, const Side& to) {
  if (from.view.dtype != to.view.dtype)
    return make_error({ErrorCode::kUnsupportedDtype, kCopy, "to", std::string(word(to.view.dtype)),
                       std::string(word(from.view.dtype)), "`cast` changes the dtype"});
  if (!(from.view.sizes == to.view.sizes))
    return make_error({ErrorCode::kShapeMismatch, kCopy, "to", "shape " + to_string(to.view.sizes),
                       to_string(from.view.sizes), ""});
  if (to.read_only)
    return make_error({ErrorCode::kInvalidArgument, kCopy, "to", "read-only memory",
                       "memory that may be written", ""});
  if (overlap(from.view, to.view))
    return make_error(
        {ErrorCode::kOverlap, kCopy, "to", "memory that overlaps 'from'", "disjoint memory", ""});
  return {};
}

Expected<void> copy(const nereid_tensor* given, const nereid_tensor* target, void* stream,
                    bool wait) {
  Expected<Side> from = read_side(given, "from"), to = read_side(target, "to");
  if (!from) return from.error();
  if (!to) return to.error();
  NRD_TRY(check_sides(*from, *to));
  const size_t bytes = static_cast<size_t>(from->view.count()) * byte_size(from->view.dtype);
  if (bytes == 0) return {};
  const bool to_cpu = to->device.kind == DeviceKind::kCpu;
  if (to_cpu && from->device.kind == DeviceKind::kCpu) {
    std::memcpy(to->data, from->data, bytes);
    return {};
  }
  Expected<DeviceRuntime*> runtime = device_runtime();
  if (!runtime) return runtime.error();
  NRD_TRY((*runtime)->copy(to->data, to->device, from->data, from->device, bytes, stream));
  if (!wait) return {};
  return (*runtime)->wait_for(to_cpu ? from->device.index : to->device.index, stream);
}

Expected<void> synchronize(int32_t device, int32_t index, void* stream) {
  Expected<Device> asked = read_device("nereid_stream_synchronize", device, index);
  if (!asked) return asked.error();
  if (asked->kind == DeviceKind::kCpu) return {};
  Expected<DeviceRuntime*> runtime = device_runtime();
  if (!runtime) return runtime.error();
  return (*runtime)->wait_for(asked->index, stream);
}

}  // namespace
}  // namespace nrd

extern "C" {

nereid_status nereid_device_count(int32_t device, int32_t* count) {
  return nrd::guarded([&] { return nrd::count_devices(device, count); });
}

nereid_status nereid_describe_device(int32_t device, int32_t index, nereid_device_info* info) {
  return nrd::guarded([&] { return nrd::describe(device, index, info); });
}

nereid_status nereid_device_allocate(int32_t device, int32_t index, size_t bytes, void** memory) {
  return nrd::guarded([&] { return nrd::allocate(device, index, bytes, memory); });
}

void nereid_device_release(int32_t device, int32_t index, void* memory) {
  nrd::guarded([&] { return nrd::release(device, index, memory); });
}

nereid_status nereid_copy(const nereid_tensor* from, const nereid_tensor* to) {
  return nrd::guarded([&] { return nrd::copy(from, to, nullptr, true); });
}

nereid_status nereid_copy_on(const nereid_tensor* from, const nereid_tensor* to, void* stream) {
  return nrd::guarded([&] { return nrd::copy(from, to, stream, false); });
}

nereid_status nereid_stream_synchronize(int32_t device, int32_t index, void* stream) {
  return nrd::guarded([&] { return nrd::synchronize(device, index, stream); });
}

}  // extern "C"
