// SPDX-License-Identifier: MIT
// src/jit/lowering.h: writes the program of one trace. Private to lower*.cpp.
//
// Every value of the trace becomes a vector, uniform ones too (all lanes alike); conditions become
// masks; i64 values are general-purpose registers, or i32 lanes where they differ from lane to
// lane. Values are written where they are first needed; what does not vary in a loop, in front of
// it.
#pragma once

#include <string>

#include "jit/lower.h"
#include "jit/math.h"
#include "jit/vectorize.h"

namespace nrd::jit {

class Lowering {
 public:
  // Writes into `b`, which outlives it.
  Lowering(const Analysis& analysis, const Binding& binding, Builder& b, const BlockLayout& layout,
           int lanes);

  // The whole function. With `range_loop` (or -1) that loop runs from begin to end of the block.
  Expected<Program> run(int range_loop);
  // The only loop's body on one vector an input, as part of another program (inline_trace.h).
  Expected<V> run_inline(std::span<const V> inputs);

 private:
  static constexpr int kMaxCopies = 4;

  // The vector loop whose body is being written. `copies` vectors follow each other; where they
  // are written one after the other, `first` is the one at work and copies is 1.
  // Loads that stand one iteration ahead, copy by copy; none: each stands where it is used.
  struct LoadsAhead {
    uint16_t loop = 0;
    int copies = 1;
    std::vector<ValueId> loads;
    std::vector<V> now, next;
  };
  struct VectorLoop {
    int loop = -1;  // none: everything is uniform
    G iv;           // the counter in lane 0 of copy 0
    int copies = 1;
    int first = 0;
    const Tail* tail = nullptr;  // only so many lanes count
    bool bypasses_cache = false;
    const LoadsAhead* ahead = nullptr;
  };
  struct Stream {  // a pointer that many accesses share
    int param;
    Poly rest;
    G pointer;
  };
  struct Divisor {
    ValueId value;
    int copy;
    ReciprocalOf by;
  };
  // A carried value of a vector loop: its parts by virtual lane, and what it is so far.
  struct Accumulator {
    size_t carry;  // its number in the loop
    Lane lane;
    V so_far;
    std::vector<V> parts;
  };
  // What a counted loop carries: vectors (one a copy, or one in all), or a general-purpose
  // register.
  struct Carried {
    size_t carry;
    std::vector<V> vectors;
    G scalar;
  };
  using Body = std::vector<ValueId>;

  // lower_body.cpp: statements and loops.
  void instances();
  void hoist_uniform(const Body& body);
  bool tells_lanes_apart() const;
  void mark_exact_divisions();
  void statements(const Body& body);
  void statement(ValueId id);
  void loop(uint16_t number);
  void counted_loop(uint16_t number);
  void iterate(uint16_t number, const std::vector<Carried>& carried);
  void begin_counter(uint16_t number, G& iv, G& end);
  void hoist(uint16_t number, const Body& body, std::vector<uint16_t>& nest, bool with_loads);
  void hoist_value(ValueId id, const std::vector<uint16_t>& nest);
  void hoist_out_of(uint16_t number, bool with_loads);
  bool is_ready(ValueId id) const;
  bool is_hoistable(ValueId id) const;
  void prepare_divisors(uint16_t number, const Body& body);
  void prepare_streams(uint16_t number, const Body& body);
  void move_carries(uint16_t number, const std::vector<Carried>& carried);

  // vectorize_map.cpp, vectorize_reduce.cpp: vector loops.
  void map_loop(uint16_t number);
  int copies_for(uint16_t number) const;
  void whole_steps(uint16_t number, G iv, G end, int copies, bool past_cache = false);
  void masked_steps(uint16_t number, G iv, G end);
  bool is_read(uint16_t param) const;
  ValueId store_past_cache(uint16_t number) const;
  void steps_past_cache(uint16_t number, G iv, G end, int copies);
  void vector_body(uint16_t number, const VectorLoop& at);

  // vectorize_ahead.cpp
  int cost_of_body(uint16_t number) const;
  LoadsAhead loads_ahead(uint16_t number, G iv, int copies);
  void load_next(LoadsAhead& ahead, G iv, G last);
  void advance(const LoadsAhead& ahead);
  std::vector<V> load_copies(const LoadsAhead& ahead, G iv);
  void bind_loads_ahead();
  void reduce_loop(uint16_t number);
  std::vector<Accumulator> accumulators(uint16_t number);
  void seed(uint16_t number, const std::vector<Accumulator>& sums);
  void reduce_chunk(uint16_t number, G iv, G end, std::vector<Accumulator>& sums);
  bool is_nest_of_extrema(uint16_t number) const;
  void reduce_nest(uint16_t number);
  void reduce_step(uint16_t number, const VectorLoop& at, std::vector<Accumulator>& sums);
  void fold(uint16_t number, std::vector<Accumulator>& sums);
  void bind_results(uint16_t number, const std::vector<Accumulator>& sums);
  V one_zero(CarryKind kind, Lane lane, V extremum);
  using Group = std::vector<Accumulator*>;  // an extremum and what goes with it, or one alone
  std::vector<V> combine(uint16_t number, const Group& group, const std::vector<V>& a,
                         const std::vector<V>& b);
  V combine_one(CarryKind kind, Lane lane, V a, V b);
  M is_better(CarryKind kind, Lane lane, V challenger, V best);

