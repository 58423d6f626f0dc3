// SPDX-License-Identifier: MIT
// src/peers/cudnn_graph.cpp: a norm as a graph of cuDNN's backend API.
#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

#include "peers/cudnn_api.h"

namespace nrd::cudnn {
namespace {

// Names of the tensors in a graph and in the pack of pointers.
enum : int64_t { kX = 1, kWeight, kBias, kEpsilon, kY };
constexpr int64_t kAlignment = 16;
constexpr int64_t kMostConfigs = 8;

// A descriptor of the backend API, gone with its scope.
class Object {
 public:
  Object() = default;
  static Expected<Object> create(const Api& api, int type) {
    Object object;
    object.api_ = &api;
    if (const Status status = api.descriptor_create(type, &object.descriptor_); status != 0)
      return api.failed("cudnnBackendCreateDescriptor", status);
    return object;
  }
  Object(Object&& other) noexcept { *this = std::move(other); }
  Object& operator=(Object&& other) noexcept {
    std::swap(api_, other.api_);
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Object() {
    if (descriptor_ != nullptr) api_->descriptor_destroy(descriptor_);
  }

  Descriptor get() const { return descriptor_; }
  Expected<void> set(int name, int type, int64_t count, const void* elements) const {
    const Status status = api_->descriptor_set(descriptor_, name, type, count, elements);
    if (status == 0) return {};
    Error error = api_->failed("cudnnBackendSetAttribute", status);
    error.got += fmt::format(", attribute {}", name);
    return error;
  }
  template <class T>
  Expected<void> set_one(int name, int type, const T& value) const {
    return set(name, type, 1, &value);
  }
  Expected<void> finalize() const {
    const Status status = api_->descriptor_finalize(descriptor_);
    if (status == 0) return {};
    return api_->failed("cudnnBackendFinalize", status);
  }

 private:
  const Api* api_ = nullptr;
  Descriptor descriptor_ = nullptr;
};

// rows x cols as cuDNN's samples spell it: [rows, cols, 1, 1], channels innermost.
Expected<Object> tensor(const Api& api, int64_t id, int type, int64_t rows, int64_t cols,
                        bool by_value = false) {
  Expected<Object> object = Object::create(api, kTensorDescriptor);
  if (!object) return object;
  const std::array<int64_t, 4> sizes = {rows, cols, 1, 1}, strides = {cols, 1, cols, cols};
  NRD_TRY(object->set_one(kTensorType, kTypeDataType, type));
  NRD_TRY(object->set(kTensorDimensions, kTypeInt64, 4, sizes.data()));
  NRD_TRY(object->set(kTensorStrides, kTypeInt64, 4, strides.data()));
  NRD_TRY(object->set_one(kTensorId, kTypeInt64, id));
  NRD_TRY(object->set_one(kTensorAlignment, kTypeInt64, kAlignment));
  if (by_value) NRD_TRY(object->set_one(kTensorByValue, kTypeBoolean, true));
  NRD_TRY(object->finalize());
  return object;
}

class BackendNormPlan final : public NormPlan {
 public:
  BackendNormPlan(const NormRequest& request, const Api& api, Handle handle)
      : request_(request), api_(api), handle_(handle) {}

  Expected<void> build() {
    NRD_TRY(make_tensors());
    NRD_TRY(make_graph());
    for (int mode : {kHeuristicA, kHeuristicFallback}) {
      Expected<bool> found = find_plan(mode);
      if (!found) return found.error();
      if (*found) return {};
    }
    return make_error(
        {.code = ErrorCode::kUnsupported, .argument = "cuDNN", .got = "no engine for this norm"});
  }

  size_t workspace_bytes() const override { return workspace_bytes_; }

  Expected<void> run(const void* x, const void* weight, const void* bias, void* y, void* workspace,
                     cuda::Stream stream) const override {
    if (const Status status = api_.set_stream(handle_, stream); status != 0)
      return api_.failed("cudnnSetStream", status);
    Expected<Object> pack = Object::create(api_, kVariantPackDescriptor);
    if (!pack) return pack.error();
    std::vector<int64_t> ids = {kX, kWeight, kEpsilon, kY};
    std::vector<const void*> pointers = {x, weight, &request_.epsilon, y};
    if (request_.bias) ids.push_back(kBias), pointers.push_back(bias);
    const auto count = static_cast<int64_t>(ids.size());
    NRD_TRY(pack->set(kPackIds, kTypeInt64, count, ids.data()));
    NRD_TRY(pack->set(kPackPointers, kTypeVoidPointer, count, pointers.data()));
    NRD_TRY(pack->set_one(kPackWorkspace, kTypeVoidPointer, workspace));
    NRD_TRY(pack->finalize());
    if (const Status status = api_.execute(handle_, plan_.get(), pack->get()); status != 0)
      return api_.failed("cudnnBackendExecute", status);
    return {};
  }

