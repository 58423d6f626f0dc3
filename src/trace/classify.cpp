// SPDX-License-Identifier: MIT
// src/trace/classify.cpp: the class of a trace. Carries are in carries.cpp, products in
// contraction.cpp.
#include "trace/classify.h"

#include <algorithm>

#include "trace/structure.h"

namespace nrd {
namespace {

enum class IndexKind { kPlain, kLoaded, kCarried };

// What an index is made of, through any operation.
IndexKind index_kind(const OpTrace& trace, ValueId index) {
  std::vector<ValueId> work{index};
  std::vector<uint8_t> seen(trace.values.size(), 0);
  IndexKind kind = IndexKind::kPlain;
  while (!work.empty()) {
    const ValueId id = work.back();
    work.pop_back();
    if (id == kNoValue || seen[id]) continue;
    seen[id] = 1;
    const Value& v = trace[id];
    if (v.op == TraceOp::kCarry || v.op == TraceOp::kResult) return IndexKind::kCarried;
    if (v.op == TraceOp::kLoad) kind = IndexKind::kLoaded;
    work.insert(work.end(), v.args.begin(), v.args.end());
  }
  return kind;
}

// The index with the counters of one nest replaced by those of another.
Poly renamed(const OpTrace& trace, const Poly& index, std::span<const uint16_t> from,
             std::span<const uint16_t> to) {
  Poly result;
  for (const PolyTerm& term : index.terms()) {
    Poly product = Poly::constant(term.coefficient);
    for (ValueId atom : term.factors()) {
      for (size_t i = 0; i < from.size(); i++) {
        if (trace.loops[from[i]].iv == atom) {
          atom = trace.loops[to[i]].iv;
          break;
        }
      }
      product = product * Poly::atom(atom);
    }
    result = result + product;
  }
  return result;
}

bool same_extent(const OpTrace& trace, uint16_t a, uint16_t b) {
  return a == b || poly_of(trace, trace.loops[a].extent) == poly_of(trace, trace.loops[b].extent);
}

// Do two accesses touch the same element in corresponding iterations? The nests must agree.
bool is_same_element(const Structure& s, const Access& a, const Access& b) {
  const std::vector<uint16_t> x = s.nest(a.loop);
  const std::vector<uint16_t> y = s.nest(b.loop);
  const size_t common = std::min(x.size(), y.size());
  for (size_t i = 0; i < common; i++) {
    if (!same_extent(s.trace, x[i], y[i])) return false;
  }
  return renamed(s.trace, a.index, std::span(x).first(common), std::span(y).first(common)) ==
         b.index;
}

// What is read from an output must be the element that some store writes: then iterations do not
// depend on each other, whichever pass reads.
bool reads_only_own_elements(const Structure& s) {
  for (const Access& load : s.loads) {
    const uint16_t param = s.trace[load.id].index;
    if (!s.trace.params[param].written) continue;
    const bool found = std::any_of(s.stores.begin(), s.stores.end(), [&](const Access& store) {
      return s.trace[store.id].index == param && is_same_element(s, load, store);
    });
    if (!found) return false;
  }
  return true;
}

// The index minus what counters contribute; nothing where it is not linear in one of them.
struct Affine {
  std::vector<Poly> coefficients;  // by loop of the nest
  Poly rest;
};
std::optional<Affine> affine_in(const Structure& s, const Poly& index,
                                std::span<const uint16_t> nest) {
  Affine affine{{}, index};
  for (const uint16_t loop : nest) {
    const auto linear = linear_in(affine.rest, s.trace.loops[loop].iv, s.varying[loop]);
    if (!linear) return std::nullopt;
    affine.coefficients.push_back(linear->coefficient);
    affine.rest = linear->rest;
  }
  return affine;
}

// A store that hits another element in each iteration of every loop around it.
bool writes_apart(const Structure& s, const Access& store) {
  const auto affine = affine_in(s, store.index, s.nest(store.loop));
  if (!affine) return false;
  return std::none_of(affine->coefficients.begin(), affine->coefficients.end(),
                      [](const Poly& c) { return c.is_zero(); });
}

// At the loops' own indices: the store's, or any without an offset; or a broadcast, which some loop
// does not move or moves in steps (i / 128).
bool is_own_index(const Structure& s, const Access& load, const Access& store) {
  if (load.index == store.index) return true;
  const auto affine = affine_in(s, load.index, s.nest(store.loop));
  if (!affine) return true;
  for (const Poly& coefficient : affine->coefficients) {
    if (coefficient.is_zero()) return true;
    if (coefficient.as_constant().value_or(1) < 0) return false;
  }
  return affine->rest.is_zero();
}

// Two stores of one iteration to one parameter that never meet: every c-th element with offsets
// that differ modulo c, or halves, an extent apart.
bool never_meet(const Structure& s, const Access& a, const Access& b) {
  const uint16_t loop = static_cast<uint16_t>(a.loop);
  const ValueId iv = s.trace.loops[loop].iv;
  const auto x = linear_in(a.index, iv, s.varying[loop]);
  const auto y = linear_in(b.index, iv, s.varying[loop]);
  if (!x || !y || !(x->coefficient == y->coefficient)) return false;
  const std::optional<int64_t> step = x->coefficient.as_constant();
  if (!step || *step <= 0) return false;
  const Poly apart = y->rest - x->rest;
  if (const auto distance = apart.as_constant()) return *distance % *step != 0;
  const Poly extent = poly_of(s.trace, s.trace.loops[loop].extent) * Poly::constant(*step);
  return apart == extent || Poly() - apart == extent;
}

OpClass class_of_map(const Structure& s) {
  bool is_pairwise = false;
  for (size_t i = 0; i < s.stores.size(); i++) {
    for (size_t j = 0; j < i; j++) {
      const bool same_param = s.trace[s.stores[i].id].index == s.trace[s.stores[j].id].index;
      const bool same_index = s.stores[i].index == s.stores[j].index;
      if (!same_param && same_index) continue;
      if (same_param && !never_meet(s, s.stores[i], s.stores[j])) return OpClass::kOpaque;
      is_pairwise = true;
    }
  }
  if (is_pairwise) return OpClass::kPairwise;
  const bool own = std::all_of(s.loads.begin(), s.loads.end(), [&](const Access& load) {
    return is_own_index(s, load, s.stores[0]);
  });
  return own ? OpClass::kElementwise : OpClass::kOpaque;
}

// Every pass over the data inside one scope has the same extents, from the outside in.
bool passes_agree(const Structure& s) {
  const uint16_t loops = static_cast<uint16_t>(s.trace.loops.size());
  for (uint16_t a = 0; a < loops; a++) {
    for (uint16_t b = 0; b < a; b++) {
      if (!s.live.loops[a] || !s.live.loops[b]) continue;
      const std::vector<uint16_t> x = s.nest(a);
      const std::vector<uint16_t> y = s.nest(b);
      if (x.size() != y.size()) continue;
      if (!std::equal(x.begin(), x.end(), y.begin(),
                      [&](uint16_t p, uint16_t q) { return same_extent(s.trace, p, q); }))
        return false;
    }
  }
  return true;
}

OpClass class_of_passes(const Structure& s) {
  bool has_map = false;
  bool reduces = false;
  bool has_argument = false;
  for (uint16_t loop = 0; loop < s.trace.loops.size(); loop++) {
    if (!s.live.loops[loop]) continue;
    reduces |= s.reduces(loop);
    has_argument |= s.has_kind(loop, CarryKind::kArg);
  }
  for (const Access& store : s.stores)
    has_map |= store.loop != kNoLoop && !s.has_reduction_inside(store.loop);
  if (!has_map) {
    if (!reduces) return OpClass::kOpaque;
    return has_argument ? OpClass::kArgmax : OpClass::kReduction;
  }
  return passes_agree(s) && !has_argument ? OpClass::kNorm : OpClass::kOpaque;
}

bool has_sequential_carry(const Structure& s) {
  for (uint16_t loop = 0; loop < s.trace.loops.size(); loop++) {
    for (size_t i = 0; i < s.carries[loop].size(); i++) {
      const CarryInfo& info = s.carries[loop][i];
      const bool ordered = info.kind == CarryKind::kSequential && !info.is_product;
      if (ordered && s.is_carry_live(loop, i)) return true;
    }
  }
  return false;
}

}  // namespace

OpClass classify(const OpTrace& trace) {
  const Structure s(trace);
  if (s.stores.empty()) return OpClass::kOpaque;
  bool gathers = false;
  for (const auto* accesses : {&s.loads, &s.stores}) {
    for (const Access& access : *accesses) {
      const IndexKind kind = index_kind(trace, trace[access.id].args[0]);
      if (kind == IndexKind::kCarried) return OpClass::kOpaque;
      gathers |= kind == IndexKind::kLoaded;
    }
  }
  if (has_sequential_carry(s) || !reads_only_own_elements(s)) return OpClass::kOpaque;
  if (!std::all_of(s.stores.begin(), s.stores.end(),
                   [&](const Access& store) { return writes_apart(s, store); }))
    return OpClass::kOpaque;
  if (gathers) return OpClass::kGather;
  if (const auto c = contraction_of(s)) return c->is_gemv ? OpClass::kGemv : OpClass::kGemm;

  const uint32_t loop = s.stores[0].loop;
  const bool one_place = std::all_of(s.stores.begin(), s.stores.end(),
                                     [&](const Access& store) { return store.loop == loop; });
  const std::vector<uint16_t> nest = s.nest(loop);
  const bool reduces = s.has_reduction_inside(kNoLoop);
  if (one_place && !nest.empty() && !reduces) return class_of_map(s);
  return class_of_passes(s);
}

}  // namespace nrd
