// SPDX-License-Identifier: MIT
// src/lift/clean.cpp: see clean.h. A round copies the live part of a function, so that every node
// goes through the simplifier once more.
#include "lift/clean.h"

#include <algorithm>

#include "lift/flat_map.h"
#include "lift/graph_edit.h"
#include "lift/retype.h"
#include "lift/simplify.h"

namespace nrd::lift {
namespace {

constexpr int kMaxRounds = 12;

class Copier {
 public:
  Copier(const Function& in, const std::vector<bool>& reached, const Image& image, Keep keep)
      : in_(in),
        live_(live_nodes(in, image, keep)),
        better_(better_types(in, live_)),
        map_(in.nodes.size(), kNoNode) {
    out_.nodes.reserve(in.nodes.size());
    copy_blocks(reached);
    make_phis();
    for (NodeId id = 0; id < in.nodes.size(); id++)
      if (live_[id] && in_[id].kind != Kind::kStore && in_[id].type != Type::kV128) copy(id);
    copy_memory();
    fill_phis();
    if (in.result != kNoNode) out_.result = copy(in.result);
  }

  Function take() { return std::move(out_); }
  bool retyped() const { return retyped_; }

 private:
  void copy_blocks(const std::vector<bool>& reached) {
    block_map_.assign(in_.blocks.size(), kNoBlock);
    BlockId count = 0;
    for (BlockId b = 0; b < in_.blocks.size(); b++)
      if (reached[b]) block_map_[b] = count++;
    out_.blocks.resize(count);
    for (BlockId b = 0; b < in_.blocks.size(); b++) {
      if (!reached[b]) continue;
      Block& to = out_.blocks[block_map_[b]];
      to.address = in_.blocks[b].address;
      for (const BlockId p : in_.blocks[b].predecessors) to.predecessors.push_back(block_map_[p]);
      for (const BlockId s : in_.blocks[b].successors) to.successors.push_back(block_map_[s]);
    }
  }

  NodeId new_phi(NodeId from, Type type) {
    const BlockId block = block_map_[in_[from].index];
    std::vector<Phi>& phis = out_.blocks[block].phis;
    const NodeId id = factory_.append({.kind = Kind::kPhi,
                                       .type = type,
                                       .index = block,
                                       .bits = phis.size(),
                                       .address = in_[from].address});
    phis.push_back({.node = id});
    waiting_.push_back({id, from});
    return id;
  }

  // A value of another type in place of an old node.
  NodeId in_old_type(NodeId id, Type old) {
    const Type type = out_[id].type;
    if (type == old) return id;
    retyped_ = true;
    return type_bits(type) < type_bits(old) ? factory_.convert(id, old) : factory_.low(id, old);
  }

  void make_phis() {
    for (const Block& block : in_.blocks)
      for (const Phi& phi : block.phis) {
        const Node& node = in_[phi.node];
        const bool wanted = live_[phi.node] && node.args[0] == kNoNode;
        if (!wanted || node.type == Type::kV128 || block_map_[node.index] == kNoBlock) continue;
        const Type better = better_[phi.node];
        const NodeId made = new_phi(phi.node, better != Type::kNone ? better : node.type);
        map_[phi.node] = in_old_type(made, node.type);
      }
  }

  NodeId copy(NodeId id) {
    if (map_[id] != kNoNode) return map_[id];
    Node node = in_[id];
    factory_.set_address(node.address);
    if (node.kind == Kind::kPhi) return map_[id] = factory_.undefined(node.type);
    if (node.kind == Kind::kPure && node.op == TraceOp::kBitcast &&
        in_[node.args[0]].type == Type::kV128)
      return map_[id] = lane_of(node.args[0], node.type);
    for (NodeId& arg : node.args)
      if (arg != kNoNode) arg = copy(arg);
    if (node.kind == Kind::kLoad || node.kind == Kind::kStore) node.index = block_map_[node.index];
    if (node.kind == Kind::kLoad && better_[id] != Type::kNone) node.type = better_[id];
    if (node.kind == Kind::kStore) {
      node.args[1] = without_cast(node.args[1]);
      node.type = out_[node.args[1]].type;
    }
    const NodeId made = factory_.add(node);
    return map_[id] = in_old_type(made, node.kind == Kind::kStore ? node.type : in_[id].type);
  }

  // Memory has no type: the value as it was computed says more than a cast of it.
  NodeId without_cast(NodeId id) const {
    const Node& node = out_[id];
    const bool cast = node.kind == Kind::kPure && node.op == TraceOp::kBitcast;
    return cast ? node.args[0] : id;
  }

