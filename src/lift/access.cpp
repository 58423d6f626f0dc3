// SPDX-License-Identifier: MIT
// src/lift/access.cpp: loads and stores: which are constants, which are slots of the stack, and
// which are accesses to memory.
#include <fmt/format.h>

#include <algorithm>

#include "lift/simplify.h"
#include "lift/ssa.h"

namespace nrd::lift {

// The stack pointer at entry plus a constant.
bool SsaBuilder::split_stack_address(NodeId address, int64_t* offset) const {
  *offset = 0;
  if (address == stack_) return true;
  const Node& node = function_[address];
  if (node.kind != Kind::kPure || node.op != TraceOp::kAdd || node.args[0] != stack_) return false;
  const Node& distance = function_[node.args[1]];
  *offset = static_cast<int64_t>(distance.bits);
  return distance.kind == Kind::kConst;
}

bool SsaBuilder::mentions_stack(NodeId id, int depth) const {
  id = resolve(id);
  if (id == kNoNode || depth > 6) return false;
  if (id == stack_) return true;
  const Node& node = function_[id];
  if (node.kind == Kind::kPhi) {
    const std::vector<NodeId>& args = function_.blocks[node.index].phis[node.bits].args;
    return std::any_of(args.begin(), args.end(),
                       [&](NodeId arg) { return mentions_stack(arg, depth + 1); });
  }
  const bool keeps_pointers = node.kind == Kind::kPure && node.type == Type::kI64 &&
                              (node.op == TraceOp::kAdd || node.op == TraceOp::kSub ||
                               node.op == TraceOp::kSelect || node.op == TraceOp::kAnd);
  if (!keeps_pointers) return false;
  const size_t first = node.op == TraceOp::kSelect ? 1 : 0;
  for (size_t i = first; i < node.args.size(); i++)
    if (mentions_stack(node.args[i], depth + 1)) return true;
  return false;
}

NodeId SsaBuilder::load(Type type, NodeId address) {
  address = resolve(address);
  int64_t offset = 0;
  if (split_stack_address(address, &offset)) return load_slot(block_, type, offset);
  if (function_[address].kind == Kind::kConst) {
    uint64_t bits[2] = {0, 0};
    if (image_.read_only(function_[address].bits, bytes_of(type), bits))
      return factory_.constant(type, bits[0], bits[1]);
    return load_memory(type, address);
  }
  return mentions_stack(address, 0) ? load_chosen(type, address) : load_memory(type, address);
}

// A second load of the same place with no store between is the first one.
NodeId SsaBuilder::load_memory(Type type, NodeId address) {
  if (type == Type::kV128)
    refuse(fmt::format("a load of 16 bytes at {:#x}: vectorised code is not lifted", address_));
  std::vector<NodeId>& memory = function_.blocks[block_].memory;
  for (size_t i = memory.size(); i-- > 0;) {
    const Node& earlier = function_[memory[i]];
    if (earlier.kind == Kind::kStore) break;
    if (earlier.args[0] == address && type_bits(earlier.type) == type_bits(type))
      return factory_.low(memory[i], type);
  }
  const NodeId id = factory_.append(
      {.kind = Kind::kLoad, .type = type, .index = block_, .args = {address, kNoNode, kNoNode}});
  function_.blocks[block_].memory.push_back(id);
  return id;
}

// Whether the same place was loaded on the way here, so that loading it again cannot fault.
bool SsaBuilder::is_loaded_before(NodeId address) const {
  for (BlockId b = block_;; b = code_.blocks[b].predecessors[0]) {
    for (const NodeId access : function_.blocks[b].memory)
      if (function_[access].kind == Kind::kLoad && resolve(function_[access].args[0]) == address)
        return true;
    if (code_.blocks[b].predecessors.size() != 1) return false;
  }
}

// One of two pointers was chosen; both are loaded, which is right only where neither can fault.
NodeId SsaBuilder::load_either(Type type, NodeId address) {
  int64_t offset = 0;
  const bool is_safe = split_stack_address(address, &offset) || mentions_stack(address, 0) ||
                       is_loaded_before(address);
  if (!is_safe)
    refuse(
        fmt::format("a load at {:#x} from a local or from memory that may not be there", address_));
  return load(type, address);
}

// Through a pointer that may be a slot's or another: std::max(m, x[i]) returns a reference.
NodeId SsaBuilder::load_chosen(Type type, NodeId address) {
  Node node = function_[address];
  int64_t offset = 0;
  NodeId base = address;
  if (node.kind == Kind::kPure && node.op == TraceOp::kAdd &&
      function_[node.args[1]].kind == Kind::kConst) {
    offset = static_cast<int64_t>(function_[node.args[1]].bits);
    base = node.args[0];
    node = function_[base];
  }
  const auto moved = [&](NodeId pointer) {
    return factory_.pure(TraceOp::kAdd, Type::kI64, pointer,
                         factory_.constant(Type::kI64, static_cast<uint64_t>(offset)));
  };
  if (node.kind == Kind::kPure && node.op == TraceOp::kSelect) {
    const NodeId a = load_either(type, moved(node.args[1]));
    return factory_.select(node.args[0], a, load_either(type, moved(node.args[2])));
  }
  if (node.kind == Kind::kPhi) return load_through_phi(type, base, offset);
  refuse(fmt::format("a local array is indexed at run time at {:#x}", address_));
}

// How control comes from the end of `join`'s predecessors to here.
SsaBuilder::Way SsaBuilder::way_from(BlockId join) const {
  Way way = Way::kStraight;
  for (BlockId b = block_;; b = code_.blocks[b].predecessors[0]) {
    for (const NodeId access : function_.blocks[b].memory)
      if (function_[access].kind == Kind::kStore && !is_global(access)) return Way::kOther;
    if (b == join) return way;
    const std::vector<BlockId>& predecessors = code_.blocks[b].predecessors;
    if (predecessors.size() != 1) return Way::kOther;
    if (code_.blocks[predecessors[0]].successors.size() != 1) way = Way::kThroughBranches;
  }
}

// A phi of pointers becomes a phi of what they point to.
NodeId SsaBuilder::load_through_phi(Type type, NodeId phi, int64_t offset) {
  const BlockId join = function_[phi].index;
  const std::vector<NodeId> pointers = function_.blocks[join].phis[function_[phi].bits].args;
  const std::vector<BlockId>& predecessors = code_.blocks[join].predecessors;
  // In a loop header the phi would ask for itself.
  const bool is_header =
      std::any_of(predecessors.begin(), predecessors.end(), [&](BlockId p) { return p >= join; });
  const Way way = way_from(join);
  bool works = !is_header && pointers.size() == predecessors.size() && way != Way::kOther;
  std::vector<NodeId> args;
  for (size_t i = 0; works && i < pointers.size(); i++) {
    const NodeId place =
        factory_.pure(TraceOp::kAdd, Type::kI64, resolve(pointers[i]),
                      factory_.constant(Type::kI64, static_cast<uint64_t>(offset)));
    int64_t slot = 0;
    if (split_stack_address(place, &slot)) works = unchanged_since(join, slot, type);
    if (works) args.push_back(load_at_end(predecessors[i], type, place, way == Way::kStraight));
  }
  if (!works)
    refuse(fmt::format("a load at {:#x} through a pointer to one of several locals", address_));
  const NodeId value = new_phi(join, type);
  function_.blocks[join].phis[function_[value].bits].args = std::move(args);
  return value;
}

// Coverage counters, which nothing else points to: another global that is written is refused.
bool SsaBuilder::is_global(NodeId access) const {
  return function_[function_[access].args[0]].kind == Kind::kConst;
}

bool SsaBuilder::unchanged_since(BlockId join, int64_t offset, Type type) {
  const uint32_t size = bytes_of(type);
  const uint32_t cell = cell_for(offset, size, false, type == Type::kV128);
  if (learned_.cells[cell].offset != offset || learned_.cells[cell].size != size) return false;
  const uint32_t variable = kVariables + cell;
  return read_here(variable, facet_of(type)) == read_entry(join, variable, facet_of(type));
}

NodeId SsaBuilder::load_at_end(BlockId b, Type type, NodeId address, bool is_certain) {
  int64_t offset = 0;
  if (split_stack_address(address, &offset)) return load_slot(b, type, offset);
  const BlockId here = std::exchange(block_, b);
  const NodeId value = is_certain ? load(type, address) : load_either(type, address);
  block_ = here;
  return value;
}

void SsaBuilder::store(NodeId address, NodeId value) {
  address = resolve(address), value = resolve(value);
  if (function_[value].type == Type::kBool) value = factory_.convert(value, Type::kI8);
  int64_t offset = 0;
  if (split_stack_address(address, &offset)) return store_slot(offset, value);
  if (mentions_stack(address, 0))
    refuse(fmt::format("a store at {:#x} through a pointer to one of several locals", address_));
  if (function_[value].type == Type::kV128)
    refuse(fmt::format("a store of 16 bytes at {:#x}: vectorised code is not lifted", address_));
  const NodeId id = factory_.append({.kind = Kind::kStore,
                                     .type = function_[value].type,
                                     .index = block_,
                                     .args = {address, value, kNoNode}});
  function_.blocks[block_].memory.push_back(id);
}

}  // namespace nrd::lift
