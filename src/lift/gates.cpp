// SPDX-License-Identifier: MIT
// src/lift/gates.cpp: phis: what a path decides. See if_converter.h.
//
// The value of a phi is found from the join's dominator on: at each branch a choice between what
// its two sides lead to. One gate runs at a time: translating what it meets needs no other, for
// the phis named there come earlier in program order.
#include <algorithm>

#include "lift/if_converter.h"
#include "lift/ifconvert.h"

namespace nrd::lift {
namespace {

constexpr NodeId kUnset = kNoNode - 1;  // in the memo of one gate

}  // namespace

// Phis that only ever hand on one value: registers that were saved around loops and calls. They
// are that value; a cycle of them is found by first believing so of all.
void IfConverter::find_copies() {
  copy_of_.assign(f_.nodes.size(), kNoNode);
  for (bool changed = true; changed;) {
    changed = false;
    for (const Block& block : f_.blocks)
      for (const Phi& phi : block.phis) {
        const NodeId value = copy_of_[phi.node] == phi.node ? phi.node : common_source(phi);
        changed |= value != copy_of_[phi.node];
        copy_of_[phi.node] = value;
      }
  }
}

NodeId IfConverter::common_source(const Phi& phi) const {
  NodeId value = kNoNode;
  for (NodeId arg : phi.args) {
    const NodeId source = f_[arg].kind == Kind::kPhi ? copy_of_[arg] : arg;
    if (source == kNoNode || source == phi.node) continue;
    if (value != kNoNode && value != source) return phi.node;
    value = source;
  }
  return value;
}

NodeId IfConverter::gate(BlockId join, const Phi* phi) {
  return run_gate(join, phi, f_.blocks[join].dominator);
}

// What a phi of the header gets from the end of an iteration.
NodeId IfConverter::gate_back(int r, const Phi* phi) { return run_gate(header(r), phi, header(r)); }

// When control reaches a block of the present region, as a guard.
NodeId IfConverter::reach(BlockId b) {
  const BlockId start = scope_ == 0 ? 0 : header(scope_);
  if (b == start) return kNoNode;
  const NodeId condition = run_gate(b, nullptr, start);
  const Node& n = f_[condition];
  return n.kind == Kind::kConst && n.bits != 0 ? kNoNode : condition;
}

NodeId IfConverter::run_gate(BlockId join, const Phi* phi, BlockId start) {
  gate_join_ = join;
  gate_phi_ = phi;
  gate_memo_.assign(f_.blocks.size(), kUnset);
  NodeId value = kNoNode;
  if (region_of(start) == scope_) {
    value = from_block(start);
  } else {
    const LoopShape& inner = shape(child_around(region_of(start)));
    value = along(inner.exit_block, inner.exit_target);
  }
  if (value == kNoNode) give_up("a value at " + place(f_.blocks[join].address) + " has no source");
  return value;
}

int IfConverter::child_around(int r) const {
  while (tree_.regions[static_cast<size_t>(r)].parent != scope_)
    r = tree_.regions[static_cast<size_t>(r)].parent;
  return r;
}

// kNoNode: the join is never reached from here.
NodeId IfConverter::from_block(BlockId b) {
  if (gate_memo_[b] == kUnset) gate_memo_[b] = from_block_now(b);
  return gate_memo_[b];
}

NodeId IfConverter::from_block_now(BlockId b) {
  const std::vector<BlockId>& next = f_.blocks[b].successors;
  if (next.empty()) return kNoNode;
  if (next.size() == 1) return along(b, next[0]);
  if (scope_ != 0 && b == shape(scope_).exit_block)  // that it goes on is not a condition here
    return along(b, next[shape(scope_).leaves_on_true ? 1 : 0]);
  NodeId yes = along(b, next[0]);
  NodeId no = along(b, next[1]);
  if (yes == no) return yes;
  if (gate_phi_ != nullptr && yes == kNoNode) return no;
  if (gate_phi_ != nullptr && no == kNoNode) return yes;
  const NodeId never = factory_.constant(Type::kBool, 0);
  if (yes == kNoNode) yes = never;
  if (no == kNoNode) no = never;
  return choose(factory_, translate(f_.blocks[b].condition), yes, no);
}

// The value where control goes along an edge.
NodeId IfConverter::along(BlockId from, BlockId to) {
  if (!follow(from, to, gate_join_)) return kNoNode;
  if (to != gate_join_) return from_block(to);
  if (gate_phi_ == nullptr) return factory_.constant(Type::kBool, 1);
  const std::vector<BlockId>& before = f_.blocks[to].predecessors;
  const auto at =
      static_cast<size_t>(std::find(before.begin(), before.end(), from) - before.begin());
  if (at >= gate_phi_->args.size()) give_up("a phi has too few arguments");
  return translate(gate_phi_->args[at]);
}

// Follows an edge of the present region past inner loops. False where it ends the region: back to
// the header, or out.
bool IfConverter::follow(BlockId& from, BlockId& to, BlockId join) const {
  while (to != join) {
    const int home = region_of(to);
    if (home == scope_) return scope_ == 0 || to != header(scope_);
    if (!tree_.is_around(scope_, home)) return false;
    from = shape(home).exit_block;  // `to` is the header of a loop right below
    to = shape(home).exit_target;
  }
  return true;
}

}  // namespace nrd::lift
