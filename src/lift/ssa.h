// SPDX-License-Identifier: MIT
// src/lift/ssa.h: SSA form while instructions are translated (Braun et al. 2013): registers,
// flags and stack slots are variables; phis are made where a read needs them.
//
// A variable is read as a facet: a register's low 32 or 64 bits, a vector's low lane as a float,
// a condition of the flags. A phi is made for the facet that is read, so that a float which
// lives in an xmm register is a phi of floats.
#pragma once

#include "lift/discover.h"
#include "lift/flat_map.h"

namespace nrd::lift {

// Bytes of the stack that are one variable, by distance from the stack pointer at entry.
struct Cell {
  int64_t offset = 0;
  uint32_t size = 0;            // bytes: 1, 2, 4, 8, or 16 for a spilled vector register
  bool only_constants = false;  // every access so far stored a constant into all of it
  int64_t end() const { return offset + size; }
};

// What is learnt about a function while it is built. Cells, and stack addresses that turn out to
// change in a loop, can be known too late: then `Restart` is thrown and the function built again.
struct Learned {
  std::vector<Cell> cells;
  FlatMap varying;  // block and variable
};
struct Restart {};

inline bool is_vector_variable(uint32_t variable) {
  return variable >= kVectorBase && variable < kFlagsVariable;
}

class SsaBuilder final : public Builder {
 public:
  SsaBuilder(const Code& code, const Image& image, FrontEnd& front_end, CallResolver& resolver,
             const CSignature& signature, Learned& learned, Keep keep);

  // Translates every block. Afterwards the function has phis, loads and stores, but no stack;
  // a phi that was found to be trivial forwards to args[0].
  Function run();

  const Node& node(NodeId id) const override { return function_.nodes[id]; }
  NodeId constant(Type type, uint64_t bits, uint64_t high) override;
  NodeId pure(TraceOp op, Type type, NodeId a, NodeId b, NodeId c) override;
  NodeId special(Kind kind, Type type, NodeId a, NodeId b) override;
  NodeId compare(Predicate predicate, NodeId a, NodeId b) override;
  NodeId select(NodeId condition, NodeId a, NodeId b) override;
  NodeId convert(NodeId a, Type to, bool sign_extend) override;
  NodeId bitcast(NodeId a, Type to) override;
  NodeId read_gpr(uint32_t reg, Type type, bool high_byte) override;
  void write_gpr(uint32_t reg, NodeId value, bool high_byte) override;
  NodeId read_vector(uint32_t reg, Type type) override;
  NodeId read_vector_as_is(uint32_t reg) override;
  void write_vector(uint32_t reg, NodeId value) override;
  void set_flags(FlagsKind kind, NodeId a, NodeId b) override;
  void set_flags_if(NodeId condition, FlagsKind kind, NodeId a, NodeId b, unsigned nzcv) override;
  void clobber_flags() override;
  NodeId condition(Cond cond) override;
  NodeId load(Type type, NodeId address) override;
  void store(NodeId address, NodeId value) override;
  void clobber_call() override;
  [[noreturn]] void refuse(std::string reason) override;

 private:
  // A Type: the low bits; the upper half of 64 bits; or kConditions + Cond of the flags.
  using Facet = uint8_t;
  static constexpr Facet kUpperInteger = 12, kUpperFloat = 13, kConditions = 16;
  static constexpr Facet facet_of(Type type) { return static_cast<Facet>(type); }

