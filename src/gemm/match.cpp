// SPDX-License-Identifier: MIT
// src/gemm/match.cpp: a graph that is one product with steps on its result becomes an epilogue.
//
// Steps are known by what their traces compute, not by names: one sum or product of the value and
// another operand is a step of its own, any other elementwise trace is written onto the
// accumulators as it is (jit/inline_trace.h).
#include <fmt/format.h>

#include <algorithm>

#include "gemm/describe.h"

namespace nrd {
namespace {

using gemm::OperandShape;
using gemm::Step;
using gemm::StepKind;

// The strides of one node's operand along the axes of the node's output: rows, columns, and what
// lies in front of them. 0 where it has no such axis.
Dims strides_along_output(const Desc& node, size_t operand, size_t output) {
  const Signature& s = node.signature();
  const auto &from = s.operands[operand].axes, &to = s.operands[output].axes;
  const OperandDesc &own = node.operands[operand], &out = node.operands[output];
  Dims strides;
  for (int d = 0; d < out.sizes.size(); d++) strides.push_back(0);
  const int out_core = static_cast<int>(to.size()), own_core = static_cast<int>(from.size());
  const int out_leading = out.sizes.size() - out_core, own_leading = own.sizes.size() - own_core;
  for (int d = 0; d < own_leading; d++) {
    const int at = out_leading - own_leading + d;
    if (at >= 0 && own.sizes[d] != 1) strides[at] = own.strides[d];
  }
  for (int axis = 0; axis < own_core; axis++) {
    for (int at = 0; at < out_core; at++) {
      if (to[static_cast<size_t>(at)].axis == from[static_cast<size_t>(axis)].axis)
        strides[out_leading + at] = own.strides[own_leading + axis];
    }
  }
  return strides;
}

// The one operation of a trace that does no more than combine two of its inputs; nothing otherwise.
// Inputs are its arrays, read where it writes or at their first element, and its numbers.
std::optional<StepKind> as_sum_or_product(const OpTrace& trace) {
  std::optional<StepKind> kind;
  size_t inputs = 0;
  for (const TraceParam& p : trace.params)
    inputs += p.read || p.kind == TraceParamKind::kNumber ? 1 : 0;
  if (inputs != 2 || trace.loops.size() != 1) return {};
  const auto is_input = [&](ValueId id) {
    const Value& v = trace[id];
    if (v.op == TraceOp::kParam) return trace.params[v.index].kind == TraceParamKind::kNumber;
    if (v.op != TraceOp::kLoad || v.args[1] != kNoValue) return false;
    const Value& at = trace[v.args[0]];
    return at.op == TraceOp::kIv || (at.op == TraceOp::kConst && at.bits == 0);
  };
  for (const Value& v : trace.values) {
    if (v.type == TraceType::kF32 && (v.op == TraceOp::kAdd || v.op == TraceOp::kMul)) {
      if (kind || !is_input(v.args[0]) || !is_input(v.args[1]) || v.args[0] == v.args[1]) return {};
      kind = v.op == TraceOp::kAdd ? StepKind::kAdd : StepKind::kMultiply;
    } else if (v.op == TraceOp::kStore) {
      if (trace[v.args[0]].op != TraceOp::kIv || v.args[2] != kNoValue) return {};
    } else if (v.op != TraceOp::kLoad && v.op != TraceOp::kIv && v.op != TraceOp::kParam &&
               v.op != TraceOp::kConst && v.op != TraceOp::kLoop) {
      return {};
    }
  }
  return kind;
}

class Matcher {
 public:
  Matcher(const Graph& graph, TraceSource traces) : graph_(graph), traces_(traces) {}

  Expected<DescribedProduct> match(Numerics numerics) {
    if (graph_.nodes.empty()) return refuse(graph_.desc, "an empty graph");
    const Node& product = graph_.nodes.front();
    if (product.desc.op->name != "gemm" && product.desc.op->name != "gemm_prepacked")
      return refuse(product.desc, "a graph that does not begin with a product");
    d_ = describe_product(product.desc, numerics);
    value_ = product.values[static_cast<size_t>(d_.at.c)];
    d_.at.a = operand_of(product.values[static_cast<size_t>(d_.at.a)]);
    d_.at.b = operand_of(product.values[static_cast<size_t>(d_.at.b)]);
    if (d_.at.a < 0 || d_.at.b < 0) return refuse(product.desc, "a factor that the graph computes");
    for (size_t i = 1; i < graph_.nodes.size(); i++) NRD_TRY(add_step(graph_.nodes[i]));
    return finish();
  }

 private:
  Error refuse(const Desc& node, std::string got) const {
    return make_error({.code = ErrorCode::kUnsupported,
                       .op = graph_.desc.op->name,
                       .argument = "step " + node.op->name,
                       .got = std::move(got),
                       .allowed = "elementwise steps on the result of one product"});
  }

  const GraphValue& value(GraphValueId id) const { return graph_.values[static_cast<size_t>(id)]; }
  int operand_of(GraphValueId id) const { return value(id).operand; }