  // lower_values.cpp, lower_convert.cpp: values.
  V vector(ValueId id, int copy, V into = {});
  V compute(ValueId id, int copy, V into);
  V leaf(const Value& v, ValueId id, int copy);
  V arithmetic(ValueId id, int copy, V into);
  V sum(const Value& v, int copy, V into);
  bool can_contract(ValueId id, int copy) const;
  V divide(ValueId id, int copy, V into);
  V extremum(const Value& v, int copy, V into);
  V function(const Value& v, int copy);
  V integer(const Value& v, int copy, V into);
  V quotient_of_lanes(const Value& v, int copy);
  V shift(const Value& v, int copy);
  V convert(const Value& v, int copy);
  V from_i64(ValueId id, int copy, Lane lane);
  V lanes_of_i64(const Value& v, ValueId id, int copy);
  V lanes_of(const Poly& poly, int copy);
  V round_to(const Value& v, int copy);
  M mask(ValueId id, int copy);
  M compute_mask(ValueId id, int copy);
  M compare(const Value& v, int copy);
  M compare_i64(const Value& v, int copy);
  V bits_constant(Lane lane, uint64_t f32, uint64_t f64);

  // lower_index.cpp: i64 values and addresses.
  G scalar(ValueId id, int copy = 0);  // of lane 0 where it varies
  G compute_scalar(ValueId id, int copy);
  struct Quotient {
    G quotient, remainder;  // by the magnitude
    G divisor;              // the magnitude, at least 1
    G sign;                 // of the divisor, where it may be other than 1
  };
  Quotient scalar_divide(ValueId dividend, ValueId divisor, int copy);
  G scalar_quotient(const Value& v, int copy);
  G flipped(G x, G flip);
  G scalar_of(const Poly& poly, int copy = 0);
  G product_of(const PolyTerm& term, int copy);
  G base(int param) const { return bases_[static_cast<size_t>(param)]; }
  G stream(int param, const Poly& rest);
  int lane_offset(int copy) const { return (at_.first + copy) * lanes_; }
  Mem uniform_address(ValueId id);
  Mem linear_address(ValueId id, int64_t extra);
  G count_under(ValueId guard, int copy, G count);

  // lower_memory.cpp: loads, lookups and stores.
  V load(ValueId id, int copy, V into);
  V lookup(ValueId id, int copy);
  V uniform_load(ValueId id, V into);
  V vector_load(ValueId id, int copy, const Tail* tail, V into);
  V pair_load(ValueId id, int copy);
  void store(ValueId id, int copy);
  void uniform_store(ValueId id);
  void pair_store(ValueId id, int copy);
  std::pair<Tail, Tail> pair_tails();
  DType dtype_of(int param) const { return dtypes_[static_cast<size_t>(param)]; }
  int bytes_of(int param) const { return static_cast<int>(byte_size(dtype_of(param))); }

  // Registers of values: by value and copy; what was written inside a scope is forgotten at its
  // end, for it may not have been executed.
  bool varies(ValueId id) const;
  size_t slot_of(ValueId id, int copy) const;
  uint32_t vector_slot(ValueId id, int copy) const;
  uint32_t scalar_slot(ValueId id, int copy) const;
  void bind(ValueId id, int copy, V v);
  void bind(ValueId id, G g);
  struct Mark {
    size_t slots, streams, divisors;
  };
  Mark mark() const { return {log_.size(), streams_.size(), divisors_.size()}; }
  void forget(const Mark& mark);

  Lane lane_of(ValueId id) const;
  V move(Lane lane, V from, V into = {}) { return b_.op1(Op::kMove, lane, from, into); }
  void refuse(std::string reason);

  const Analysis& a_;
  const OpTrace& trace_;
  const Binding& binding_;
  BlockLayout layout_;
  int lanes_;
  Builder& b_;
  std::vector<int> ordinal_;       // of each parameter among those of its kind
  std::vector<DType> dtypes_;      // of each parameter: as it is in memory
  std::vector<uint8_t> is_exact_;  // by value: no quotient that is only close
  std::vector<G> bases_;           // of each pointer parameter: this instance's
  V iota_;                         // where lanes are told apart
  int range_loop_ = -1;
  G range_end_;  // where split code stops; the same for every instance
  VectorLoop at_;
  std::vector<uint32_t> vectors_, scalars_;
  std::vector<size_t> log_;                          // slots that were filled, for forget
  std::vector<Accumulator>* shared_sums_ = nullptr;  // of the nest of extrema at work
  std::vector<Stream> streams_;
  std::vector<Divisor> divisors_;
  std::string refusal_;
};

// lower.cpp, for steps.cpp.
BlockLayout layout_of(const OpTrace& trace);
Expected<void> check_binding(const OpTrace& trace, const Binding& binding);
Expected<Step> lower_step(const OpTrace& trace, const Binding& binding, const Target& target,
                          const std::vector<uint8_t>& in_order, bool may_split);

inline Lane lane_of_type(TraceType type) {
  if (type == TraceType::kF32) return Lane::kF32;
  return type == TraceType::kF64 ? Lane::kF64 : Lane::kI32;
}

}  // namespace nrd::jit
