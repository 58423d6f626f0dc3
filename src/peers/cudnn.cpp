// SPDX-License-Identifier: MIT
// src/peers/cudnn.cpp: cuDNN: softmax by its call, norms by a graph of one operation.
#include <fmt/format.h>

#include <array>
#include <climits>
#include <map>
#include <mutex>
#include <optional>

#include "cuda/launch/streams.h"
#include "peers/cudnn_api.h"
#include "peers/peer_kernel.h"
#include "peers/peers.h"

namespace nrd {
namespace {

using namespace cudnn;

std::optional<int> type_of(DType dtype) {
  if (dtype == DType::kF32) return kFloat;
  if (dtype == DType::kF16) return kHalf;
  if (dtype == DType::kBF16) return kBfloat16;
  return std::nullopt;
}

// The library, and a handle a device, made with what is first prepared there.
struct Cudnn {
  Api api;

  Expected<Handle> handle(int device) const {
    Expected<int> former = cuda::make_current(device);
    if (!former) return former.error();
    const std::lock_guard lock(mutex);
    Handle& handle = handles[device];
    if (handle != nullptr) return handle;
    if (const Status status = api.create(&handle); status != 0)
      return api.failed("cudnnCreate", status);
    return handle;
  }

  mutable std::mutex mutex;
  mutable std::map<int, Handle> handles;
};

// rows x cols of x, contiguous, as cuDNN takes them.
struct Rows {
  int64_t rows = 1, cols = 1;
};
Expected<Rows> rows_of(const Desc& desc) {
  NRD_TRY(accept_plain(desc));
  for (size_t i = 0; i < desc.operands.size(); i++) {
    const OperandDesc& operand = desc.operands[i];
    if (!type_of(operand.dtype))
      return refuse(desc, operand_name(desc, static_cast<int>(i)), std::string(word(operand.dtype)),
                    "f32, f16, bf16");
    if (operand.strides != contiguous_strides(operand.sizes))
      return refuse(desc, operand_name(desc, static_cast<int>(i)),
                    "strides " + to_string(operand.strides), "contiguous memory");
  }
  const OperandDesc& x = desc.operands.front();
  Rows rows{x.sizes[x.sizes.size() - 2], x.sizes.back()};
  if (rows.rows < 1 || rows.cols < 1 || rows.rows > INT_MAX || rows.cols > INT_MAX)
    return refuse(desc, "shape", desc.shape_text(), "sizes from 1 to 2^31 - 1");
  return rows;
}

class PreparedSoftmax final : public PreparedKernel {
 public:
  PreparedSoftmax(const Api& api, Handle handle, void* tensor)
      : api_(api), handle_(handle), tensor_(tensor) {}
  ~PreparedSoftmax() override { api_.tensor_destroy(tensor_); }

  Expected<void> run(const Args& args, void*, const Exec& exec) const override {
    static constexpr float kOne = 1, kZero = 0;
    if (const Status s = api_.set_stream(handle_, static_cast<cuda::Stream>(exec.stream)); s != 0)
      return api_.failed("cudnnSetStream", s);
    const Status status =
        api_.softmax(handle_, kSoftmaxAccurate, kSoftmaxOverInstance, &kOne, tensor_,
                     args.pointers[0], &kZero, tensor_, args.pointers[1]);
    if (status == 0) return {};
    return api_.failed("cudnnSoftmaxForward", status);
  }

 private:
  const Api& api_;
  Handle handle_;
  void* tensor_;
};

class SoftmaxKernel final : public PeerKernel {
 public:
  explicit SoftmaxKernel(const Cudnn& library)
      : PeerKernel("softmax", "cudnnSoftmaxForward"), library_(library) {}

  Expected<void> accepts(const Desc& desc) const override {
    Expected<Rows> rows = rows_of(desc);
    if (!rows) return rows.error();
    if (desc.operands[0].dtype != desc.operands[1].dtype)
      return refuse(desc, "dtype", desc.dtype_text(), "the same for x and out");
    return {};
  }

  Expected<std::unique_ptr<PreparedKernel>> prepare(const Desc& desc,
                                                    std::span<void* const>) const override {
    Expected<Rows> rows = rows_of(desc);
    if (!rows) return rows.error();
    Expected<Handle> handle = library_.handle(desc.device.index);
    if (!handle) return handle.error();
    void* tensor = nullptr;
    if (const Status status = library_.api.tensor_create(&tensor); status != 0)
      return library_.api.failed("cudnnCreateTensorDescriptor", status);
    auto prepared = std::make_unique<PreparedSoftmax>(library_.api, *handle, tensor);
    const Status status =
        library_.api.tensor_set(tensor, kNchw, *type_of(desc.operands[0].dtype),
                                static_cast<int>(rows->rows), static_cast<int>(rows->cols), 1, 1);
    if (status != 0) return library_.api.failed("cudnnSetTensor4dDescriptor", status);
    return std::unique_ptr<PreparedKernel>(std::move(prepared));
  }