  // ssa.cpp
  NodeId resolve(NodeId id) const;
  NodeId definition(BlockId block, uint32_t variable);
  void define(uint32_t variable, NodeId value);
  NodeId initial(uint32_t variable);
  NodeId initial_cell(const Cell& cell);
  NodeId read(BlockId block, uint32_t variable, Facet facet);
  NodeId read_here(uint32_t variable, Facet facet) { return read(block_, variable, facet); }
  NodeId read_entry(BlockId block, uint32_t variable, Facet facet);
  NodeId read_unsealed(BlockId block, uint32_t variable, Facet facet);
  bool is_likely_invariant(NodeId value) const;
  NodeId read_join(BlockId block, uint32_t variable, Facet facet);
  NodeId project(NodeId value, uint32_t variable, Facet facet);
  Type facet_type(Facet facet) const;
  NodeId new_phi(BlockId block, Type type);
  NodeId fill_phi(NodeId phi, BlockId block, uint32_t variable, Facet facet);
  NodeId forward_if_trivial(NodeId phi);
  void settle_phis();
  void seal(BlockId block);
  void finish_block(BlockId block);
  void translate_block(BlockId block);
  void adjust_stack(int64_t bytes);
  void read_result();

  // call_effects.cpp
  const CallTarget& called_function(const Step& step);
  std::vector<NodeId> read_arguments(const std::vector<Type>& types);
  void translate_call(const CallTarget& target, uint64_t address);
  void call_sin_cos(const CallTarget& target);
  void call_copy(const CallTarget& target);
  void call_fill(const CallTarget& target);
  uint64_t constant_size(const CallTarget& target, NodeId to, NodeId size);
  size_t element_at(NodeId address, int depth) const;

  // access.cpp
  bool split_stack_address(NodeId address, int64_t* offset) const;
  bool mentions_stack(NodeId id, int depth) const;
  NodeId load_memory(Type type, NodeId address);
  bool is_loaded_before(NodeId address) const;
  NodeId load_either(Type type, NodeId address);
  enum class Way : uint8_t { kStraight, kThroughBranches, kOther };
  Way way_from(BlockId join) const;
  NodeId load_chosen(Type type, NodeId address);
  NodeId load_through_phi(Type type, NodeId phi, int64_t offset);
  bool is_global(NodeId access) const;
  bool unchanged_since(BlockId join, int64_t offset, Type type);
  NodeId load_at_end(BlockId block, Type type, NodeId address, bool is_certain);

  // slots.cpp
  NodeId stored_lane(NodeId value) const;
  NodeId load_slot(BlockId block, Type type, int64_t offset);
  void store_slot(int64_t offset, NodeId value);
  void store_constant(int64_t offset, uint32_t size, const Node& value);
  NodeId constant_part(const Node& value, int64_t from, uint32_t size);
  uint32_t cell_for(int64_t offset, uint32_t size, bool stores_constant, bool is_vector);
  uint32_t cell_at(int64_t offset) const;
  uint32_t add_cell(int64_t offset, uint32_t size, bool only_constants);
  [[noreturn]] void relayout(int64_t offset, uint32_t size);
  void write_cell(uint32_t cell, int64_t inner, NodeId value);
  NodeId read_cell(BlockId block, uint32_t cell, int64_t inner, Type type);

  const Code& code_;
  const Image& image_;
  FrontEnd& front_end_;
  CallResolver& resolver_;
  const CSignature& signature_;
  Learned& learned_;
  Keep keep_;
  Function function_;
  NodeFactory factory_{function_};

  struct Incomplete {
    NodeId phi = kNoNode;
    uint32_t variable = 0;
    Facet facet = 0;
  };
  struct Assumption {  // an address that every round of a loop finds unchanged
    NodeId value = kNoNode;
    uint32_t variable = 0;
  };
  struct State {
    bool sealed = false, done = false;
    uint32_t predecessors_done = 0;
    std::vector<Incomplete> incomplete;
    std::vector<Assumption> assumptions;
  };

  std::vector<State> states_;
  std::vector<NodeId> registers_;  // block x register: the last value written
  FlatMap cells_;                  // block, cell: the same for the stack
  FlatMap entries_;                // block, variable, facet: the value as the block begins
  std::vector<NodeId> arguments_;
  std::vector<Place> places_;
  std::vector<NodeId> fresh_;  // phis that the current read made
  int depth_ = 0;              // of reads inside reads
  NodeId stack_ = kNoNode;
  BlockId block_ = 0;
  uint64_t address_ = 0;  // of the instruction
};

}  // namespace nrd::lift
