// SPDX-License-Identifier: MIT
// src/trace/canonical.cpp: orders operands by structure, then writes the trace anew.
#include "trace/canonical.h"

#include <algorithm>
#include <numeric>

#include "trace/builder.h"
#include "trace/decided.h"
#include "trace/liveness.h"
#include "trace/op_info.h"

namespace nrd {
namespace {

// What stands first where operands may change places.
int rank_of(TraceOp op) {
  switch (op) {
    case TraceOp::kCarry: return 0;
    case TraceOp::kResult: return 1;
    default: return 2;
    case TraceOp::kLoad: return 3;
    case TraceOp::kIv: return 4;
    case TraceOp::kParam: return 5;
    case TraceOp::kConst: return 6;
  }
}

// The first two operands may change places.
bool is_commutative(const Value& v) {
  switch (v.op) {
    case TraceOp::kAdd:
    case TraceOp::kMul:
    case TraceOp::kFma:
    case TraceOp::kMin:
    case TraceOp::kMax:
    case TraceOp::kAnd:
    case TraceOp::kOr:
    case TraceOp::kXor: return true;
    case TraceOp::kCmp: return v.predicate == exchanged(v.predicate);
    default: return false;
  }
}

bool is_greater(Predicate p) {
  return p == Predicate::kGt || p == Predicate::kGe || p == Predicate::kA || p == Predicate::kAe;
}

bool is_unordered(Predicate p) { return p >= Predicate::kUeq && p <= Predicate::kUno; }

// Comparisons under a condition, if it is made of a few comparisons, and, or, and not alone.
struct Leaves {
  static constexpr int kMost = 16;
  int all = 0, unordered = 0;
  bool is_known = true;
};

class Canonical {
 public:
  explicit Canonical(const OpTrace& trace)
      : trace_(trace),
        values_(trace.values),
        scopes_(scopes_of(trace)),
        hashes_(trace.values.size()),
        same_as_(trace.values.size()),
        out_(trace.name) {
    std::iota(same_as_.begin(), same_as_.end(), ValueId{0});
  }

  OpTrace run() {
    order_tables();
    for (ValueId id = 0; id < trace_.values.size(); id++) order_operands(id);
    to_.assign(values_.size(), kNoValue);
    seen_.assign(values_.size(), 0);
    for (const TraceParam& p : trace_.params) out_.add_param(p);
    statements(trace_.body);
    OpTrace made = out_.finish();
    made.op_class = trace_.op_class;
    return made;
  }

 private:
  // By their contents, so that what is ordered by a table's number does not hang on the lifter.
  void order_tables() {
    tables_ = trace_.tables;
    std::sort(tables_.begin(), tables_.end());
    tables_.erase(std::unique(tables_.begin(), tables_.end()), tables_.end());
    for (Value& v : values_) {
      if (v.op != TraceOp::kLookup) continue;
      const auto at = std::lower_bound(tables_.begin(), tables_.end(), trace_.tables[v.index]);
      v.index = static_cast<uint16_t>(at - tables_.begin());
    }
    table_to_.assign(tables_.size(), kNoTable);
  }

  // ---- operands ----

  void order_operands(ValueId id) {
    for (ValueId& arg : values_[id].args)
      if (arg != kNoValue) arg = same_as_[arg];
    if (values_[id].op == TraceOp::kSelect) settle_select(id);
    Value& v = values_[id];
    bool exchange = false;
    if (v.op == TraceOp::kCmp && is_greater(v.predicate)) {
      exchange = true;
      v.predicate = exchanged(v.predicate);
    } else if (is_commutative(v) && may_order(v)) {
      exchange = compare(v.args[1], v.args[0]) < 0;
    }
    if (exchange) std::swap(v.args[0], v.args[1]);
    hashes_[id] = hash_of(v);
  }

  // An index is a sum of products as emit_index.cpp of the lifter orders them, but for the
  // quotients in a product.
  bool may_order(const Value& v) const {
    if (!is_index_op(trace_, v)) return true;
    const int computed = rank_of(TraceOp::kDivFloor);
    return v.op == TraceOp::kMul && rank_of(values_[v.args[0]].op) == computed &&
           rank_of(values_[v.args[1]].op) == computed;
  }

