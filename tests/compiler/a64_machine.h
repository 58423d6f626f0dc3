// SPDX-License-Identifier: MIT
// tests/compiler/a64_machine.h: a Builder that computes: each node is a number, so a translated
// instruction or function simply runs. What a front end means by its nodes becomes testable
// against the processor, on any host.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "lift/frontend.h"

namespace nrd::lift {

struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class A64Machine final : public Builder {
 public:
  struct Nzcv {
    bool n = false, z = false, c = false, v = false;
    unsigned bits() const { return n * 8u + z * 4u + c * 2u + v; }
  };

  std::array<uint64_t, kGprs> gpr{};
  std::array<NodeId, kVectors> vector{};
  Nzcv flags;
  // All memory there is, from `memory_base` on.
  uint64_t memory_base = 0;
  std::span<uint8_t> memory;

  A64Machine();
  void set_vector(uint32_t reg, uint64_t low, uint64_t high);
  void set_float(uint32_t reg, float value);
  void set_flags_bits(unsigned nzcv);
  uint64_t vector_low(uint32_t reg) const { return nodes_[vector[reg]].bits; }
  float float_of(uint32_t reg) const;

  // Runs from `entry` until it returns; `calls` handles what is no code.
  void run(FrontEnd& front_end, const Image& image, uint64_t entry,
           void (*call)(A64Machine&, uint64_t slot) = nullptr);

  const Node& node(NodeId id) const override { return nodes_[id]; }
  NodeId constant(Type type, uint64_t bits, uint64_t high = 0) override;
  NodeId pure(TraceOp op, Type type, NodeId a, NodeId b = kNoNode, NodeId c = kNoNode) override;
  NodeId special(Kind kind, Type type, NodeId a, NodeId b = kNoNode) override;
  NodeId compare(Predicate predicate, NodeId a, NodeId b) override;
  NodeId select(NodeId condition, NodeId a, NodeId b) override;
  NodeId convert(NodeId a, Type to, bool sign_extend = false) override;
  NodeId bitcast(NodeId a, Type to) override;
  NodeId read_gpr(uint32_t reg, Type type, bool high_byte = false) override;
  void write_gpr(uint32_t reg, NodeId value, bool high_byte = false) override;
  NodeId read_vector(uint32_t reg, Type type) override;
  NodeId read_vector_as_is(uint32_t reg) override { return vector[reg]; }
  void write_vector(uint32_t reg, NodeId value) override;
  void set_flags(FlagsKind kind, NodeId a, NodeId b) override;
  void set_flags_if(NodeId condition, FlagsKind kind, NodeId a, NodeId b, unsigned nzcv) override;
  void clobber_flags() override { flags = {}; }
  NodeId condition(Cond cond) override;
  NodeId load(Type type, NodeId address) override;
  void store(NodeId address, NodeId value) override;
  void clobber_call() override {}
  [[noreturn]] void refuse(std::string reason) override { throw Refused(reason); }

 private:
  double number(NodeId id) const;
  NodeId from_number(Type type, double value);
  NodeId float_pure(TraceOp op, Type type, NodeId a, NodeId b, NodeId c);
  NodeId integer_pure(TraceOp op, Type type, uint64_t a, uint64_t b);
  uint8_t* at(uint64_t address, size_t bytes);
  std::vector<Node> nodes_;
};

// Code in a vector, at an address of one's own choice.
class A64Code final : public Image {
 public:
  A64Code(uint64_t address, std::vector<uint32_t> words)
      : address_(address), words_(std::move(words)) {}
  size_t code_bytes(uint64_t address) const override {
    const uint64_t end = address_ + words_.size() * 4;
    return address >= address_ && address < end ? end - address : 0;
  }
  const uint8_t* code(uint64_t address) const override {
    return reinterpret_cast<const uint8_t*>(words_.data()) + (address - address_);
  }
  bool read_only(uint64_t, size_t, void*) const override { return false; }
  std::optional<std::string> name_of_slot(uint64_t) const override { return std::nullopt; }
  std::optional<std::string> name_of_function(uint64_t) const override { return std::nullopt; }
  uint64_t slot_content(uint64_t) const override { return 0; }

 private:
  uint64_t address_;
  std::vector<uint32_t> words_;
};

}  // namespace nrd::lift
