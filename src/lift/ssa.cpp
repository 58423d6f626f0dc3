// SPDX-License-Identifier: MIT
// src/lift/ssa.cpp: blocks and variables: definitions and reads. Phis are in ssa_phis.cpp, what
// front ends call in registers.cpp, access.cpp and call_effects.cpp.
#include "lift/ssa.h"

#include <fmt/format.h>

#include "lift/flags.h"
#include "lift/simplify.h"

namespace nrd::lift {
namespace {

constexpr uint64_t kLowestCode = 0x10000;  // smaller numbers are numbers

uint64_t variable_key(BlockId block, uint32_t variable) {
  return static_cast<uint64_t>(block) << 32 | variable;
}

uint64_t entry_key(BlockId block, uint32_t variable, uint8_t facet) {
  return static_cast<uint64_t>(block) << 32 | variable << 8 | facet;
}

Type argument_type(CKind kind) {
  switch (kind) {
    case CKind::kFloat: return Type::kF32;
    case CKind::kDouble: return Type::kF64;
    case CKind::kInt32:
    case CKind::kUInt32: return Type::kI32;
    default: return Type::kI64;
  }
}

}  // namespace

SsaBuilder::SsaBuilder(const Code& code, const Image& image, FrontEnd& front_end,
                       CallResolver& resolver, const CSignature& signature, Learned& learned,
                       Keep keep)
    : code_(code),
      image_(image),
      front_end_(front_end),
      resolver_(resolver),
      signature_(signature),
      learned_(learned),
      keep_(keep),
      states_(code.blocks.size()),
      registers_(code.blocks.size() * kVariables, kNoNode) {
  function_.nodes.reserve(code.steps.size() * 6 + 64);
  function_.blocks.resize(code.blocks.size());
  for (BlockId b = 0; b < code.blocks.size(); b++) {
    function_.blocks[b].address = code.blocks[b].address;
    function_.blocks[b].predecessors = code.blocks[b].predecessors;
    function_.blocks[b].successors = code.blocks[b].successors;
  }
  std::vector<Type> types;
  for (const CParam& param : signature.params) types.push_back(argument_type(param.kind));
  places_ = front_end.places(types);
  for (uint32_t i = 0; i < types.size(); i++)
    arguments_.push_back(factory_.add({.kind = Kind::kArg, .type = types[i], .index = i}));
  stack_ = factory_.add({.kind = Kind::kStack, .type = Type::kI64});
}

Function SsaBuilder::run() {
  for (BlockId b = 0; b < code_.blocks.size(); b++) {
    block_ = b;
    translate_block(b);
    finish_block(b);
  }
  if (!signature_.returns_void) read_result();
  return std::move(function_);
}

void SsaBuilder::translate_block(BlockId b) {
  const CodeBlock& block = code_.blocks[b];
  for (uint32_t i = 0; i < block.steps; i++) {
    const Step& step = code_.steps[block.first_step + i];
    const Instruction& in = step.instruction;
    address_ = in.address;
    factory_.set_address(in.address);
    if (step.call != nullptr) {
      translate_call(called_function(step), in.address);
      // A tail call returns for the helper that made it.
      if (in.flow != Flow::kCall && block.leaves_helper) adjust_stack(front_end_.call_pushes());
      continue;
    }
    if (in.flow == Flow::kNext) front_end_.translate(in, image_, *this);
    const bool pops = in.flow == Flow::kReturn && block.leaves_helper;
    if (pops) front_end_.translate(in, image_, *this);
    if (in.flow == Flow::kBranch && block.successors.size() == 2)
      function_.blocks[b].condition = resolve(front_end_.translate(in, image_, *this));
    if (in.flow == Flow::kBranch && block.left_out >= 0 && keep_ == Keep::kTraps) {
      const NodeId taken = resolve(front_end_.translate(in, image_, *this));
      function_.blocks[b].traps.push_back(block.left_out == 0 ? taken : factory_.invert(taken));
    }
  }
  if (block.enters_helper) adjust_stack(-front_end_.call_pushes());
}

void SsaBuilder::adjust_stack(int64_t bytes) {
  if (bytes == 0) return;
  const uint32_t sp = front_end_.stack_pointer();
  const NodeId moved = pure(TraceOp::kAdd, Type::kI64, read_gpr(sp, Type::kI64, false),
                            constant(Type::kI64, static_cast<uint64_t>(bytes), 0), kNoNode);
  write_gpr(sp, moved, false);
}

void SsaBuilder::finish_block(BlockId b) {
  states_[b].done = true;
  if (b == 0) states_[0].sealed = true;
  for (const BlockId s : code_.blocks[b].successors) {
    states_[s].predecessors_done++;
    if (states_[s].predecessors_done == code_.blocks[s].predecessors.size()) seal(s);
  }
}

void SsaBuilder::seal(BlockId b) {
  State& state = states_[b];
  state.sealed = true;
  for (size_t i = 0; i < state.incomplete.size(); i++) {
    const Incomplete waiting = state.incomplete[i];
    fill_phi(waiting.phi, b, waiting.variable, waiting.facet);
  }
  for (size_t i = 0; i < state.assumptions.size(); i++) {
    const Assumption assumed = state.assumptions[i];
    for (const BlockId p : code_.blocks[b].predecessors) {
      if (read(p, assumed.variable, facet_of(Type::kI64)) == assumed.value) continue;
      learned_.varying.set(variable_key(b, assumed.variable), 1);
      throw Restart{};
    }
  }
}

void SsaBuilder::read_result() {
  const Type type = argument_type(signature_.result);
  const bool in_vector = is_float(type);
  const uint32_t variable =
      in_vector ? kVectorBase + front_end_.result_vector() : kGprBase + front_end_.result_gpr();
  function_.result = read(block_, variable, facet_of(type));
}

NodeId SsaBuilder::resolve(NodeId id) const {
  while (id != kNoNode && function_[id].kind == Kind::kPhi && function_[id].args[0] != kNoNode)
    id = function_[id].args[0];
  return id;
}

NodeId SsaBuilder::definition(BlockId b, uint32_t variable) {
  NodeId value = kNoNode;
  if (variable < kVariables) {
    value = registers_[b * kVariables + variable];
  } else {
    value = cells_.find(variable_key(b, variable));
    static_assert(FlatMap::kMissing == kNoNode);
  }
  if (value == kNoNode && b == 0) return initial(variable);
  return resolve(value);
}

void SsaBuilder::define(uint32_t variable, NodeId value) {
  value = resolve(value);
  if (variable < kVariables)
    registers_[block_ * kVariables + variable] = value;
  else
    cells_.set(variable_key(block_, variable), value);
}

// What a variable holds as the function begins.
NodeId SsaBuilder::initial(uint32_t variable) {
  if (variable >= kVariables) return initial_cell(learned_.cells[variable - kVariables]);
  if (variable == kFlagsVariable) return factory_.undefined(Type::kFlags);
  const bool is_vector = is_vector_variable(variable);
  if (variable == kGprBase + front_end_.stack_pointer()) return stack_;
  const Place::Where where = is_vector ? Place::Where::kVector : Place::Where::kGpr;
  const uint32_t reg = variable - (is_vector ? kVectorBase : kGprBase);
  for (size_t i = 0; i < places_.size(); i++)
    if (places_[i].where == where && places_[i].index == reg) return arguments_[i];
  return factory_.undefined(is_vector ? Type::kV128 : Type::kI64);
}

NodeId SsaBuilder::initial_cell(const Cell& cell) {
  for (size_t i = 0; i < places_.size(); i++) {
    const bool here = places_[i].where == Place::Where::kStack &&
                      static_cast<int64_t>(places_[i].index) == cell.offset;
    if (!here) continue;
    const Type type = function_[arguments_[i]].type;
    const int bits = static_cast<int>(cell.size) * 8;
    if (type_bits(type) >= bits) return arguments_[i];
    return factory_.convert(factory_.low(arguments_[i], integer_of_bits(type_bits(type))),
                            integer_of_bits(bits));
  }
  return factory_.undefined(cell.size == 16 ? Type::kV128
                                            : integer_of_bits(static_cast<int>(cell.size) * 8));
}

NodeId SsaBuilder::read(BlockId b, uint32_t variable, Facet facet) {
  const NodeId value = definition(b, variable);
  if (value != kNoNode) return project(value, variable, facet);
  if (depth_ > 0) return read_entry(b, variable, facet);
  depth_++;
  const NodeId found = read_entry(b, variable, facet);
  depth_--;
  settle_phis();
  fresh_.clear();
  return resolve(found);
}

NodeId SsaBuilder::read_entry(BlockId b, uint32_t variable, Facet facet) {
  if (b == 0) return project(initial(variable), variable, facet);
  const uint64_t key = entry_key(b, variable, facet);
  NodeId value = entries_.find(key);
  if (value != kNoNode) return resolve(value);
  const std::vector<BlockId>& predecessors = code_.blocks[b].predecessors;
  if (!states_[b].sealed)
    value = read_unsealed(b, variable, facet);
  else if (predecessors.size() == 1)
    value = read(predecessors[0], variable, facet);
  else
    return read_join(b, variable, facet);
  entries_.set(key, value);
  return value;
}

// In a loop whose end is not translated yet. Addresses of the stack and of functions are taken to
// be the same each time, since otherwise no slot and no called function could be told before the
// end; seal() checks it.
NodeId SsaBuilder::read_unsealed(BlockId b, uint32_t variable, Facet facet) {
  if (facet == facet_of(Type::kI64) &&
      learned_.varying.find(variable_key(b, variable)) == FlatMap::kMissing) {
    for (const BlockId p : code_.blocks[b].predecessors) {
      if (!states_[p].done) continue;
      NodeId value = read(p, variable, facet);
      settle_phis();
      value = resolve(value);
      if (is_likely_invariant(value)) {
        states_[b].assumptions.push_back({value, variable});
        return value;
      }
      break;
    }
  }
  const NodeId phi = new_phi(b, facet_type(facet));
  states_[b].incomplete.push_back({phi, variable, facet});
  return phi;
}

bool SsaBuilder::is_likely_invariant(NodeId value) const {
  int64_t offset = 0;
  if (split_stack_address(value, &offset)) return true;
  const Node& node = function_[value];
  return node.kind == Kind::kConst && node.bits >= kLowestCode && image_.code_bytes(node.bits) > 0;
}

NodeId SsaBuilder::read_join(BlockId b, uint32_t variable, Facet facet) {
  const NodeId phi = new_phi(b, facet_type(facet));
  entries_.set(entry_key(b, variable, facet), phi);  // ends cycles
  return fill_phi(phi, b, variable, facet);
}

Type SsaBuilder::facet_type(Facet facet) const {
  if (facet == kUpperInteger) return Type::kI32;
  if (facet == kUpperFloat) return Type::kF32;
  return facet >= kConditions ? Type::kBool : static_cast<Type>(facet);
}

NodeId SsaBuilder::project(NodeId value, uint32_t variable, Facet facet) {
  if (variable == kFlagsVariable) {
    const Node flags = function_[value];
    if (flags.kind == Kind::kUndef) return factory_.undefined(Type::kBool);
    const Cond cond = static_cast<Cond>(facet - kConditions);
    const NodeId met = resolve_condition(factory_, value, cond);
    if (met == kNoNode)
      refuse(fmt::format("the condition \"{}\" at {:#x} reads flags that are not modelled",
                         cond_word(cond), address_));
    return met;
  }
  const Type type = facet_type(facet);
  if (type == Type::kV128)  // whatever was written
    return variable < kVariables ? value : stored_lane(value);
  if (facet == kUpperInteger || facet == kUpperFloat) {
    const NodeId whole = factory_.low(value, Type::kI64);
    const NodeId upper =
        factory_.pure(TraceOp::kShr, Type::kI64, whole, factory_.constant(Type::kI64, 32));
    return factory_.low(upper, type);
  }
  const Type from = function_[value].type;
  const bool widens = is_integer(from) && is_integer(type) && type_bits(from) < type_bits(type);
  if (widens && variable < kVectorBase) return factory_.convert(value, type);
  return factory_.low(value, type);
}

}  // namespace nrd::lift