  Expected<void> add_step(const Node& node) {
    const Signature& s = node.desc.signature();
    const auto output = static_cast<size_t>(s.inputs);
    if (s.operands.size() != output + 1) return refuse(node.desc, "several outputs");
    if (value(value_).rounded) return refuse(node.desc, "a value that is rounded in between");
    const OpTrace* trace = traces_(node.desc);
    if (!trace) return refuse(node.desc, "a function that is not understood");
    if (!(node.desc.operands[output].sizes == value(value_).sizes))
      return refuse(node.desc, "another shape than the product's");
    std::vector<int> inputs;
    for (size_t i = 0; i < output; i++) {
      if (!node.desc.operands[i].present) continue;
      Expected<int> input = add_input(node, i, output);
      if (!input) return input.error();
      inputs.push_back(*input);
    }
    if (std::count(inputs.begin(), inputs.end(), Step::kValue) != 1)
      return refuse(node.desc, "a step that takes the value before it not just once");
    for (double number : node.desc.numbers) {
      d_.at.epilogue.push_back({-1, static_cast<float>(number)});
      inputs.push_back(d_.batch.product.epilogue.add_operand({}));
    }
    add(*trace, std::move(inputs), node.desc.types);
    value_ = node.values[output];
    return {};
  }

  void add(const OpTrace& trace, std::vector<int> inputs, std::vector<int> integers) {
    Step step;
    if (const std::optional<StepKind> kind = as_sum_or_product(trace); kind && inputs.size() == 2) {
      step.kind = *kind;
      step.x = inputs[0] == Step::kValue ? inputs[1] : inputs[0];
    } else {
      step.kind = StepKind::kApply;
      step.trace = &trace;
      step.inputs = std::move(inputs);
      step.integers = std::move(integers);
    }
    d_.batch.product.epilogue.steps.push_back(std::move(step));
  }

  // The value, or an operand of the composite, which becomes one of the epilogue.
  Expected<int> add_input(const Node& node, size_t i, size_t output) {
    const GraphValueId id = node.values[i];
    const OperandDesc& operand = node.desc.operands[i];
    if (id == value_) return Step::kValue;
    if (operand_of(id) < 0) return refuse(node.desc, "a value that is not the one before it");
    if (operand.form) return refuse(node.desc, operand.form->text());
    Dims strides = strides_along_output(node.desc, i, output);
    const int axes = strides.size();
    const Dims& sizes = node.desc.operands[output].sizes;
    const int64_t row = strides[axes - 2], column = strides[axes - 1];
    const bool has_rows = row != 0 && sizes[axes - 2] > 1;
    const bool has_columns = column != 0 && sizes[axes - 1] > 1;
    const OperandShape shape = has_rows ? has_columns ? OperandShape::kMatrix : OperandShape::kRows
                               : has_columns ? OperandShape::kColumns
                                             : OperandShape::kNumber;
    gemm::BatchDesc& batch = d_.batch;
    const int number =
        batch.product.epilogue.add_operand({shape, operand.dtype, !has_columns || column == 1});
    if (number >= gemm::kEpilogueOperands) return refuse(node.desc, "an operand too many");
    d_.at.epilogue.push_back({operand_of(id), 0});
    const auto bytes = static_cast<int64_t>(byte_size(operand.dtype));
    gemm::OperandMemory& memory = batch.operands[static_cast<size_t>(number)];
    if (has_rows) memory.row = row * bytes;
    if (has_columns) memory.column = column * bytes;
    Dims& steps = batch.steps[gemm::kFirstOperand + static_cast<size_t>(number)];
    for (int d = 0; d + 2 < axes; d++) steps.push_back(strides[d] * bytes);
    return number;
  }

  // What the last step writes is c.
  Expected<DescribedProduct> finish() {
    const GraphValue& last = value(value_);
    if (last.operand < 0) return refuse(graph_.desc, "a result that is no output");
    const OperandDesc& c = graph_.desc.operands[static_cast<size_t>(last.operand)];
    gemm::ProductDesc& product = d_.batch.product;
    const int axes = c.sizes.size();
    const auto bytes = static_cast<int64_t>(byte_size(c.dtype));
    product.epilogue.out = c.dtype;
    product.c_row = c.strides[axes - 2], product.c_column = c.strides[axes - 1];
    d_.at.c = last.operand;
    Dims& steps = d_.batch.steps[2];
    steps = {};
    for (int d = 0; d + 2 < axes; d++) steps.push_back(c.sizes[d] == 1 ? 0 : c.strides[d] * bytes);
    return std::move(d_);
  }

  const Graph& graph_;
  TraceSource traces_;
  DescribedProduct d_;
  GraphValueId value_{-1};  // of the product and the steps so far
};

}  // namespace

Expected<DescribedProduct> match_product(const Graph& graph, Numerics numerics,
                                         TraceSource traces) {
  return Matcher(graph, traces).match(numerics);
}

}  // namespace nrd
