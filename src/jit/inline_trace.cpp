// SPDX-License-Identifier: MIT
// src/jit/inline_trace.cpp: see inline_trace.h.
#include "jit/inline_trace.h"

#include "jit/lowering.h"

namespace nrd::jit {
namespace {

Error refuse(const OpTrace& trace, std::string got) {
  return make_error({.code = ErrorCode::kUnsupported,
                     .op = trace.name,
                     .argument = "epilogue",
                     .got = std::move(got),
                     .allowed = "an elementwise function of f32 arrays"});
}

// At the counter of the only loop, unconditionally.
bool is_plain_access(const OpTrace& trace, const Value& v) {
  const size_t guard = v.op == TraceOp::kLoad ? 1 : 2;
  return trace[v.args[0]].op == TraceOp::kIv && v.args[guard] == kNoValue;
}

}  // namespace

Expected<void> check_inline(const OpTrace& trace, size_t arrays, size_t integers) {
  if (trace.op_class != OpClass::kElementwise || trace.loops.size() != 1) {
    return refuse(trace, "class " + std::string(op_class_word(trace.op_class)));
  }
  size_t read = 0, written = 0, ints = 0;
  for (const TraceParam& param : trace.params) {
    if (param.kind == TraceParamKind::kInt) ints++;
    if (param.kind == TraceParamKind::kNumber && param.dtype != DType::kF32)
      return refuse(trace, "parameter " + param.name);
    if (param.kind != TraceParamKind::kPointer) continue;
    if (param.dtype != DType::kF32 || (param.read && param.written)) {
      return refuse(trace, "array " + param.name);
    }
    read += param.read;
    written += param.written;
  }
  if (read != arrays || written != 1) return refuse(trace, "another number of arrays");
  if (ints != integers) return refuse(trace, "another number of integers");
  size_t stores = 0;
  for (const Value& v : trace.values) {
    const bool is_access = v.op == TraceOp::kLoad || v.op == TraceOp::kStore;
    if (is_access && !is_plain_access(trace, v)) return refuse(trace, "an access elsewhere");
    stores += v.op == TraceOp::kStore;
    const bool takes_index = v.op != TraceOp::kLoad && v.op != TraceOp::kStore &&
                             v.args[0] != kNoValue && trace[v.args[0]].type == TraceType::kI64;
    if (takes_index || v.type == TraceType::kF64)
      return refuse(trace, "an index or f64 as a value");
  }
  if (stores != 1) return refuse(trace, "several stores");
  return {};
}

struct InlineTrace::Parts {
  Parts(Builder& b, const OpTrace& trace, std::vector<int> integers)
      : analysis(trace),
        binding{std::vector<DType>(trace.params.size(), DType::kF32), std::move(integers), false},
        lowering(analysis, binding, b, layout_of(trace), b.lanes()) {}
  Analysis analysis;
  Binding binding;
  Lowering lowering;
};

InlineTrace::InlineTrace(Builder& b, const OpTrace& trace, std::vector<int> integers)
    : parts_(std::make_unique<Parts>(b, trace, std::move(integers))) {}
InlineTrace::~InlineTrace() = default;

Expected<V> InlineTrace::write(std::span<const V> inputs) {
  return parts_->lowering.run_inline(inputs);
}

Expected<V> Lowering::run_inline(std::span<const V> inputs) {
  at_.loop = 0;
  mark_exact_divisions();
  const Mark before = mark();
  std::vector<V> of_param(trace_.params.size());
  size_t next = 0;
  for (size_t p = 0; p < trace_.params.size(); p++) {
    if (trace_.params[p].read) of_param[p] = inputs[next++];
  }
  for (size_t p = 0; p < trace_.params.size(); p++) {
    if (trace_.params[p].kind == TraceParamKind::kNumber) of_param[p] = inputs[next++];
  }
  for (ValueId id = 0; id < trace_.values.size(); id++) {
    const Value& v = trace_[id];
    if (v.op == TraceOp::kParam && of_param[v.index].valid() && a_.is_live(id))
      bind(id, 0, of_param[v.index]);
  }
  V result;
  for (ValueId id : trace_.loops[0].body) {
    if (!a_.is_live(id)) continue;
    const Value& v = trace_[id];
    if (v.op == TraceOp::kLoad) bind(id, 0, of_param[v.index]);
    if (v.op == TraceOp::kStore) result = vector(v.args[1], 0);
  }
  forget(before);
  at_ = {};
  if (refusal_.empty()) return result;
  return make_error({.code = ErrorCode::kUnsupported,
                     .op = trace_.name,
                     .argument = "epilogue",
                     .got = refusal_});
}

}  // namespace nrd::jit
