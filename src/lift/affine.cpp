// SPDX-License-Identifier: MIT
// src/lift/affine.cpp: see affine.h.
#include "lift/affine.h"

#include <algorithm>
#include <bit>

#include "lift/simplify.h"

namespace nrd::lift {
namespace {

constexpr int kDeepestSum = 12;

int64_t wrapped(int64_t a, int64_t b, int64_t factor) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) +
                              static_cast<uint64_t>(b) * static_cast<uint64_t>(factor));
}

}  // namespace

Affine& Affine::add(const Affine& other, int64_t factor) {
  constant = wrapped(constant, other.constant, factor);
  for (const auto& [leaf, by] : other.terms)
    if ((terms[leaf] = wrapped(terms[leaf], by, factor)) == 0) terms.erase(leaf);
  return *this;
}

Affine Affine::with(NodeId leaf, const Affine& value) const {
  Affine made = *this;
  const auto at = made.terms.find(leaf);
  if (at == made.terms.end()) return made;
  const int64_t factor = at->second;
  made.terms.erase(at);
  return made.add(value, factor);
}

Affine AffineForms::of(NodeId id, int depth) const {
  const Node& n = f_[id];
  if (n.kind == Kind::kConst && is_index_type(n.type)) return {{}, sign_extended(n.bits, n.type)};
  if (n.kind == Kind::kPhi && is_index_type(n.type) && !plain_) return of_phi(id);
  if (n.kind != Kind::kPure || !is_index_type(n.type) || depth > kDeepestSum)
    return Affine::leaf(id);
  const auto constant = [&](NodeId arg) { return f_[arg].kind == Kind::kConst; };
  switch (n.op) {
    case TraceOp::kAdd: return of(n.args[0], depth + 1).add(of(n.args[1], depth + 1), 1);
    case TraceOp::kSub: return of(n.args[0], depth + 1).add(of(n.args[1], depth + 1), -1);
    case TraceOp::kMul:
      if (!constant(n.args[1])) break;
      if (const std::optional<Affine> made = mirrored(n.args[0], f_[n.args[1]].bits, depth))
        return *made;
      return Affine{}.add(of(n.args[0], depth + 1),
                          sign_extended(f_[n.args[1]].bits, f_[n.args[1]].type));
    case TraceOp::kShl:
      if (!constant(n.args[1]) || f_[n.args[1]].bits > 30) break;
      return Affine{}.add(of(n.args[0], depth + 1), int64_t{1} << f_[n.args[1]].bits);
    default: break;
  }
  return Affine::leaf(id);
}

// A phi of a loop that moves by a constant.
struct Walk {
  Affine begin;
  int64_t step = 0;
};

std::optional<Walk> AffineForms::walk_of(const Phi& phi) const {
  if (phi.args.size() != 2) return std::nullopt;
  for (const size_t back : {size_t{0}, size_t{1}}) {
    const Affine moved = of(phi.args[back]) - Affine::leaf(phi.node);
    if (moved.is_constant() && moved.constant != 0)
      return Walk{of(phi.args[1 - back]), moved.constant};
  }
  return std::nullopt;
}

// What walks beside a counter is a multiple of that, and what keeps its distance from another phi
// is that one and the distance.
Affine AffineForms::of_phi(NodeId id) const {
  const std::vector<Phi>& phis = f_.blocks[f_[id].index].phis;
  const AffineForms plain(f_, true);
  const Phi& self = phis[f_[id].bits];
  if (const std::optional<Walk> mine = plain.walk_of(self))
    for (const Phi& other : phis) {
      const std::optional<Walk> counter = plain.walk_of(other);
      if (!counter || !counter->begin.is_constant() || f_[other.node].type != f_[id].type) continue;
      if (other.node == id || mine->step % counter->step != 0) return Affine::leaf(id);
      const int64_t factor = mine->step / counter->step;
      return Affine(mine->begin).add(Affine::leaf(other.node), factor).add(counter->begin, -factor);
    }
  for (const Phi& other : phis) {
    if (other.node == id) break;
    if (f_[other.node].type != f_[id].type) continue;
    std::optional<int64_t> distance;
    bool same = true;
    for (size_t i = 0; i < self.args.size() && same; i++) {
      Affine apart = plain.of(self.args[i]) - plain.of(other.args[i]);
      if (distance) apart = apart.with(id, Affine{{{other.node, 1}}, *distance});
      same = apart.is_constant() && (!distance || apart.constant == *distance);
      if (same) distance = apart.constant;
    }
    if (same && distance) return Affine{{{other.node, 1}}, *distance};
  }
  return Affine::leaf(id);
}

// (x ^ mask) * 2^p, the mask all ones but for the lowest bits, where x has none of these: they are
// subtracted from -1 with x. What the product shifts out the mask may lack.
std::optional<Affine> AffineForms::mirrored(NodeId id, uint64_t factor, int depth) const {
  const Node& n = f_[id];
  if (n.kind != Kind::kPure || n.op != TraceOp::kXor || f_[n.args[1]].kind != Kind::kConst)
    return std::nullopt;
  if (!std::has_single_bit(factor)) return std::nullopt;
  const int lost = 64 - type_bits(n.type) + std::countr_zero(factor);
  const int64_t mask = static_cast<int64_t>(f_[n.args[1]].bits << lost) >> lost;
  const int64_t low = -1 - mask;  // the bits that are not turned round
  if (low < 0 || low >= int64_t{1} << zero_bits(n.args[0])) return std::nullopt;
  Affine made{{}, -1 - low};
  made.add(of(n.args[0], depth + 1), -1);
  return Affine{}.add(made, static_cast<int64_t>(factor));
}

// How many low bits are surely zero.
int AffineForms::zero_bits(NodeId id) const {
  const Node& n = f_[id];
  if (n.kind != Kind::kPhi) return 0;
  int zeros = 16;
  for (const NodeId arg : f_.blocks[n.index].phis[n.bits].args) {
    const Node& a = f_[arg];
    const bool moves = a.kind == Kind::kPure && a.op == TraceOp::kAdd && a.args[0] == id;
    const Node& by = moves ? f_[a.args[1]] : a;
    if (by.kind != Kind::kConst) return 0;
    if (by.bits != 0) zeros = std::min(zeros, std::countr_zero(by.bits));
  }
  return zeros;
}

}  // namespace nrd::lift
