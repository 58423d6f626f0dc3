// SPDX-License-Identifier: MIT
// src/trace/builder.h: builds an OpTrace statement by statement.
//
//   TraceBuilder b("vec_sum");
//   uint16_t x = b.pointer("x"), out = b.pointer("out"), n = b.size("n");
//   uint16_t loop = b.begin_loop(b.param(n));
//   ValueId sum = b.carry(b.f32(0));
//   b.end_loop({b.pure(TraceOp::kAdd, TraceType::kF32, sum, b.load(x, b.iv(loop)))});
//   b.store(out, b.i64(0), b.result(loop, 0));
//   OpTrace trace = b.finish();
//
// Pure values are made once: asking again for one that an open scope has yields the same id. i64
// index arithmetic goes to the outermost scope that has its operands. Nothing is simplified.
#pragma once

#include <initializer_list>
#include <span>

#include "trace/trace.h"

namespace nrd {

class TraceBuilder {
 public:
  explicit TraceBuilder(std::string name);

  // Parameters, each with its index. Loads and stores mark a pointer as read and written.
  uint16_t pointer(std::string name, DType dtype = DType::kF32);
  uint16_t number(std::string name, DType dtype = DType::kF32);
  uint16_t size(std::string name);
  uint16_t integer(std::string name);
  uint16_t add_param(TraceParam param);

  ValueId constant(TraceType type, uint64_t bits);
  ValueId f32(float value);
  ValueId f64(double value);
  ValueId i32(int32_t value);
  ValueId i64(int64_t value);
  ValueId boolean(bool value);
  ValueId param(uint16_t index);  // a number, size or int

  ValueId pure(TraceOp op, TraceType type, ValueId a, ValueId b = kNoValue, ValueId c = kNoValue);
  ValueId compare(Predicate predicate, ValueId a, ValueId b);
  ValueId select(ValueId condition, ValueId yes, ValueId no);
  ValueId pure(const Value& value);

  ValueId load(uint16_t pointer, ValueId index, ValueId guard = kNoValue,
               ValueId otherwise = kNoValue);
  void store(uint16_t pointer, ValueId index, ValueId value, ValueId guard = kNoValue);

  // A loop is open from begin to end; carries are declared while it is the innermost one.
  uint16_t begin_loop(ValueId extent);
  ValueId iv(uint16_t loop) const { return trace_.loops[loop].iv; }
  ValueId carry(ValueId init);
  void end_loop(std::span<const ValueId> next);
  void end_loop(std::initializer_list<ValueId> next = {});
  ValueId result(uint16_t loop, size_t carry) const;

  // Adds a value or statement at the end of the innermost scope, as it is and even if there is an
  // equal one; parameters keep their marks. For readers of text and copies.
  ValueId append(const Value& value);

  size_t open_loops() const { return open_.size(); }
  bool is_visible(ValueId id) const { return depth_of(id) >= 0; }
  const Value& operator[](ValueId id) const { return trace_.values[id]; }
  const OpTrace& trace() const { return trace_; }
  OpTrace& trace() { return trace_; }

  OpTrace finish();  // no loop may be open; the class stays kOpaque (classify.h knows it)

 private:
  static constexpr uint32_t kTop = 0;  // scope numbers: 0, or 1 + loop

  ValueId new_value(const Value& value, uint32_t scope);
  std::vector<ValueId>& body(size_t depth);
  uint32_t scope_at(size_t depth) const;
  int depth_of(ValueId id) const;  // how many loops are around its scope; -1 once that is closed
  size_t best_depth(const Value& value) const;
  size_t* find_slot(const Value& value);
  void grow_table();

  OpTrace trace_;
  std::vector<uint32_t> scope_of_;  // of each value
  std::vector<int> loop_depth_;     // of each loop: its place in open_ plus one, or -1
  std::vector<uint16_t> open_;
  std::vector<size_t> table_;  // open addressing: 1 + id of a pure value, 0 is free
  size_t table_used_ = 0;
};

}  // namespace nrd
