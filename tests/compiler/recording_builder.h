// SPDX-License-Identifier: MIT
// tests/compiler/recording_builder.h: a Builder that records straight-line code and evaluates it,
// with none of the simplifications of the real one.
#pragma once

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "lift/ir.h"

namespace nrd::lift {

struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Bits {
  uint64_t low = 0, high = 0;
};

class RecordingBuilder final : public Builder {
 public:
  RecordingBuilder();

  // Variables at entry are arguments: kArg with the variable's number.
  NodeId variable(uint32_t number) const { return variables_[number]; }
  struct Store {
    NodeId address, value;
  };
  const std::vector<Store>& stores() const { return stores_; }
  FlagsKind flags_kind() const { return flags_.kind; }

  const Node& node(NodeId id) const override { return nodes_[id]; }
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
  NodeId read_vector_as_is(uint32_t reg) override { return variables_[kVectorBase + reg]; }
  void write_vector(uint32_t reg, NodeId value) override { variables_[kVectorBase + reg] = value; }
  void set_flags(FlagsKind kind, NodeId a, NodeId b) override { flags_ = {kind, a, b}; }
  void set_flags_if(NodeId, FlagsKind, NodeId, NodeId, unsigned) override {
    refuse("set_flags_if");
  }
  void clobber_flags() override { flags_ = {}; }
  NodeId condition(Cond cond) override;
  NodeId load(Type type, NodeId address) override;
  void store(NodeId address, NodeId value) override { stores_.push_back({address, value}); }
  void clobber_call() override { refuse("clobber_call"); }
  [[noreturn]] void refuse(std::string reason) override { throw Refused(reason); }

 private:
  struct Flags {
    FlagsKind kind = FlagsKind::kNone;
    NodeId a = kNoNode, b = kNoNode;
  };
  NodeId add(const Node& node);
  NodeId integer_condition(Cond cond);
  NodeId float_condition(Cond cond);

  std::vector<Node> nodes_;
  std::vector<NodeId> variables_;
  std::vector<Store> stores_;
  Flags flags_;
};

// The value of a node, given what the variables held at entry. Loads read this process's memory
// as it is now.
Bits evaluate(const RecordingBuilder& builder, NodeId id, const std::vector<Bits>& entry);

}  // namespace nrd::lift
