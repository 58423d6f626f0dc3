// SPDX-License-Identifier: MIT
// src/trace/structure.h: facts about a trace that its classes are told from. Private to classify.
#pragma once

#include "trace/classify.h"
#include "trace/liveness.h"
#include "trace/poly.h"

namespace nrd {

struct Access {
  ValueId id;
  uint32_t loop;  // innermost around it, or kNoLoop
  Poly index;
};

struct Structure {
  explicit Structure(const OpTrace& trace);

  const OpTrace& trace;
  Liveness live;
  Scopes scopes;
  Carries carries;
  std::vector<Varying> varying;  // by loop
  std::vector<Access> loads, stores;

  // Loops around `loop`, itself included, the outermost first; none for kNoLoop.
  std::vector<uint16_t> nest(uint32_t loop) const;
  bool is_carry_live(uint16_t loop, size_t carry) const;
  bool has_kind(uint16_t loop, CarryKind kind) const;  // among live carries
  bool reduces(uint16_t loop) const;                   // a live carry that is not constant
  bool has_reduction_inside(uint32_t scope) const;     // in a loop deeper than `scope`
};

std::optional<Contraction> contraction_of(const Structure& s);

}  // namespace nrd
