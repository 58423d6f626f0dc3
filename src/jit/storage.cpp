// SPDX-License-Identifier: MIT
// src/jit/storage.cpp: see storage.h.
#include "jit/storage.h"

#include <optional>

#include "trace/liveness.h"
#include "trace/poly.h"

namespace nrd::jit {
namespace {

// A load or store of the parameter at work, in execution order.
struct Access {
  ValueId id;
  std::vector<uint16_t> nest;  // loops around it, the outermost first
  bool is_store;
};

class ScratchPass {
 public:
  ScratchPass(OpTrace& trace, const Binding& binding, uint16_t param, DType dtype)
      : trace_(trace), binding_(binding), live_(live_values(trace)), param_(param), dtype_(dtype) {
    std::vector<uint16_t> nest;
    collect(trace_.body, nest);
  }

  // Whether a row is needed; an error where a row would not do.
  Expected<bool> is_needed() {
    for (size_t i = 0; i < accesses_.size(); i++) {
      if (accesses_[i].is_store) NRD_TRY(check_repeated(accesses_[i]));
    }
    bool needed = false;
    for (size_t i = 0; i < accesses_.size(); i++) {
      if (accesses_[i].is_store || !reads_back(i)) continue;
      if (!is_covered(i)) return refuse("is read back where nothing may have been stored");
      needed = true;
    }
    return needed && !all_rounded();
  }

  // Redirects loads, and stores that a later one overwrites; the other stores go to both.
  ValueId rewrite(uint16_t row) {
    ValueId length = kNoValue;
    for (size_t i = 0; i < accesses_.size(); i++) {
      const Access& access = accesses_[i];
      if (!access.is_store) {
        if (reads_back(i)) trace_.values[access.id].index = row;
        continue;
      }
      if (!is_read_later(i)) continue;
      if (length == kNoValue) length = length_of(access);
      if (is_overwritten(i)) {
        trace_.values[access.id].index = row;
      } else {
        duplicate(access, row);
      }
    }
    return length;
  }

 private:
  Error refuse(std::string_view why) const {
    return make_error({.code = ErrorCode::kUnsupported,
                       .op = trace_.name,
                       .argument = trace_.params[param_].name,
                       .got = "an output narrower than f32 that " + std::string(why),
                       .hint = "the function itself will run"});
  }

  void collect(const std::vector<ValueId>& body, std::vector<uint16_t>& nest) {
    for (ValueId id : body) {
      const Value& v = trace_[id];
      if (v.op == TraceOp::kLoop && live_.loops[v.index]) {
        nest.push_back(v.index);
        collect(trace_.loops[v.index].body, nest);
        nest.pop_back();
      }
      const bool is_access = v.op == TraceOp::kLoad || v.op == TraceOp::kStore;
      if (is_access && live_.values[id] && v.index == param_) {
        accesses_.push_back({id, nest, v.op == TraceOp::kStore});
      }
    }
  }

  Poly index(const Access& access) const { return poly_of(trace_, trace_[access.id].args[0]); }

  // An element that is loaded and stored in turn by a loop that does not move on would be rounded
  // each time.
  Expected<void> check_repeated(const Access& store) const {
    for (const Access& load : accesses_) {
      if (load.is_store) continue;
      for (uint16_t loop : store.nest) {
        bool is_shared = false;
        for (uint16_t other : load.nest) is_shared |= other == loop;
        if (is_shared && !depends_on(trace_, index(store), trace_.loops[loop].iv)) {
          return refuse("is updated again and again");
        }
      }
    }
    return {};
  }

  // A load behind a store; one that the same iteration runs ahead of its store reads the input.
  bool reads_back(size_t load) const {
    for (size_t i = 0; i < load; i++) {
      if (accesses_[i].is_store) return true;
    }
    return false;
  }

  // The index of `access` in terms of the counters of `other`, if the nests run alike.
  std::optional<Poly> index_in_nest_of(const Access& access, const Access& other) const {
    if (access.nest.size() != other.nest.size()) return std::nullopt;
    for (size_t d = 0; d < access.nest.size(); d++) {
      if (access.nest[d] == other.nest[d]) continue;
      const Poly a = renamed(poly_of(trace_, trace_.loops[access.nest[d]].extent), access, other);
      if (!(a == poly_of(trace_, trace_.loops[other.nest[d]].extent))) return std::nullopt;
    }
    return renamed(index(access), access, other);
  }

  Poly renamed(const Poly& poly, const Access& from, const Access& to) const {
    Poly sum;
    for (const PolyTerm& term : poly.terms()) {
      Poly product = Poly::constant(term.coefficient);
      for (ValueId atom : term.factors()) {
        ValueId name = atom;
        for (size_t d = 0; d < from.nest.size(); d++) {
          if (trace_.loops[from.nest[d]].iv == atom) name = trace_.loops[to.nest[d]].iv;
        }
        product = product * Poly::atom(name);
      }
      sum = sum + product;
    }
    return sum;
  }

