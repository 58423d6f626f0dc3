// SPDX-License-Identifier: MIT
// src/jit/lower.cpp: OpTrace -> vector IR: analysis, the choice of vector loops, then the program.
#include "jit/lower.h"

#include "jit/lowering.h"
#include "jit/size_value.h"
#include "jit/split.h"
#include "jit/storage.h"
#include "trace/op_info.h"

namespace nrd::jit {
namespace {

bool has_f64(const Analysis& a) {
  for (ValueId id = 0; id < a.trace.values.size(); id++) {
    if (a.is_live(id) && a.trace[id].type == TraceType::kF64) return true;
  }
  return false;
}

}  // namespace

BlockLayout layout_of(const OpTrace& trace) {
  BlockLayout layout;
  for (const TraceParam& param : trace.params) {
    layout.pointers += param.kind == TraceParamKind::kPointer;
    layout.sizes += param.kind == TraceParamKind::kSize;
    layout.numbers += param.kind == TraceParamKind::kNumber;
  }
  return layout;
}

namespace {

Error refuse_binding(const OpTrace& trace, std::string argument, std::string got) {
  return make_error({.code = ErrorCode::kUnsupported,
                     .op = trace.name,
                     .argument = std::move(argument),
                     .got = std::move(got),
                     .hint = "the function itself will run"});
}

}  // namespace

// Narrower floats may stand for the trace's f32; anything else is taken as it is.
Expected<void> check_binding(const OpTrace& trace, const Binding& binding) {
  size_t pointers = 0, ints = 0;
  for (const TraceParam& param : trace.params) {
    ints += param.kind == TraceParamKind::kInt;
    if (param.kind != TraceParamKind::kPointer) continue;
    if (pointers >= binding.dtypes.size()) return refuse_binding(trace, param.name, "no dtype");
    const DType dtype = binding.dtypes[pointers++];
    const bool may_be_narrow = param.dtype == DType::kF32;
    const bool is_narrow = dtype == DType::kF16 || dtype == DType::kBF16 ||
                           dtype == DType::kF8E4M3 || dtype == DType::kF8E5M2;
    if (dtype != param.dtype && !(may_be_narrow && is_narrow)) {
      return refuse_binding(trace, param.name, std::string(word(dtype)));
    }
  }
  if (ints > binding.ints.size()) return refuse_binding(trace, "", "an int parameter has no value");
  return {};
}

Expected<Step> lower_step(const OpTrace& trace, const Binding& binding, const Target& target,
                          const std::vector<uint8_t>& in_order, bool may_split) {
  Analysis analysis(trace);
  if (!in_order.empty()) analysis.in_order = in_order;
  const int lanes = target.lanes(has_f64(analysis));
  NRD_TRY(plan_vector_loops(analysis, lanes));
  Step step;
  int range_loop = may_split ? loop_to_split(analysis) : -1;
  if (range_loop >= 0 &&
      !is_known_ahead(trace, trace.loops[static_cast<size_t>(range_loop)].extent)) {
    range_loop = -1;  // how much there is to share out is found on the way
  }
  if (range_loop >= 0) {
    step.range = trace.loops[static_cast<size_t>(range_loop)].extent;
    step.grain = grain_of(analysis, static_cast<uint16_t>(range_loop));
  }
  Builder builder(trace.name, target, lanes);
  Lowering lowering(analysis, binding, builder, layout_of(trace), lanes);
  Expected<Program> program = lowering.run(range_loop);
  if (!program) return program.error();
  step.program = std::move(*program);
  return step;
}

Expected<Lowered> lower(const OpTrace& trace, const Binding& binding, const Target& target) {
  NRD_TRY(check_binding(trace, binding));
  Expected<Stored> stored = keep_in_scratch(trace, binding);
  if (!stored) return stored.error();
  for (const ValueId length : stored->scratch) {
    if (!is_known_ahead(stored->trace, length)) {
      return refuse_binding(trace, "", "a scratch row whose length depends on data");
    }
  }
  // A scratch row belongs to one thread.
  Expected<Step> step =
      lower_step(stored->trace, stored->binding, target, {}, stored->scratch.empty());
  if (!step) return step.error();
  Lowered lowered;
  lowered.program = std::move(step->program);
  lowered.layout = layout_of(stored->trace);
  lowered.trace = std::move(stored->trace);
  lowered.range = step->range;
  lowered.grain = step->grain;
  lowered.scratch = std::move(stored->scratch);
  return lowered;
}

// ---- the function around the trace ----

Lowering::Lowering(const Analysis& analysis, const Binding& binding, Builder& b,
                   const BlockLayout& layout, int lanes)
    : a_(analysis),
      trace_(analysis.trace),
      binding_(binding),
      layout_(layout),
      lanes_(lanes),
      b_(b),
      is_exact_(analysis.trace.values.size(), 0),
      bases_(analysis.trace.params.size()),
      vectors_(analysis.trace.values.size() * kMaxCopies, kNoReg),
      scalars_(analysis.trace.values.size() * kMaxCopies, kNoReg) {
  int counts[4] = {0, 0, 0, 0};
  for (const TraceParam& param : trace_.params) {
    const int ordinal = counts[static_cast<int>(param.kind)]++;
    ordinal_.push_back(ordinal);
    const bool is_pointer = param.kind == TraceParamKind::kPointer;
    dtypes_.push_back(is_pointer ? binding.dtypes[static_cast<size_t>(ordinal)] : param.dtype);
  }
}

Expected<Program> Lowering::run(int range_loop) {
  range_loop_ = range_loop;
  mark_exact_divisions();
  if (tells_lanes_apart()) iota_ = b_.iota();
  instances();
  b_.ret();
  if (refusal_.empty()) return b_.take();
  return make_error({.code = ErrorCode::kUnsupported,
                     .op = trace_.name,
                     .got = refusal_,
                     .hint = "the function itself will run"});
}

// for (; count > 0; count--) { the trace; each pointer moves on, unless it was the last }
void Lowering::instances() {
  const G count = b_.gload({b_.block(), {}, 1, BlockLayout::kCount});
  const Label top = b_.label(), done = b_.label();
  b_.branch(Predicate::kLe, count, 0, done);
  for (size_t p = 0; p < trace_.params.size(); p++) {
    const TraceParam& param = trace_.params[p];
    if (param.kind != TraceParamKind::kPointer || !(param.read || param.written)) continue;
    bases_[p] = b_.gload({b_.pointers(), {}, 1, 8 * ordinal_[p]});
  }
  for (ValueId id = 0; id < trace_.values.size(); id++) {
    const Value& v = trace_[id];
    if (!a_.is_live(id) || v.op != TraceOp::kParam) continue;
    if (trace_.params[v.index].kind == TraceParamKind::kSize) scalar(id);
    if (trace_.params[v.index].kind == TraceParamKind::kNumber) vector(id, 0);
  }
  if (range_loop_ >= 0) {
    const G extent = scalar(trace_.loops[static_cast<size_t>(range_loop_)].extent);
    const G end = b_.gload({b_.block(), {}, 1, BlockLayout::kEnd});
    range_end_ = b_.gop(Op::kGMin, end, extent, end);
  }
  // What depends on sizes and numbers alone is the same for every instance.
  hoist_uniform(trace_.body);
  b_.loop_begin();
  b_.bind(top);
  const Mark inside = mark();
  statements(trace_.body);
  forget(inside);
  b_.gop(Op::kGSub, count, 1, count);
  b_.branch(Predicate::kLe, count, 0, done);
  for (size_t p = 0; p < trace_.params.size(); p++) {
    if (!bases_[p].valid()) continue;
    const G stride = b_.gload({b_.block(), {}, 1, layout_.stride(ordinal_[p])});
    b_.gop(Op::kGAdd, bases_[p], stride, bases_[p]);
  }
  b_.jump(top);
  b_.loop_end();
  b_.bind(done);
}

void Lowering::hoist_uniform(const Body& body) {
  for (ValueId id : body) {
    const Value& v = trace_[id];
    if (!a_.is_live(id) || v.type == TraceType::kNone || v.type == TraceType::kI64) continue;
    if (v.op <= TraceOp::kResult || !is_pure(v.op) || !is_hoistable(id)) continue;
    if (v.type == TraceType::kBool) {
      mask(id, 0);
    } else {
      vector(id, 0);
    }
  }
}

bool Lowering::tells_lanes_apart() const {
  for (ValueId id = 0; id < trace_.values.size(); id++) {
    if (!a_.is_live(id)) continue;
    const Value& v = trace_[id];
    const bool takes_i64 = v.args[0] != kNoValue && trace_[v.args[0]].type == TraceType::kI64;
    if (takes_i64 && v.type != TraceType::kI64 && v.op != TraceOp::kStore) {
      if (v.op != TraceOp::kLoad || a_.access[id].kind == AccessKind::kGather) return true;
    }
    if (v.op == TraceOp::kCarry && v.type == TraceType::kI64) return true;
  }
  return false;
}

// A quotient that decides something, by a rounding to few bits or a comparison, is the division's
// own.
void Lowering::mark_exact_divisions() {
  for (ValueId id = static_cast<ValueId>(trace_.values.size()); id-- > 0;) {
    const Value& v = trace_[id];
    if (!a_.is_live(id)) continue;
    switch (v.op) {
      case TraceOp::kRoundTo:
      case TraceOp::kRint:
      case TraceOp::kFloor:
      case TraceOp::kCeil:
      case TraceOp::kTrunc:
      case TraceOp::kToI32:
      case TraceOp::kCmp: break;
      case TraceOp::kMaxFirst:
      case TraceOp::kMinFirst:
      case TraceOp::kMaxNan:
      case TraceOp::kMinNan:
      case TraceOp::kMaxNum:
      case TraceOp::kMinNum:
      case TraceOp::kNeg:
      case TraceOp::kAbs:
      case TraceOp::kAdd:  // (x - low) / step + 0.5, rounded down
      case TraceOp::kSub:
      case TraceOp::kSelect:
        if (!is_exact_[id]) continue;
        break;
      default: continue;
    }
    for (ValueId arg : v.args) {
      if (arg != kNoValue) is_exact_[arg] = 1;
    }
  }
}

// ---- registers of values ----

Lane Lowering::lane_of(ValueId id) const { return lane_of_type(trace_[id].type); }

bool Lowering::varies(ValueId id) const {
  return at_.loop >= 0 && a_.varying[static_cast<size_t>(at_.loop)].values[id] != 0;
}

size_t Lowering::slot_of(ValueId id, int copy) const {
  return static_cast<size_t>(id) * kMaxCopies + static_cast<size_t>(varies(id) ? copy : 0);
}

uint32_t Lowering::vector_slot(ValueId id, int copy) const { return vectors_[slot_of(id, copy)]; }
uint32_t Lowering::scalar_slot(ValueId id, int copy) const { return scalars_[slot_of(id, copy)]; }

void Lowering::bind(ValueId id, int copy, V v) {
  const size_t slot = slot_of(id, copy);
  vectors_[slot] = v.id;
  log_.push_back(slot);
}

void Lowering::bind(ValueId id, G g) {
  const size_t slot = slot_of(id, 0);
  scalars_[slot] = g.id;
  log_.push_back(slot);
}

void Lowering::forget(const Mark& mark) {
  for (size_t i = mark.slots; i < log_.size(); i++) {
    vectors_[log_[i]] = kNoReg;
    scalars_[log_[i]] = kNoReg;
  }
  log_.resize(mark.slots);
  streams_.resize(mark.streams);
  divisors_.resize(mark.divisors);
}

void Lowering::refuse(std::string reason) {
  if (refusal_.empty()) refusal_ = std::move(reason);
}

}  // namespace nrd::jit