  // c ? a : b is !c ? b : a: the one with fewer unordered comparisons.
  void settle_select(ValueId id) {
    Leaves leaves;
    count_leaves(values_[id].args[0], leaves);
    if (leaves.is_known && 2 * leaves.unordered > leaves.all) {
      const ValueId condition = negated(values_[id].args[0]);
      values_[id].args = {condition, values_[id].args[2], values_[id].args[1]};
    }
    const Value& v = values_[id];
    if (const std::optional<bool> outcome = decided(values_, values_[v.args[0]]))
      same_as_[id] = v.args[*outcome ? 1 : 2];
  }

  void count_leaves(ValueId id, Leaves& leaves) const {
    const Value& v = values_[id];
    if (!leaves.is_known) return;
    switch (v.op) {
      case TraceOp::kCmp:
        leaves.is_known = ++leaves.all <= Leaves::kMost;
        leaves.unordered += is_unordered(v.predicate);
        break;
      case TraceOp::kAnd:
      case TraceOp::kOr: count_leaves(v.args[1], leaves); [[fallthrough]];
      case TraceOp::kNot: count_leaves(v.args[0], leaves); break;
      default: leaves.is_known = false;
    }
  }

  ValueId negated(ValueId id) {
    Value v = values_[id];
    if (v.op == TraceOp::kNot) return v.args[0];
    if (v.op == TraceOp::kCmp) {
      v.predicate = negation(v.predicate);
    } else {
      v.op = v.op == TraceOp::kAnd ? TraceOp::kOr : TraceOp::kAnd;
      v.args = {negated(v.args[0]), negated(v.args[1]), kNoValue};
    }
    const auto made = static_cast<ValueId>(values_.size());
    values_.push_back(v);
    same_as_.push_back(made);
    hashes_.push_back(0);
    scopes_.loop_of_value.push_back(scopes_.loop_of_value[id]);
    order_operands(made);
    return made;
  }

  uint64_t hash_of(const Value& v) const {
    uint64_t hash = 0xcbf29ce484222325u;
    const auto mix = [&](uint64_t word) {
      hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 29;
    };
    mix(static_cast<uint64_t>(v.op));
    mix(static_cast<uint64_t>(v.type));
    mix(static_cast<uint64_t>(v.predicate));
    mix(v.index);
    mix(v.bits);
    for (ValueId arg : v.args) mix(arg == kNoValue ? 0 : hashes_[arg]);
    return hash;
  }

  // Less than 0: a first. Equal hashes stand for equal values, so this follows one path down.
  int compare(ValueId a, ValueId b) const {
    if (a == kNoValue || b == kNoValue) return int{a == kNoValue} - int{b == kNoValue};
    if (hashes_[a] == hashes_[b]) return 0;
    const Value &x = values_[a], &y = values_[b];
    const auto order = [](auto p, auto q) { return p < q ? -1 : p > q ? 1 : 0; };
    for (int way :
         {order(rank_of(x.op), rank_of(y.op)), order(x.op, y.op), order(x.type, y.type),
          order(x.predicate, y.predicate), order(x.index, y.index), order(x.bits, y.bits)})
      if (way != 0) return way;
    for (size_t i = 0; i < x.args.size(); i++)
      if (const int way = compare(x.args[i], y.args[i]); way != 0) return way;
    return 0;
  }

  // ---- the new trace ----

  // A load waits until it is needed, but no longer than to the next store. Returns what a loop
  // carries on.
  std::vector<ValueId> statements(const std::vector<ValueId>& body,
                                  const std::vector<LoopCarry>& carries = {}) {
    std::vector<ValueId> waiting;
    const auto write_waiting = [&] {
      for (ValueId id : waiting) write(id);
      waiting.clear();
    };
    for (ValueId id : body) {
      Value v = values_[id];
      if (v.op == TraceOp::kLoad) waiting.push_back(id);
      if (v.op == TraceOp::kLoop) {
        if (stores(v.index)) write_waiting();
        loop(v.index);
      } else if (v.op == TraceOp::kStore) {
        write_args(v);
        write_waiting();
        out_.append(v);
      }
    }
    std::vector<ValueId> next;
    for (const LoopCarry& c : carries) next.push_back(write(c.next));
    write_waiting();
    return next;
  }