  bool same_elements(const Access& a, const Access& b) const {
    const auto renamed_index = index_in_nest_of(a, b);
    return renamed_index && *renamed_index == index(b);
  }

  bool is_covered(size_t load) const {
    for (size_t i = 0; i < load; i++) {
      const bool is_whole = accesses_[i].is_store && trace_[accesses_[i].id].args[2] == kNoValue;
      if (is_whole && same_elements(accesses_[load], accesses_[i])) return true;
    }
    return false;
  }

  bool is_read_later(size_t store) const {
    for (size_t i = store + 1; i < accesses_.size(); i++) {
      if (!accesses_[i].is_store) return true;
    }
    return false;
  }

  bool is_overwritten(size_t store) const {
    for (size_t i = store + 1; i < accesses_.size(); i++) {
      const bool is_whole = accesses_[i].is_store && trace_[accesses_[i].id].args[2] == kNoValue;
      if (is_whole && same_elements(accesses_[store], accesses_[i])) return true;
    }
    return false;
  }

  bool is_rounded(ValueId id) const {
    const Value& v = trace_[id];
    if (v.op != TraceOp::kRoundTo) return false;
    const Value& type = trace_[v.args[1]];
    int number = -1;
    if (type.op == TraceOp::kConst) number = static_cast<int>(type.bits);
    if (type.op == TraceOp::kParam) number = binding_.ints[int_ordinal(type.index)];
    return number == static_cast<int>(dtype_);
  }

  size_t int_ordinal(uint16_t param) const {
    size_t ordinal = 0;
    for (uint16_t p = 0; p < param; p++) {
      ordinal += trace_.params[p].kind == TraceParamKind::kInt;
    }
    return ordinal;
  }

  bool all_rounded() const {
    for (size_t i = 0; i < accesses_.size(); i++) {
      if (!accesses_[i].is_store || !is_read_later(i)) continue;
      if (!is_rounded(trace_[accesses_[i].id].args[1])) return false;
    }
    return true;
  }

  ValueId append(TraceOp op, ValueId a, ValueId b) {
    trace_.values.push_back({.op = op, .type = TraceType::kI64, .args = {a, b, kNoValue}});
    return static_cast<ValueId>(trace_.values.size() - 1);
  }

  ValueId constant(int64_t value) {
    trace_.values.push_back(
        {.op = TraceOp::kConst, .type = TraceType::kI64, .bits = static_cast<uint64_t>(value)});
    return static_cast<ValueId>(trace_.values.size() - 1);
  }

  // One more than the largest index.
  ValueId length_of(const Access& access) {
    ValueId sum = constant(1);
    const Poly last = index(access);
    for (const PolyTerm& term : last.terms()) {
      ValueId product = constant(term.coefficient);
      for (ValueId atom : term.factors()) {
        ValueId factor = atom;
        if (trace_[atom].op == TraceOp::kIv) {
          factor = append(TraceOp::kSub, trace_.loops[trace_[atom].index].extent, constant(1));
        }
        product = append(TraceOp::kMul, product, factor);
      }
      sum = append(TraceOp::kAdd, sum, product);
    }
    return sum;
  }

  void duplicate(const Access& access, uint16_t row) {
    Value copy = trace_[access.id];
    copy.index = row;
    trace_.values.push_back(copy);
    auto& body = access.nest.empty() ? trace_.body : trace_.loops[access.nest.back()].body;
    for (size_t i = 0; i < body.size(); i++) {
      if (body[i] != access.id) continue;
      body.insert(body.begin() + static_cast<ptrdiff_t>(i),
                  static_cast<ValueId>(trace_.values.size() - 1));
      return;
    }
  }

  OpTrace& trace_;
  const Binding& binding_;
  Liveness live_;
  uint16_t param_;
  DType dtype_;
  std::vector<Access> accesses_;
};

}  // namespace

Expected<Stored> keep_in_scratch(const OpTrace& trace, const Binding& binding) {
  Stored stored{trace, binding, {}};
  size_t pointer = 0;
  for (uint16_t p = 0; p < trace.params.size(); p++) {
    const TraceParam& param = trace.params[p];
    if (param.kind != TraceParamKind::kPointer) continue;
    const DType dtype = binding.dtypes[pointer++];
    if (dtype == param.dtype || !param.read || !param.written) continue;
    ScratchPass pass(stored.trace, binding, p, dtype);
    const Expected<bool> needed = pass.is_needed();
    if (!needed) return needed.error();
    if (!*needed) continue;
    stored.trace.params.push_back({.kind = TraceParamKind::kPointer,
                                   .dtype = DType::kF32,
                                   .read = true,
                                   .written = true,
                                   .name = "scratch_" + param.name});
    stored.binding.dtypes.push_back(DType::kF32);
    stored.scratch.push_back(pass.rewrite(static_cast<uint16_t>(stored.trace.params.size() - 1)));
  }
  return stored;
}

}  // namespace nrd::jit
