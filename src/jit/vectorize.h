// SPDX-License-Identifier: MIT
// src/jit/vectorize.h: which loops of a trace become vector loops, and how their accesses go.
//
// Of each nest one loop is the vector loop: its iterations lie side by side in the lanes. It is the
// innermost one where that gives contiguous accesses, otherwise a loop around it (columns of a
// matrix), whose inner loops then run counted, on vectors. The loops around it run counted too.
#pragma once

#include "base/error.h"
#include "trace/classify.h"
#include "trace/liveness.h"
#include "trace/poly.h"
#include "trace/trace.h"

namespace nrd::jit {

// The body of a vector loop, in instructions: up to this many it is light.
constexpr int kLightBody = 10;

enum class LoopForm : uint8_t {
  kCounted,  // one iteration at a time
  kMap,      // the vector loop of its nest; nothing is carried
  kReduce,   // the vector loop of its nest, innermost, with carried values
};

// How an access of a vector loop touches memory from lane to lane.
enum class AccessKind : uint8_t {
  kUniform,  // the same element in every lane
  kUnit,     // neighbours
  kPair,     // every other element; its partner (same parameter) takes the ones between
  kStrided,  // at a fixed distance
  kBlock,    // the same element through a whole vector: x[i / 128]
  kGather,   // loads only
};

struct AccessPlan {
  AccessKind kind = AccessKind::kUniform;
  // index = coefficient * counter + rest + offset, if it is linear in the vector loop's counter.
  // Of kBlock and kGather: coefficient + rest + offset, where only coefficient changes.
  Poly coefficient, rest;
  int64_t offset = 0;
  ValueId partner = kNoValue;  // of a pair; the even one has the smaller offset
  bool is_odd = false;
  int64_t block = 0;  // of kBlock: iterations an element serves
};

struct LoopPlan {
  LoopForm form = LoopForm::kCounted;
  bool has_inner_loops = false;  // of a vector loop
};

// How many leading iterations of a vector loop a guard lets through.
struct Prefix {
  Poly bound;
  int64_t divisor = 1;  // ceil(bound / divisor)
};

// What lowering knows about a trace.
struct Analysis {
  explicit Analysis(const OpTrace& trace);
  const OpTrace& trace;
  Liveness live;
  Scopes scopes;
  Carries carries;
  std::vector<Varying> varying;  // by loop
  std::vector<uint32_t> uses;    // by value, from live ones
  std::vector<LoopPlan> loops;
  std::vector<AccessPlan> access;  // by value; of loads and stores inside vector loops
  std::vector<uint8_t> in_order;   // by loop: set from outside, runs counted whatever it could be

  bool is_live(ValueId id) const { return live.values[id] != 0; }
  bool is_live_loop(uint16_t loop) const { return live.loops[loop] != 0; }
  // The iterations of `loop` for which a guard holds are its first ones, and so many.
  std::vector<Prefix> prefixes(ValueId guard, uint16_t loop, bool& understood) const;
};

// Fills `loops` and `access`, or says why the trace is left to its function.
Expected<void> plan_vector_loops(Analysis& analysis, int lanes);

}  // namespace nrd::jit
