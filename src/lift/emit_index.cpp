// SPDX-License-Identifier: MIT
// src/lift/emit_index.cpp: indices: products of most factors first, counters before other factors.
#include <algorithm>

#include "lift/emitter.h"

namespace nrd::lift {
namespace {

size_t degree(const PolyTerm& t) {
  return static_cast<size_t>(std::find(t.atoms.begin(), t.atoms.end(), kNoNode) - t.atoms.begin());
}

}  // namespace

std::vector<PolyTerm> Emitter::in_order(const IntPoly& poly) const {
  const auto rank = [&](NodeId atom) {
    const Node& n = f_[atom];
    const bool is_iv = is_leaf(n) && leaf_role(n) == LeafRole::kIv;
    return std::pair<bool, uint32_t>(!is_iv, is_iv ? loop_of_[n.index] : atom);
  };
  const auto by_rank = [&](NodeId a, NodeId b) { return rank(a) < rank(b); };
  const auto end = [](auto& t) { return t.atoms.begin() + static_cast<ptrdiff_t>(degree(t)); };
  std::vector<PolyTerm> terms(poly.terms().begin(), poly.terms().end());
  for (PolyTerm& t : terms) std::sort(t.atoms.begin(), end(t), by_rank);
  std::sort(terms.begin(), terms.end(), [&](const PolyTerm& a, const PolyTerm& b) {
    if (degree(a) != degree(b)) return degree(a) > degree(b);
    return std::lexicographical_compare(a.atoms.begin(), end(a), b.atoms.begin(), end(b), by_rank);
  });
  return terms;
}

ValueId Emitter::sum_of(const IntPoly& poly) {
  Indexed sum;
  for (const PolyTerm& t : in_order(poly)) {
    // Only behind a first term can a minus sign become a difference.
    const bool subtract = sum.value != kNoValue && t.coefficient < 0;
    const Indexed product = product_of(t, subtract ? -t.coefficient : t.coefficient);
    sum = joined(subtract ? TraceOp::kSub : TraceOp::kAdd, sum, product);
  }
  return sum.value != kNoValue ? sum.value : index_constant(0);
}

Emitter::Indexed Emitter::product_of(const PolyTerm& term, int64_t coefficient) {
  Indexed product;
  if (coefficient != 1 || degree(term) == 0) product.value = index_constant(coefficient);
  for (size_t i = 0; i < degree(term); i++) {
    const Indexed factor{emit(term.atoms[i]), scopes_.of(term.atoms[i])};
    product = joined(TraceOp::kMul, product, factor);
  }
  return product;
}

Emitter::Indexed Emitter::joined(TraceOp op, const Indexed& a, const Indexed& b) {
  if (a.value == kNoValue) return b;
  const int scope = region_at(a.scope).depth > region_at(b.scope).depth ? a.scope : b.scope;
  const uint64_t key = static_cast<uint64_t>(op) << 56 | uint64_t{a.value} << 28 | b.value;
  if (const uint32_t known = indices_.find(key); known != FlatMap::kMissing) return {known, scope};
  const ValueId made =
      append(scope, {.op = op, .type = TraceType::kI64, .args = {a.value, b.value, kNoValue}});
  indices_.set(key, made);
  return {made, scope};
}

ValueId Emitter::index_constant(int64_t value) {
  return emit(factory_.constant(Type::kI64, static_cast<uint64_t>(value)));
}

}  // namespace nrd::lift