  bool stores(uint16_t number) const {
    const std::vector<ValueId>& body = trace_.loops[number].body;
    return std::any_of(body.begin(), body.end(), [&](ValueId id) {
      const Value& v = values_[id];
      return v.op == TraceOp::kStore || (v.op == TraceOp::kLoop && stores(v.index));
    });
  }

  ValueId write(ValueId id) {
    if (id == kNoValue) return kNoValue;
    id = same_as_[id];
    if (to_[id] != kNoValue) return to_[id];
    Value v = values_[id];
    write_args(v);
    if (v.op == TraceOp::kLookup) v.index = table(v.index);
    return to_[id] = v.op == TraceOp::kLoad ? out_.append(v) : out_.pure(v);
  }
  // Tables are numbered as they are first used.
  uint16_t table(uint16_t number) {
    uint16_t& to = table_to_[number];
    std::vector<TraceTable>& made = out_.trace().tables;
    if (to == kNoTable) {
      to = static_cast<uint16_t>(made.size());
      made.push_back(tables_[number]);
    }
    return to;
  }

  void write_args(Value& v) {
    for (ValueId& arg : v.args) arg = write(arg);
  }

  void loop(uint16_t number) {
    const TraceLoop& l = trace_.loops[number];
    const ValueId extent = write(l.extent);
    for (const LoopCarry& c : l.carries) write(c.init);
    visit_++;
    write_outside(number);
    const uint16_t made = out_.begin_loop(extent);
    to_[l.iv] = out_.iv(made);
    open_.push_back(number);
    for (const LoopCarry& c : l.carries) to_[c.carry] = out_.carry(write(c.init));
    const std::vector<ValueId> next = statements(l.body, l.carries);
    open_.pop_back();
    out_.end_loop(next);
    for (size_t i = 0; i < l.carries.size(); i++) to_[l.carries[i].result] = out_.result(made, i);
  }

  // Writes what a loop that is about to begin needs of the loops around it, as it will be needed.
  void write_outside(uint16_t number) {
    const TraceLoop& l = trace_.loops[number];
    for (ValueId id : l.body) {
      const Value& v = values_[id];
      if (v.op == TraceOp::kLoop) {
        gather(trace_.loops[v.index].extent);
        for (const LoopCarry& c : trace_.loops[v.index].carries) gather(c.init);
        write_outside(v.index);
      } else if (v.op == TraceOp::kStore) {
        for (ValueId arg : v.args) gather(arg);
      }
    }
    for (const LoopCarry& c : l.carries) gather(c.next);
  }

  void gather(ValueId id) {
    if (id == kNoValue) return;
    id = same_as_[id];
    if (to_[id] != kNoValue || seen_[id] == visit_) return;
    seen_[id] = visit_;
    if (!is_pure(values_[id].op) && values_[id].op != TraceOp::kLoad) return;
    const uint32_t here = open_.empty() ? kNoLoop : open_.back();
    for (ValueId arg : values_[id].args) gather(arg);
    if (scopes_.is_inside(here, scopes_.loop_of_value[id])) write(id);
  }

  static constexpr uint16_t kNoTable = 0xffff;

  const OpTrace& trace_;
  std::vector<Value> values_;
  std::vector<TraceTable> tables_;
  std::vector<uint16_t> table_to_;  // in the new trace
  Scopes scopes_;
  std::vector<uint64_t> hashes_;
  std::vector<ValueId> same_as_;  // a select that is always one of its arms: that arm
  TraceBuilder out_;
  std::vector<ValueId> to_;
  std::vector<uint32_t> seen_;
  uint32_t visit_ = 0;
  std::vector<uint16_t> open_;
};

}  // namespace

OpTrace canonical_trace(const OpTrace& trace) { return Canonical(trace).run(); }

}  // namespace nrd
