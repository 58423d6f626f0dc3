// SPDX-License-Identifier: MIT
// nereid/call.h: any operator by its name: run it, ask for its shapes, prepare it for many runs.
#pragma once

#include <array>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "nereid/choice.h"
#include "nereid/context.h"
#include "nereid/tensor.h"

namespace nereid {

// What every call takes besides its own options.
struct CallOptions {
  const char* backend = nullptr;     // null: use_backend's, else the context's
  int threads = 0;                   // 0: the context's
  const Context* context = nullptr;  // null: the default one
  void* stream = nullptr;  // CUDA operands: the CUstream it runs in; null: the default one
};

// An output as it would be: see Call::infer.
struct Shape {
  std::string name;
  DType dtype = DType::f32;
  std::vector<int64_t> sizes;
  bool present = true;  // false: an optional output that was not asked for
};

constexpr size_t kMostOperands = 16;  // of a call

// A call prepared for its dtypes, shapes and strides. Several threads may run it at once.
class Plan {
 public:
  // A pointer an operand, in the order they were given; null for constant and absent ones.
  // `workspace`: workspace_bytes() of yours, aligned to 64 (on a CUDA device to 256), or null for
  // memory of the context's.
  void run(std::initializer_list<void*> data, void* workspace = nullptr, int threads = 0) const {
    run(std::span<void* const>(data.begin(), data.size()), workspace, threads);
  }
  void run(std::span<void* const> data, void* workspace = nullptr, int threads = 0) const {
    check(nereid_plan_run(handle_.get(), data.data(), static_cast<int32_t>(data.size()), workspace,
                          workspace ? workspace_bytes() : 0, threads));
  }
  // The same where inputs are const memory; for an output that is an error.
  void run(std::initializer_list<Address> data, void* workspace = nullptr, int threads = 0) const {
    run(pointers(data), workspace, threads);
  }
  // CUDA operands, in a stream of their device.
  void run_on(void* stream, std::initializer_list<void*> data, void* workspace = nullptr) const {
    run_on(stream, std::span<void* const>(data.begin(), data.size()), workspace);
  }
  void run_on(void* stream, std::initializer_list<Address> data, void* workspace = nullptr) const {
    run_on(stream, pointers(data), workspace);
  }
  void run_on(void* stream, std::span<void* const> data, void* workspace = nullptr) const {
    check(nereid_plan_run_on(handle_.get(), data.data(), static_cast<int32_t>(data.size()),
                             workspace, workspace ? workspace_bytes() : 0, stream));
  }
  size_t workspace_bytes() const { return nereid_plan_workspace(handle_.get()); }
  // Backend, kernel and notes; its strings live as long as the plan.
  nereid_plan_info info() const {
    nereid_plan_info info{};
    info.struct_size = sizeof info;
    check(nereid_describe_plan(handle_.get(), &info));
    return info;
  }

 private:
  friend class Call;
  Plan(nereid_plan* plan, uint32_t outputs) : handle_(plan), outputs_(outputs) {}

  // The pointers as they are run, once none of them is a const one to an output.
  struct Pointers {
    void* data[kMostOperands];
    size_t count;
    operator std::span<void* const>() const { return {data, count}; }  // NOLINT: implicit
  };
  Pointers pointers(std::span<const Address> given) const {
    if (given.size() > kMostOperands) refuse("pointers", "more than 16", "at most 16");
    Pointers all{{}, given.size()};
    for (size_t i = 0; i < given.size(); i++) {
      all.data[i] = given[i].data();
      if (given[i].read_only() && (outputs_ >> i & 1) != 0)
        refuse("pointer " + std::to_string(i), "const memory",
               "memory that can be written, as this operand is an output");
    }
    return all;
  }
  [[noreturn]] static void refuse(std::string argument, const char* got, const char* allowed) {
    throw_error(
        make_error(NEREID_INVALID_ARGUMENT, "Plan::run", std::move(argument), got, allowed));
  }

  detail::Handle<nereid_plan, nereid_plan_destroy> handle_;
  uint32_t outputs_;  // a bit for each operand
};

// An operator with its operands and attributes. Holds no memory of its own: names and views must
// live as long as it does. Errors: see the operator; each names operator, argument and remedy.
class Call {
 public:
  explicit Call(const char* op, const CallOptions& options = {}) : op_(op), options_(options) {}

  // Absent views are left out.
  Call& operand(const char* name, const TensorView& view, bool constant = false) {
    if (!view) return *this;
    if (operand_count_ == kMost) fail("operands");
    nereid_tensor& tensor = tensors_[operand_count_] = view.c();
    if (constant) tensor.flags |= NEREID_CONSTANT;
    operands_[operand_count_] = {name, &tensor};
    operand_count_++;
    return *this;
  }
  Call& operand(const char* name, TensorView&& view, bool constant = false) = delete;
  // Its content stays as it is while a plan of this call lives, so that it can be packed.
  Call& constant(const char* name, const TensorView& view) { return operand(name, view, true); }