  // The low lane of a whole register: a phi of registers becomes a phi of lanes.
  NodeId lane_of(NodeId id, Type type) {
    const Node node = in_[id];
    if (node.type != Type::kV128) return factory_.low(copy(id), type);
    if (node.kind == Kind::kConst) return factory_.constant(type, node.bits);
    if (node.kind == Kind::kPhi) {
      if (block_map_[node.index] == kNoBlock) return factory_.undefined(type);
      const uint64_t key = static_cast<uint64_t>(id) << 8 | static_cast<uint64_t>(type);
      NodeId phi = lanes_.find(key);
      if (phi == FlatMap::kMissing) {
        phi = new_phi(id, type);
        lanes_.set(key, phi);
      }
      return phi;
    }
    if (node.kind != Kind::kPure || node.op != TraceOp::kSelect) return factory_.undefined(type);
    return factory_.select(copy(node.args[0]), lane_of(node.args[1], type),
                           lane_of(node.args[2], type));
  }

  void copy_memory() {
    for (const Block& block : in_.blocks)
      for (const NodeId access : block.memory)
        if (live_[access])
          out_.blocks[block_map_[in_[access].index]].memory.push_back(copied_access(access));
    for (BlockId b = 0; b < in_.blocks.size(); b++) {
      if (block_map_[b] == kNoBlock) continue;
      if (in_.blocks[b].condition != kNoNode)
        out_.blocks[block_map_[b]].condition = copy(in_.blocks[b].condition);
      copy_traps(in_.blocks[b], out_.blocks[block_map_[b]]);
    }
  }

  // What was simplified to something else than a division cannot trap any more.
  void copy_traps(const Block& from, Block& to) {
    for (const NodeId trap : from.traps) {
      const NodeId id = copy(trap);
      if (is_division(out_[id].kind) || out_[id].type == Type::kBool) to.traps.push_back(id);
    }
  }

  // The access itself, below the cast of a load that got another type.
  NodeId copied_access(NodeId access) {
    NodeId id = copy(access);
    while (out_[id].kind != Kind::kLoad && out_[id].kind != Kind::kStore) id = out_[id].args[0];
    return id;
  }

  void fill_phis() {
    for (size_t i = 0; i < waiting_.size(); i++) {  // grows: lanes of registers
      const Waiting phi = waiting_[i];
      const Type type = out_[phi.made].type;
      std::vector<NodeId> args;
      bool any_defined = false;
      for (const NodeId arg : phi_args(in_, phi.from)) {
        args.push_back(phi_argument(arg, type));
        any_defined |= out_[args.back()].kind != Kind::kUndef;
      }
      // Who reads an undefined value may find any; zero is as good as another.
      if (any_defined)
        for (NodeId& arg : args)
          if (out_[arg].kind == Kind::kUndef) arg = factory_.constant(type, 0);
      const Node& made = out_[phi.made];
      out_.blocks[made.index].phis[made.bits].args = std::move(args);
    }
  }

  NodeId phi_argument(NodeId arg, Type type) {
    if (in_[arg].type == Type::kV128) return lane_of(arg, type);
    const NodeId value = copy(arg);
    const Type from = out_[value].type;
    if (is_integer(from) && is_integer(type)) return factory_.convert(value, type);
    return factory_.low(value, type);
  }

  struct Waiting {
    NodeId made, from;
  };
  const Function& in_;
  std::vector<bool> live_;
  std::vector<Type> better_;
  std::vector<NodeId> map_;
  std::vector<BlockId> block_map_;
  Function out_;
  NodeFactory factory_{out_};
  std::vector<Waiting> waiting_;
  FlatMap lanes_;  // old phi of a register, type -> new phi
  bool retyped_ = false;
};

bool needs_another_round(Function& f) {
  bool changed = forward_phis(f);
  for (const Block& block : f.blocks)
    changed |= block.successors.size() == 2 && f[block.condition].kind == Kind::kConst;
  return changed;
}

}  // namespace

Function clean(Function f, const Image& image, Keep keep) {
  for (int round = 0; round < kMaxRounds; round++) {
    forward_phis(f);
    apply_forwards(f);
    fold_branches(f);
    const std::vector<bool> reached = reachable_blocks(f);
    empty_unreachable(f, reached);
    if (forward_phis(f)) apply_forwards(f);
    Copier copier(f, reached, image, keep);
    f = copier.take();
    if (!copier.retyped() && !needs_another_round(f)) break;
  }
  apply_forwards(f);
  drop_forwarded(f);
  return f;
}

}  // namespace nrd::lift
