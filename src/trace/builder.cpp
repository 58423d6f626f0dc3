// SPDX-License-Identifier: MIT
// src/trace/builder.cpp: see builder.h.
#include "trace/builder.h"

#include <algorithm>
#include <bit>

#include "trace/op_info.h"

namespace nrd {
namespace {

size_t hash_of(const Value& v) {
  uint64_t h = static_cast<uint64_t>(v.op) | static_cast<uint64_t>(v.type) << 8 |
               static_cast<uint64_t>(v.predicate) << 16 | static_cast<uint64_t>(v.index) << 32;
  for (uint64_t part : {uint64_t{v.args[0]}, uint64_t{v.args[1]}, uint64_t{v.args[2]}, v.bits}) {
    h = (std::rotl(h, 23) ^ part) * 0x9e3779b97f4a7c15u;
  }
  return static_cast<size_t>(h ^ h >> 29);
}

}  // namespace

TraceBuilder::TraceBuilder(std::string name) : table_(128, 0) { trace_.name = std::move(name); }

uint16_t TraceBuilder::add_param(TraceParam param) {
  trace_.params.push_back(std::move(param));
  return static_cast<uint16_t>(trace_.params.size() - 1);
}

uint16_t TraceBuilder::pointer(std::string name, DType dtype) {
  return add_param({.kind = TraceParamKind::kPointer, .dtype = dtype, .name = std::move(name)});
}

uint16_t TraceBuilder::number(std::string name, DType dtype) {
  return add_param({.kind = TraceParamKind::kNumber, .dtype = dtype, .name = std::move(name)});
}

uint16_t TraceBuilder::size(std::string name) {
  return add_param({.kind = TraceParamKind::kSize, .name = std::move(name)});
}

uint16_t TraceBuilder::integer(std::string name) {
  return add_param({.kind = TraceParamKind::kInt, .dtype = DType::kI32, .name = std::move(name)});
}

ValueId TraceBuilder::constant(TraceType type, uint64_t bits) {
  return pure({.op = TraceOp::kConst, .type = type, .bits = bits});
}

ValueId TraceBuilder::f32(float value) {
  return constant(TraceType::kF32, std::bit_cast<uint32_t>(value));
}

ValueId TraceBuilder::f64(double value) {
  return constant(TraceType::kF64, std::bit_cast<uint64_t>(value));
}

ValueId TraceBuilder::i32(int32_t value) {
  return constant(TraceType::kI32, static_cast<uint32_t>(value));
}

ValueId TraceBuilder::i64(int64_t value) {
  return constant(TraceType::kI64, static_cast<uint64_t>(value));
}

ValueId TraceBuilder::boolean(bool value) { return constant(TraceType::kBool, value ? 1 : 0); }

ValueId TraceBuilder::param(uint16_t index) {
  const TraceParam& p = trace_.params[index];
  TraceType type = TraceType::kI64;
  if (p.kind == TraceParamKind::kInt) type = TraceType::kI32;
  if (p.kind == TraceParamKind::kNumber) type = loaded_type(p.dtype);
  return pure({.op = TraceOp::kParam, .type = type, .index = index});
}

ValueId TraceBuilder::pure(TraceOp op, TraceType type, ValueId a, ValueId b, ValueId c) {
  return pure({.op = op, .type = type, .args = {a, b, c}});
}

ValueId TraceBuilder::compare(Predicate predicate, ValueId a, ValueId b) {
  return pure({.op = TraceOp::kCmp,
               .type = TraceType::kBool,
               .predicate = predicate,
               .args = {a, b, kNoValue}});
}

ValueId TraceBuilder::select(ValueId condition, ValueId yes, ValueId no) {
  return pure(TraceOp::kSelect, trace_[yes].type, condition, yes, no);
}

ValueId TraceBuilder::pure(const Value& value) {
  size_t* slot = find_slot(value);
  if (*slot != 0 && is_visible(static_cast<ValueId>(*slot - 1)))
    return static_cast<ValueId>(*slot - 1);
  const size_t depth = best_depth(value);
  const ValueId id = new_value(value, scope_at(depth));
  body(depth).push_back(id);
  const bool was_free = *slot == 0;
  *slot = size_t{id} + 1;
  if (was_free && ++table_used_ * 2 > table_.size()) grow_table();
  return id;
}

ValueId TraceBuilder::load(uint16_t pointer, ValueId index, ValueId guard, ValueId otherwise) {
  TraceParam& param = trace_.params[pointer];
  param.read = true;
  return append({.op = TraceOp::kLoad,
                 .type = loaded_type(param.dtype),
                 .index = pointer,
                 .args = {index, guard, otherwise}});
}

void TraceBuilder::store(uint16_t pointer, ValueId index, ValueId value, ValueId guard) {
  trace_.params[pointer].written = true;
  append({.op = TraceOp::kStore, .index = pointer, .args = {index, value, guard}});
}

uint16_t TraceBuilder::begin_loop(ValueId extent) {
  const auto loop = static_cast<uint16_t>(trace_.loops.size());
  trace_.loops.push_back({.extent = extent});
  open_.push_back(loop);
  loop_depth_.push_back(static_cast<int>(open_.size()));
  trace_.loops[loop].iv =
      new_value({.op = TraceOp::kIv, .type = TraceType::kI64, .index = loop}, loop + 1u);
  return loop;
}

ValueId TraceBuilder::carry(ValueId init) {
  const uint16_t loop = open_.back();
  auto& carries = trace_.loops[loop].carries;
  const ValueId id = new_value(
      {.op = TraceOp::kCarry, .type = trace_[init].type, .index = loop, .bits = carries.size()},
      loop + 1u);
  carries.push_back({.carry = id, .init = init});
  return id;
}

void TraceBuilder::end_loop(std::span<const ValueId> next) {
  const uint16_t loop = open_.back();
  open_.pop_back();
  loop_depth_[loop] = -1;
  append({.op = TraceOp::kLoop, .index = loop});
  auto& carries = trace_.loops[loop].carries;
  for (size_t i = 0; i < carries.size() && i < next.size(); i++) {
    carries[i].next = next[i];
    carries[i].result = new_value(
        {.op = TraceOp::kResult, .type = trace_[carries[i].init].type, .index = loop, .bits = i},
        scope_at(open_.size()));
  }
}

void TraceBuilder::end_loop(std::initializer_list<ValueId> next) {
  end_loop(std::span<const ValueId>(next.begin(), next.size()));
}

ValueId TraceBuilder::result(uint16_t loop, size_t carry) const {
  return trace_.loops[loop].carries[carry].result;
}

ValueId TraceBuilder::append(const Value& value) {
  const ValueId id = new_value(value, scope_at(open_.size()));
  body(open_.size()).push_back(id);
  return id;
}

OpTrace TraceBuilder::finish() { return std::move(trace_); }

ValueId TraceBuilder::new_value(const Value& value, uint32_t scope) {
  trace_.values.push_back(value);
  scope_of_.push_back(scope);
  return static_cast<ValueId>(trace_.values.size() - 1);
}

std::vector<ValueId>& TraceBuilder::body(size_t depth) {
  return depth == 0 ? trace_.body : trace_.loops[open_[depth - 1]].body;
}

uint32_t TraceBuilder::scope_at(size_t depth) const {
  return depth == 0 ? kTop : open_[depth - 1] + 1u;
}

int TraceBuilder::depth_of(ValueId id) const {
  const uint32_t scope = scope_of_[id];
  return scope == kTop ? 0 : loop_depth_[scope - 1];
}

// Other values stay where they are asked for; so does a division that might be by zero where its
// loop does not run.
size_t TraceBuilder::best_depth(const Value& value) const {
  if (value.op == TraceOp::kParam) return 0;
  if (!is_index_op(trace_, value)) return open_.size();
  const bool divides = value.op == TraceOp::kDivFloor || value.op == TraceOp::kModFloor;
  if (divides && trace_[value.args[1]].op != TraceOp::kConst) return open_.size();
  int depth = 0;
  for (ValueId arg : value.args) {
    if (arg != kNoValue) depth = std::max(depth, depth_of(arg));
  }
  return static_cast<size_t>(depth);
}

// The slot of an equal value, or the free one where it belongs. A value whose scope was closed
// gives its slot to the next equal one.
size_t* TraceBuilder::find_slot(const Value& value) {
  const size_t mask = table_.size() - 1;
  size_t at = hash_of(value) & mask;
  while (table_[at] != 0 && !(trace_.values[table_[at] - 1] == value)) at = (at + 1) & mask;
  return &table_[at];
}

void TraceBuilder::grow_table() {
  std::vector<size_t> old(table_.size() * 2, 0);
  old.swap(table_);
  for (size_t entry : old) {
    if (entry != 0) *find_slot(trace_.values[entry - 1]) = entry;
  }
}

}  // namespace nrd
