// SPDX-License-Identifier: MIT
// src/graph/graph.h: the text of a composite, and the graph it becomes once it is bound.
//
// A composite's text is a list of statements, one a line:
//
//   gate = gemm(x, transpose(gate_weight))
//   [gate_bias] gate = vec_add(gate, gate_bias)
//   [activate=up] act = {activation}(up)
//   y:x = rms_norm(x, weight, eps=$eps, cast={cast})
//   q, scale = fp8_quantize(z, granularity=row)
//
//   [guard]      the statement stands only if the guard holds: [name=value] a choice,
//                [name!=value], [name] an optional operand is given, [!name] it is not. Several
//                guards may stand in front of a statement; all must hold
//   {choice}     replaced by the bound value of the composite's choice
//   $number      the value of the composite's number attribute
//   name:other   the value is stored in the dtype of operand `other` (rounded there); without
//                it values between operators stay f32
// A name may be assigned again; the last assignment of an output's name is the output. Arguments
// are values or views of them: transpose(v) swaps the last two axes, split(v, other) cuts the
// last axis into [.., n / d, d] where d is the last axis of `other`, merge(v) joins the last two,
// spread(v, other) repeats each value of v along the last axis of `other`, rows(v, other) each row
// of v along the axis before the last of `other`.
// Positional arguments are the operator's inputs in order; an optional input in the middle is
// given by name: positions=p. Values of outputs come in the operator's order.
#pragma once

#include <string>
#include <vector>

#include "ops/desc.h"

namespace nrd {

enum class GraphValueId : int {};

struct GraphValue {
  std::string name;
  DType dtype = DType::kF32;
  bool rounded = false;  // stored in that dtype between operators, where f32 would do
  Dims sizes;
  Dims strides;
  int operand = -1;            // an operand of the composite, or -1
  const Form* form = nullptr;  // of an operand that lies in one
  int buffer = -1;             // the buffer that holds it otherwise; views share one
};

struct Node {
  Desc desc;                         // of a primitive, with the operands' strides
  std::vector<GraphValueId> values;  // as desc.operands; absent operands are GraphValueId(-1)
};

// A composite bound to sizes. Complete and read-only once built.
struct Graph {
  Desc desc;  // the composite itself
  std::vector<GraphValue> values;
  std::vector<int64_t> buffer_elements;
  std::vector<Node> nodes;

  std::string text() const;  // one line a node, with shapes and dtypes
};

Expected<Graph> build_graph(const Desc& composite);

}  // namespace nrd
