// SPDX-License-Identifier: MIT
// src/peers/onednn_primitive.cpp: primitives by thread count, and their memory.
#include "peers/onednn_primitive.h"

#include <fmt/format.h>

namespace nrd {
namespace {

using Memories = std::vector<DnnlMemoryOwner>;  // as the plan's arguments, then the scratchpad

DnnlMemoryOwner make_memory(const OneDnn& dnn, const DnnlMemoryDesc* md, void* data) {
  DnnlMemory* memory = nullptr;
  if (dnn.memory_create(&memory, md, dnn.engine, data) != kDnnlSuccess) memory = nullptr;
  return DnnlMemoryOwner(memory, {dnn.memory_destroy});
}

// One primitive. Its memory objects hold pointers, so one run at a time may use them; another one
// makes its own.
struct Instance {
  DnnlPrimitiveDescOwner description;
  DnnlPrimitiveOwner primitive;
  size_t scratchpad_bytes = 0;
  mutable Memories memories;
  mutable std::atomic_flag busy;

  const DnnlMemoryDesc* scratchpad(const OneDnn& dnn) const {
    return dnn.primitive_desc_query_md(description.get(), kDnnlQueryScratchpad, 0);
  }
};

class PreparedPrimitive final : public PreparedKernel {
 public:
  PreparedPrimitive(const OneDnn& dnn, const Desc& desc, DnnlPlan plan, int most_threads)
      : dnn_(dnn),
        desc_(desc),
        plan_(std::move(plan)),
        instances_(static_cast<size_t>(most_threads) + 1) {}
  ~PreparedPrimitive() override {
    for (auto& slot : instances_) delete slot.load();
  }

  Expected<void> build_first() {
    const int most = static_cast<int>(instances_.size()) - 1;
    for (int threads : {1, most}) {
      Expected<const Instance*> instance = at(threads);
      if (!instance) return instance.error();
      workspace_bytes_ = std::max(workspace_bytes_, (*instance)->scratchpad_bytes);
    }
    const char* text = "";
    dnn_.primitive_desc_query(instances_.back().load()->description.get(), kDnnlQueryImplementation,
                              0, &text);
    note_ = joined(joined(plan_.note, text), dnn_.note);
    return {};
  }

  size_t workspace_bytes() const override { return workspace_bytes_; }
  std::string note() const override { return note_; }
  Expected<void> run(const Args& args, void* workspace, const Exec& exec) const override {
    Expected<const Instance*> found = at(exec.threads);
    if (!found) return found.error();
    const Instance& instance = **found;
    if (instance.scratchpad_bytes > workspace_bytes_)
      return refuse(desc_, "threads", std::to_string(exec.threads), "1 or all cores");
    dnn_.set_threads(exec.threads);
    if (instance.busy.test_and_set(std::memory_order_acquire)) {
      Memories own = make_memories(instance);
      return execute(instance, own, args, workspace);
    }
    Expected<void> done = execute(instance, instance.memories, args, workspace);
    instance.busy.clear(std::memory_order_release);
    return done;
  }

 private:
  static constexpr size_t kMostArguments = 6;

  Expected<const Instance*> at(int threads) const {
    if (threads < 1 || static_cast<size_t>(threads) >= instances_.size())
      return refuse(desc_, "threads", std::to_string(threads),
                    fmt::format("1 to {}", instances_.size() - 1));
    std::atomic<const Instance*>& slot = instances_[static_cast<size_t>(threads)];
    if (const Instance* known = slot.load(std::memory_order_acquire)) return known;
    Expected<std::unique_ptr<Instance>> built = build(threads);
    if (!built) return built.error();
    const Instance* expected = nullptr;
    if (!slot.compare_exchange_strong(expected, built->get())) return expected;
    return static_cast<const Instance*>(built->release());
  }

  Expected<std::unique_ptr<Instance>> build(int threads) const {
    dnn_.set_threads(threads);
    auto instance = std::make_unique<Instance>();
    int status = kDnnlSuccess;
    instance->description = dnnl_described(dnn_, plan_.describe, status);
    if (status != kDnnlSuccess) return dnnl_error(dnn_, desc_, status);
    DnnlPrimitive* primitive = nullptr;
    status = dnn_.primitive_create(&primitive, instance->description.get());
    if (status != kDnnlSuccess) return dnnl_error(dnn_, desc_, status);
    instance->primitive = DnnlPrimitiveOwner(primitive, {dnn_.primitive_destroy});
    instance->scratchpad_bytes = dnn_.memory_desc_get_size(instance->scratchpad(dnn_));
    instance->memories = make_memories(*instance);
    return instance;
  }

  Memories make_memories(const Instance& instance) const {
    Memories memories;
    for (const DnnlArgument& a : plan_.arguments)
      memories.push_back(make_memory(dnn_, a.layout.get(), a.owned.get()));
    memories.push_back(make_memory(dnn_, instance.scratchpad(dnn_), nullptr));
    return memories;
  }

  Expected<void> execute(const Instance& instance, const Memories& memories, const Args& args,
                         void* workspace) const {
    DnnlExecArg list[kMostArguments];
    int count = 0;
    for (const DnnlArgument& a : plan_.arguments) {
      DnnlMemory* memory = memories[static_cast<size_t>(count)].get();
      if (!a.owned) dnn_.memory_set_data_handle(memory, args.pointers[a.operand]);
      list[count++] = {a.arg, memory};
    }
    if (instance.scratchpad_bytes > 0) {
      dnn_.memory_set_data_handle(memories.back().get(), workspace);
      list[count++] = {kDnnlArgScratchpad, memories.back().get()};
    }
    int status = dnn_.primitive_execute(instance.primitive.get(), dnn_.stream, count, list);
    if (status == kDnnlSuccess) status = dnn_.stream_wait(dnn_.stream);
    if (status != kDnnlSuccess) return dnnl_error(dnn_, desc_, status);
    return {};
  }

