// SPDX-License-Identifier: MIT
// src/lift/affine.h: integers as sums of leaves times constants, before loops are known: additions,
// subtractions, and products and shifts by constants, wrapping as the machine does.
#pragma once

#include <map>
#include <optional>

#include "lift/function.h"

namespace nrd::lift {

struct Affine {
  std::map<NodeId, int64_t> terms;  // no factor is 0
  int64_t constant = 0;

  static Affine leaf(NodeId id) { return {{{id, 1}}, 0}; }
  bool is_constant() const { return terms.empty(); }
  Affine& add(const Affine& other, int64_t factor);
  Affine with(NodeId leaf, const Affine& value) const;  // in the leaf's place
  bool operator==(const Affine&) const = default;
  friend Affine operator-(Affine a, const Affine& b) { return a.add(b, -1); }
};

struct Walk;

class AffineForms {
 public:
  // `plain`: every phi is a leaf of its own.
  explicit AffineForms(const Function& function, bool plain = false)
      : f_(function), plain_(plain) {}
  Affine of(NodeId id) const { return of(id, 0); }

 private:
  Affine of(NodeId id, int depth) const;
  std::optional<Walk> walk_of(const Phi& phi) const;
  Affine of_phi(NodeId id) const;
  std::optional<Affine> mirrored(NodeId id, uint64_t factor, int depth) const;
  int zero_bits(NodeId id) const;
  const Function& f_;
  const bool plain_;
};

}  // namespace nrd::lift
