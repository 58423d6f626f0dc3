// SPDX-License-Identifier: MIT
// src/lift/structure.cpp: statements of a trace. See structure.h.
#include "lift/structure.h"

#include <algorithm>

#include "lift/emitter.h"
#include "trace/op_info.h"

namespace nrd::lift {
namespace {

TraceParam trace_param(const CParam& param, size_t number, bool is_size) {
  TraceParam made;
  made.name = param.name.empty() ? "p" + std::to_string(number) : param.name;
  switch (param.kind) {
    case CKind::kPointer: made.dtype = param.element; break;
    case CKind::kFloat: made.kind = TraceParamKind::kNumber; break;
    case CKind::kDouble:
      made.kind = TraceParamKind::kNumber;
      made.dtype = DType::kF64;
      break;
    case CKind::kInt32:
    case CKind::kUInt32:
      made.kind = is_size ? TraceParamKind::kSize : TraceParamKind::kInt;
      if (!is_size) made.dtype = DType::kI32;
      break;
    default: made.kind = TraceParamKind::kSize; break;
  }
  return made;
}

}  // namespace

Emitter::Emitter(Function& f, NodeFactory& factory, const LoopTree& tree, Scev& scev,
                 const FlatParams& params, const LiftRequest& request)
    : f_(f),
      factory_(factory),
      tree_(tree),
      scev_(scev),
      params_(params),
      request_(request),
      scopes_(f, tree),
      needed_(f, tree),
      values_(f.nodes.size(), kNoValue),
      sizes_(params.list.size(), kNoValue),
      loop_of_(tree.regions.size(), 0),
      carried_(tree.regions.size()) {}

OpTrace Emitter::run() {
  trace_.name = request_.name;
  find_guarded_choices();
  find_sizes();
  if (request_.signature.returns_void) {
    emit_params();
    emit_items(0);
  } else if (is_map(request_.signature)) {
    emit_map();
  } else {
    emit_result();
  }
  return std::move(trace_);
}

void Emitter::emit_params() {
  for (size_t i = 0; i < params_.list.size(); i++)
    trace_.params.push_back(trace_param(params_.list[i], i, is_size_[i]));
}

// out[i] = f(a[i], b[i], ...)
void Emitter::emit_map() {
  const CKind kind = request_.signature.result;
  if (kind != CKind::kFloat && kind != CKind::kDouble)
    give_up("it turns numbers into an integer: only float and double can be returned for each");
  for (const CParam& param : params_.list) {
    CParam array = param;
    array.kind = CKind::kPointer;
    array.element = param.kind == CKind::kDouble ? DType::kF64 : DType::kF32;
    trace_.params.push_back(trace_param(array, trace_.params.size(), false));
  }
  const auto out = static_cast<uint16_t>(trace_.params.size());
  const bool is_double = kind == CKind::kDouble;
  trace_.params.push_back(
      {.dtype = is_double ? DType::kF64 : DType::kF32, .written = true, .name = "out"});
  trace_.params.push_back({.kind = TraceParamKind::kSize, .name = "n"});
  const ValueId n = new_value(
      {.op = TraceOp::kParam, .type = TraceType::kI64, .index = static_cast<uint16_t>(out + 1)});
  trace_.body.push_back(n);
  const uint16_t loop = open_loop(n, 0);
  is_map_ = true;
  emit_items(0);
  const NodeId result = factory_.low(tree_.result, is_double ? Type::kF64 : Type::kF32);
  TraceValue store{.op = TraceOp::kStore, .index = out};
  store.args[0] = trace_.loops[loop].iv;
  store.args[1] = emit(result);
  append(0, store);
  trace_.body.push_back(new_value({.op = TraceOp::kLoop, .index = loop}));
}

// out[0] = f(x, y, n)
void Emitter::emit_result() {
  const bool has_pointers = std::any_of(params_.list.begin(), params_.list.end(),
                                        [](const CParam& p) { return p.kind == CKind::kPointer; });
  if (!has_pointers) give_up("it returns a value and takes integers, but no pointer");
  emit_params();
  const auto out = static_cast<uint16_t>(trace_.params.size());
  const CKind kind = request_.signature.result;
  TraceParam result{.written = true, .name = "out"};
  Type type = Type::kF32;
  if (kind == CKind::kDouble) {
    result.dtype = DType::kF64;
    type = Type::kF64;
  } else if (kind == CKind::kInt32) {
    result.dtype = DType::kI32;
    type = Type::kI32;
  } else if (kind != CKind::kFloat) {
    give_up("it returns an integer that no dtype holds: float, double and int32_t can be returned");
  }
  for (const TraceParam& p : trace_.params)
    if (p.name == result.name) result.name = "result";
  trace_.params.push_back(result);
  emit_items(0);
  TraceValue store{.op = TraceOp::kStore, .index = out};
  store.args[0] = index_constant(0);
  store.args[1] = emit(factory_.low(tree_.result, type));
  append(0, store);
}

std::vector<ValueId>& Emitter::body(int region) {
  if (region == 0 && !is_map_) return trace_.body;
  return trace_.loops[loop_of_[static_cast<size_t>(region)]].body;
}

ValueId Emitter::append(int region, const TraceValue& value) {
  const ValueId id = new_value(value);
  body(region).push_back(id);
  return id;
}

ValueId Emitter::new_value(const TraceValue& value) {
  trace_.values.push_back(value);
  return static_cast<ValueId>(trace_.values.size() - 1);
}

void Emitter::emit_items(int region) {
  for (const Item& item : region_at(region).items) {
    if (item.kind == ItemKind::kStore) emit_store(region, f_[item.id]);
    if (item.kind == ItemKind::kLoad && needed_.nodes[item.id]) emit_load(region, item.id);
    if (item.kind == ItemKind::kLoop && needed_.regions[item.id])
      emit_loop(region, static_cast<int>(item.id));
  }
}

void Emitter::emit_load(int region, NodeId id) {
  const Node n = f_[id];
  TraceParam& param = trace_.params[n.index];
  param.read = true;
  TraceValue load{.op = TraceOp::kLoad,
                  .type = loaded_type(param.dtype),
                  .index = static_cast<uint16_t>(n.index)};
  load.args[0] = emit(n.args[0]);
  if (n.args[1] != kNoNode) {
    load.args[1] = emit(n.args[1]);
    const NodeId other = otherwise_[id];
    load.args[2] = emit(other != kNoNode ? other : factory_.constant(n.type, 0));
  }
  values_[id] = append(region, load);
}

void Emitter::emit_store(int region, const Node& store) {
  const Node n = store;
  trace_.params[n.index].written = true;
  TraceValue made{.op = TraceOp::kStore, .index = static_cast<uint16_t>(n.index)};
  made.args[0] = emit(n.args[0]);
  made.args[1] = emit(n.args[1]);
  if (n.args[2] != kNoNode) made.args[2] = emit(n.args[2]);
  append(region, made);
}

void Emitter::emit_loop(int parent, int region) {
  const uint16_t loop = open_loop(emit(region_at(region).extent), region);
  std::vector<size_t> needed;
  emit_carries(region, loop, needed);
  emit_items(region);
  for (size_t k = 0; k < needed.size(); k++) {
    const ValueId next = emit(region_at(region).carries[needed[k]].next);
    trace_.loops[loop].carries[k].next = next;
  }
  append(parent, {.op = TraceOp::kLoop, .index = loop});
  for (size_t k = 0; k < needed.size(); k++) {
    const TraceType type = trace_.values[trace_.loops[loop].carries[k].init].type;
    const ValueId result =
        new_value({.op = TraceOp::kResult, .type = type, .index = loop, .bits = k});
    trace_.loops[loop].carries[k].result = result;
    carried_[static_cast<size_t>(region)][needed[k]].result = result;
  }
}

// Lists the numbers of the carried values that something needs.
void Emitter::emit_carries(int region, uint16_t loop, std::vector<size_t>& needed) {
  std::vector<LoopCarry>& carried = carried_[static_cast<size_t>(region)];
  const std::vector<Carry>& carries = region_at(region).carries;
  carried.resize(carries.size());
  for (size_t i = 0; i < carries.size(); i++) {
    if (carries[i].init == kNoNode || !needed_.nodes[carries[i].leaf]) continue;
    carried[i].init = emit(carries[i].init);
    carried[i].carry = new_value({.op = TraceOp::kCarry,
                                  .type = trace_.values[carried[i].init].type,
                                  .index = loop,
                                  .bits = needed.size()});
    trace_.loops[loop].carries.push_back(carried[i]);
    needed.push_back(i);
  }
}

uint16_t Emitter::open_loop(ValueId extent, int region) {
  const auto number = static_cast<uint16_t>(trace_.loops.size());
  trace_.loops.push_back({.extent = extent});
  trace_.loops[number].iv =
      new_value({.op = TraceOp::kIv, .type = TraceType::kI64, .index = number});
  loop_of_[static_cast<size_t>(region)] = number;
  return number;
}

OpTrace make_trace(Function& function, NodeFactory& factory, const LoopTree& tree, Scev& scev,
                   const FlatParams& params, const LiftRequest& request) {
  return Emitter(function, factory, tree, scev, params, request).run();
}

}  // namespace nrd::lift