  Call& attribute(const char* name, double number) { return add({name, nullptr, number}); }
  template <class I>
  requires(std::is_integral_v<I> && !std::is_same_v<I, bool>) Call& attribute(const char* name,
                                                                              I number) {
    return attribute(name, static_cast<double>(number));
  }
  Call& attribute(const char* name, const char* word) { return add({name, word, 0}); }
  template <class E>
  requires(ChoiceEnum<E> || std::is_same_v<E, bool>) Call& attribute(const char* name, E choice) {
    return attribute(name, word(choice));
  }
  template <class E>
  Call& attribute(const char* name, const Choice<E>& choice) {
    return attribute(name, choice.word());
  }

  // Runs it once. The first run with new shapes prepares a plan, which the context keeps.
  void run() const { check(run_status()); }
  Expected<void> try_run() const {
    if (run_status() == NEREID_OK) return {};
    return last_error();
  }

  // Checks the call and returns its outputs, given or not. Data is not looked at.
  std::vector<Shape> infer() const {
    std::array<nereid_shape, kMost> shapes{};
    shapes[0].struct_size = sizeof(nereid_shape);
    int32_t count = 0;
    const nereid_call call = c();
    check(nereid_infer(handle_of(options_.context), &call, shapes.data(), kMost, &count));
    std::vector<Shape> list;
    for (int32_t i = 0; i < count; i++) {
      const nereid_shape& s = shapes[static_cast<size_t>(i)];
      list.push_back(
          {s.name, static_cast<DType>(s.dtype), {s.sizes, s.sizes + s.rank}, s.present != 0});
    }
    return list;
  }

  Plan prepare() const {
    nereid_plan* plan = nullptr;
    const nereid_call call = c();
    check(nereid_prepare(handle_of(options_.context), &call, &plan));
    return Plan(plan, outputs());
  }

  // Every kernel for this call, one line each: chosen, accepted or refused, and why.
  std::string explain() const {
    const char* text = nullptr;
    const nereid_call call = c();
    check(nereid_explain(handle_of(options_.context), &call, &text));
    return text;
  }

  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

 private:
  static constexpr int kMost = static_cast<int>(kMostOperands);

  nereid_call c() const {
    return {sizeof(nereid_call), options_.threads,   op_,
            operands_.data(),    attributes_.data(), operand_count_,
            attribute_count_,    options_.backend,   nullptr,
            options_.stream};
  }
  nereid_status run_status() const {
    const nereid_call call = c();
    return nereid_run(handle_of(options_.context), &call);
  }
  uint32_t outputs() const {
    uint32_t bits = 0;
    for (const Shape& output : infer())
      for (int i = 0; i < operand_count_; i++)
        if (output.name == operands_[static_cast<size_t>(i)].name) bits |= uint32_t{1} << i;
    return bits;
  }
  Call& add(const nereid_attribute& attribute) {
    if (attribute_count_ == kMost) fail("attributes");
    attributes_[attribute_count_++] = attribute;
    return *this;
  }
  [[noreturn]] void fail(const char* what) const {
    throw_error(make_error(NEREID_INVALID_ARGUMENT, op_, what, "more than 16", "at most 16"));
  }

  const char* op_;
  CallOptions options_;
  int operand_count_ = 0;
  int attribute_count_ = 0;
  std::array<nereid_tensor, kMost> tensors_;
  std::array<nereid_operand, kMost> operands_;
  std::array<nereid_attribute, kMost> attributes_;
};

namespace detail {

// The names of an operator's calls, looked up once in the life of the program.
class Names {
 public:
  Names(const char* op, std::initializer_list<const char*> operands,
        std::initializer_list<const char*> attributes = {}) {
    check(nereid_keep_names(op, operands.begin(), static_cast<int32_t>(operands.size()),
                            attributes.begin(), static_cast<int32_t>(attributes.size()), &names_));
  }
  const nereid_names* get() const { return names_; }

 private:
  const nereid_names* names_ = nullptr;
};

inline nereid_attribute value(double number) { return {nullptr, nullptr, number}; }
template <class E>
nereid_attribute value(const Choice<E>& choice) {
  return {nullptr, choice.word(), 0};
}

// Operands and attributes in the order of the names; absent views keep their place.
template <size_t kOperands>
void run(const Names& names, const CallOptions& options,
         const TensorView* const (&views)[kOperands],
         std::span<const nereid_attribute> attributes = {}) {
  nereid_tensor tensors[kOperands];
  nereid_operand operands[kOperands];
  for (size_t i = 0; i < kOperands; i++) {
    tensors[i] = views[i]->c();
    operands[i] = {nullptr, *views[i] ? &tensors[i] : nullptr};
  }
  const nereid_call call{sizeof(nereid_call),
                         options.threads,
                         nullptr,
                         operands,
                         attributes.data(),
                         static_cast<int32_t>(kOperands),
                         static_cast<int32_t>(attributes.size()),
                         options.backend,
                         names.get(),
                         options.stream};
  check(nereid_run(handle_of(options.context), &call));
}

}  // namespace detail
}  // namespace nereid