 private:
  Expected<void> add_tensor(Expected<Object> made) {
    if (!made) return made.error();
    tensors_.push_back(std::move(*made));
    return {};
  }

  Expected<void> make_tensors() {
    const NormRequest& r = request_;
    NRD_TRY(add_tensor(tensor(api_, kX, r.x_type, r.rows, r.cols)));
    NRD_TRY(add_tensor(tensor(api_, kWeight, r.weight_type, 1, r.cols)));
    NRD_TRY(add_tensor(tensor(api_, kEpsilon, kFloat, 1, 1, true)));
    NRD_TRY(add_tensor(tensor(api_, kY, r.y_type, r.rows, r.cols)));
    if (!r.bias) return {};
    return add_tensor(tensor(api_, kBias, r.weight_type, 1, r.cols));
  }

  Expected<void> make_graph() {
    Expected<Object> norm = Object::create(api_, kNormForwardDescriptor);
    if (!norm) return norm.error();
    NRD_TRY(norm->set_one(kNormMode, kTypeNormMode, request_.mode));
    NRD_TRY(norm->set_one(kNormPhase, kTypeNormPhase, kInference));
    const int attributes[] = {kNormX, kNormScale, kNormEpsilon, kNormY, kNormBias};
    for (size_t i = 0; i < tensors_.size(); i++)
      NRD_TRY(norm->set_one(attributes[i], kTypeDescriptor, tensors_[i].get()));
    NRD_TRY(norm->finalize());
    norm_ = std::move(*norm);
    Expected<Object> graph = Object::create(api_, kGraphDescriptor);
    if (!graph) return graph.error();
    set_handle(*graph, kGraphHandle);
    NRD_TRY(graph->set_one(kGraphOperations, kTypeDescriptor, norm_.get()));
    NRD_TRY(graph->finalize());
    graph_ = std::move(*graph);
    return {};
  }

  // Deprecated in 9: versions that need no handle may refuse it.
  void set_handle(const Object& object, int name) const {
    const Expected<void> ignored = object.set_one(name, kTypeHandle, handle_);
    (void)ignored;
  }

  // The first configuration of the library's ranking that becomes a plan.
  Expected<bool> find_plan(int mode) {
    Expected<Object> heuristic = Object::create(api_, kHeuristicDescriptor);
    if (!heuristic) return heuristic.error();
    NRD_TRY(heuristic->set_one(kHeuristicGraph, kTypeDescriptor, graph_.get()));
    NRD_TRY(heuristic->set_one(kHeuristicMode, kTypeHeuristicMode, mode));
    if (!heuristic->finalize()) return false;
    std::vector<Object> configs;
    std::vector<Descriptor> raw;
    for (int64_t i = 0; i < kMostConfigs; i++) {
      Expected<Object> config = Object::create(api_, kEngineConfigDescriptor);
      if (!config) return config.error();
      raw.push_back(config->get());
      configs.push_back(std::move(*config));
    }
    int64_t returned = 0;
    if (api_.descriptor_get(heuristic->get(), kHeuristicResults, kTypeDescriptor, kMostConfigs,
                            &returned, raw.data()) != 0)
      return false;
    for (int64_t i = 0; i < returned && i < kMostConfigs; i++) {
      Expected<Object> plan = Object::create(api_, kPlanDescriptor);
      if (!plan) return plan.error();
      set_handle(*plan, kPlanHandle);
      if (!plan->set_one(kPlanConfig, kTypeDescriptor, raw[static_cast<size_t>(i)]) ||
          !plan->finalize())
        continue;
      int64_t bytes = 0, count = 0;
      if (api_.descriptor_get(plan->get(), kPlanWorkspace, kTypeInt64, 1, &count, &bytes) != 0)
        continue;
      workspace_bytes_ = static_cast<size_t>(bytes);
      config_ = std::move(configs[static_cast<size_t>(i)]);
      plan_ = std::move(*plan);
      return true;
    }
    return false;
  }

  NormRequest request_;
  const Api& api_;
  Handle handle_;
  std::vector<Object> tensors_;  // x, weight, epsilon, y, bias
  Object norm_, graph_, config_, plan_;
  size_t workspace_bytes_ = 0;
};

}  // namespace

Expected<std::unique_ptr<NormPlan>> make_norm_plan(const NormRequest& request, const Api& api,
                                                   Handle handle) {
  auto plan = std::make_unique<BackendNormPlan>(request, api, handle);
  NRD_TRY(plan->build());
  return std::unique_ptr<NormPlan>(std::move(plan));
}

}  // namespace nrd::cudnn