 private:
  const Cudnn& library_;
};

class PreparedNorm final : public PreparedKernel {
 public:
  PreparedNorm(std::unique_ptr<NormPlan> plan, bool bias) : plan_(std::move(plan)), bias_(bias) {}
  size_t workspace_bytes() const override { return plan_->workspace_bytes(); }
  Expected<void> run(const Args& args, void* workspace, const Exec& exec) const override {
    void* const* p = args.pointers;
    return plan_->run(p[0], p[1], bias_ ? p[2] : nullptr, p[bias_ ? 3 : 2], workspace,
                      static_cast<cuda::Stream>(exec.stream));
  }

 private:
  std::unique_ptr<NormPlan> plan_;
  bool bias_;
};

class NormKernel final : public PeerKernel {
 public:
  NormKernel(const char* op, int mode, const Cudnn& library)
      : PeerKernel(op, "cudnn norm forward"), mode_(mode), library_(library) {}

  Expected<void> accepts(const Desc& desc) const override {
    Expected<Rows> rows = rows_of(desc);
    if (!rows) return rows.error();
    if (desc.choice("cast") != "after_weight")
      return refuse(desc, "cast", std::string(desc.choice("cast")), "after_weight");
    return {};
  }

  Expected<std::unique_ptr<PreparedKernel>> prepare(const Desc& desc,
                                                    std::span<void* const>) const override {
    Expected<Rows> rows = rows_of(desc);
    if (!rows) return rows.error();
    Expected<Handle> handle = library_.handle(desc.device.index);
    if (!handle) return handle.error();
    const bool bias = mode_ == kLayerNorm;
    const NormRequest request{.mode = mode_,
                              .rows = rows->rows,
                              .cols = rows->cols,
                              .x_type = *type_of(desc.operands[0].dtype),
                              .weight_type = *type_of(desc.operands[1].dtype),
                              .y_type = *type_of(desc.operands.back().dtype),
                              .bias = bias,
                              .epsilon = static_cast<float>(desc.number("eps"))};
    Expected<std::unique_ptr<NormPlan>> plan = make_norm_plan(request, library_.api, *handle);
    if (!plan) return plan.error();
    return std::unique_ptr<PreparedKernel>(std::make_unique<PreparedNorm>(std::move(*plan), bias));
  }

 private:
  int mode_;
  const Cudnn& library_;
};

class CudnnBackend final : public PeerBackend {
 public:
  CudnnBackend() : PeerBackend("cudnn") {}
  bool runs_on(DeviceKind kind) const override { return kind == DeviceKind::kCuda; }

 protected:
  Expected<void> open() override {
    Expected<std::vector<cuda::DeviceInfo>> devices = cuda::list_devices();
    if (!devices) return devices.error();
    constexpr std::array<std::string_view, 1> kNames = {"libcudnn.so.9"};
    Expected<Library> found = Library::open(kNames);
    if (!found) return found.error();
    NRD_TRY(library_.api.resolve(*found));
    const size_t version = library_.api.version();  // 91900 is 9.19.0
    version_ = fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
    kernels_.push_back(std::make_unique<SoftmaxKernel>(library_));
    kernels_.push_back(std::make_unique<NormKernel>("rms_norm", kRmsNorm, library_));
    kernels_.push_back(std::make_unique<NormKernel>("layer_norm", kLayerNorm, library_));
    return {};
  }

 private:
  Cudnn library_;
};

}  // namespace

Error cudnn::Api::failed(const char* call, Status status) const {
  return make_error({.code = ErrorCode::kUnsupported,
                     .argument = call,
                     .got = fmt::format("{} ({})", error_text(status), status)});
}

Expected<void> cudnn::Api::resolve(const Library& library) {
  std::string missing;
  library.require("cudnnCreate", create, missing);
  library.require("cudnnGetVersion", version, missing);
  library.require("cudnnGetErrorString", error_text, missing);
  library.require("cudnnSetStream", set_stream, missing);
  library.require("cudnnCreateTensorDescriptor", tensor_create, missing);
  library.require("cudnnDestroyTensorDescriptor", tensor_destroy, missing);
  library.require("cudnnSetTensor4dDescriptor", tensor_set, missing);
  library.require("cudnnSoftmaxForward", softmax, missing);
  library.require("cudnnBackendCreateDescriptor", descriptor_create, missing);
  library.require("cudnnBackendDestroyDescriptor", descriptor_destroy, missing);
  library.require("cudnnBackendSetAttribute", descriptor_set, missing);
  library.require("cudnnBackendGetAttribute", descriptor_get, missing);
  library.require("cudnnBackendFinalize", descriptor_finalize, missing);
  library.require("cudnnBackendExecute", execute, missing);
  return library.complete(missing);
}

std::unique_ptr<Backend> make_cudnn_backend() { return std::make_unique<CudnnBackend>(); }

}  // namespace nrd