  const OneDnn& dnn_;
  Desc desc_;
  DnnlPlan plan_;
  mutable std::vector<std::atomic<const Instance*>> instances_;  // by thread count
  size_t workspace_bytes_ = 0;
  std::string note_;
};

std::shared_ptr<DnnlMemoryDesc> shared(const OneDnn& dnn, DnnlMemoryDesc* md) {
  return {md, [destroy = dnn.memory_desc_destroy](DnnlMemoryDesc* p) {
            if (p != nullptr) destroy(p);
          }};
}

}  // namespace

DnnlPrimitiveDescOwner dnnl_described(const OneDnn& dnn, const DnnlDescribe& describe,
                                      int& status) {
  DnnlPrimitiveDesc* description = nullptr;
  status = describe(&description);
  if (status != kDnnlSuccess) description = nullptr;
  return DnnlPrimitiveDescOwner(description, {dnn.primitive_desc_destroy});
}

Error dnnl_error(const OneDnn& dnn, const Desc& desc, int status) {
  const std::string who = "oneDNN " + dnn.version_text;
  if (status == kDnnlUnimplemented || status == kDnnlInvalid)
    return refuse(desc, who, fmt::format("{} {}", desc.shape_text(), desc.dtype_text()),
                  "what it implements on this CPU");
  return make_error(
      {.code = ErrorCode::kEnvironment,
       .op = desc.op->name,
       .argument = who,
       .got = status == kDnnlOutOfMemory ? "no memory" : fmt::format("status {}", status),
       .allowed = {},
       .hint = {}});
}

Expected<void> dnnl_accepts(const OneDnn& dnn, const Desc& desc, const DnnlDescribe& describe) {
  int status = kDnnlSuccess;
  dnnl_described(dnn, describe, status);
  if (status != kDnnlSuccess) return dnnl_error(dnn, desc, status);
  return {};
}

Expected<std::unique_ptr<PreparedKernel>> dnnl_prepare(const OneDnn& dnn, const Desc& desc,
                                                       DnnlPlan plan) {
  const int most = dnn.omp_set_num_threads == nullptr ? 1 : available_cores();
  auto prepared = std::make_unique<PreparedPrimitive>(dnn, desc, std::move(plan), most);
  NRD_TRY(prepared->build_first());
  return std::unique_ptr<PreparedKernel>(std::move(prepared));
}

std::shared_ptr<DnnlMemoryDesc> dnnl_layout(const OneDnn& dnn, const OperandDesc& operand,
                                            int axes) {
  DnnlDims sizes, strides;
  const int first = operand.sizes.size() - axes;
  for (int i = 0; i < axes; i++) {
    sizes[i] = operand.sizes[first + i];
    // The stride of an axis of size 1 has no meaning; oneDNN takes it for a layout all the same.
    int64_t natural = 1;
    for (int j = i + 1; j < axes; j++) natural *= operand.sizes[first + j];
    strides[i] = sizes[i] == 1 ? natural : operand.strides[first + i];
  }
  DnnlMemoryDesc* md = nullptr;
  if (dnn.memory_desc_create_with_strides(&md, axes, sizes, dnnl_dtype(operand.dtype), strides) !=
      kDnnlSuccess)
    return nullptr;
  return shared(dnn, md);
}

std::shared_ptr<DnnlMemoryDesc> dnnl_any_layout(const OneDnn& dnn, const OperandDesc& operand,
                                                int axes) {
  DnnlDims sizes;
  for (int i = 0; i < axes; i++) sizes[i] = operand.sizes[operand.sizes.size() - axes + i];
  DnnlMemoryDesc* md = nullptr;
  if (dnn.memory_desc_create_with_tag(&md, axes, sizes, dnnl_dtype(operand.dtype),
                                      kDnnlFormatAny) != kDnnlSuccess)
    return nullptr;
  return shared(dnn, md);
}

std::shared_ptr<DnnlMemoryDesc> dnnl_copy_layout(const OneDnn& dnn, const DnnlMemoryDesc* md) {
  DnnlMemoryDesc* copy = nullptr;
  if (dnn.memory_desc_clone(&copy, md) != kDnnlSuccess) return nullptr;
  return shared(dnn, copy);
}

int dnnl_reorder(const OneDnn& dnn, const DnnlMemoryDesc* from, const void* data,
                 const DnnlMemoryDesc* to, std::shared_ptr<void>& out) {
  auto describe = [&](DnnlPrimitiveDesc** description) {
    return dnn.reorder_primitive_desc_create(description, from, dnn.engine, to, dnn.engine,
                                             nullptr);
  };
  int status = kDnnlSuccess;
  DnnlPrimitiveDescOwner description = dnnl_described(dnn, describe, status);
  if (status != kDnnlSuccess) return status;
  DnnlPrimitive* primitive = nullptr;
  status = dnn.primitive_create(&primitive, description.get());
  if (status != kDnnlSuccess) return status;
  DnnlPrimitiveOwner owner(primitive, {dnn.primitive_destroy});
  out = aligned_memory(dnn.memory_desc_get_size(to));
  if (!out) return kDnnlOutOfMemory;
  DnnlMemoryOwner source = make_memory(dnn, from, const_cast<void*>(data));
  DnnlMemoryOwner target = make_memory(dnn, to, out.get());
  const DnnlExecArg list[] = {{kDnnlArgFrom, source.get()}, {kDnnlArgTo, target.get()}};
  status = dnn.primitive_execute(primitive, dnn.stream, 2, list);
  return status == kDnnlSuccess ? dnn.stream_wait(dnn.stream) : status;
}

}  // namespace nrd
