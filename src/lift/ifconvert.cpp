// SPDX-License-Identifier: MIT
// src/lift/ifconvert.cpp: program order and translation. See ifconvert.h and if_converter.h.
#include "lift/ifconvert.h"

#include <algorithm>
#include <utility>

#include "lift/if_converter.h"

namespace nrd::lift {

IfConverter::IfConverter(Function& f, NodeFactory& factory, const CSignature& signature,
                         const FlatParams& params)
    : f_(f),
      factory_(factory),
      signature_(signature),
      params_(params),
      shapes_(loop_shapes(f)),
      scopes_(f, tree_),
      memo_(f.nodes.size(), kNoNode),
      at_home_(f.nodes.size(), kNoNode) {}

LoopTree IfConverter::run() {
  find_copies();
  make_regions();
  walk(0);
  if (f_.result != kNoNode) tree_.result = translate(f_.result);
  return std::move(tree_);
}

void IfConverter::make_regions() {
  tree_.regions.resize(f_.loops.size() + 1);
  for (size_t i = 0; i < f_.loops.size(); i++) {
    Region& r = tree_.regions[i + 1];
    r.parent = f_.loops[i].parent + 1;
    r.depth = f_.loops[i].depth;
    r.address = f_.blocks[f_.loops[i].header].address;
    r.bottom_tested = shapes_[i].bottom_tested;
    r.iv = factory_.append(make_leaf(LeafRole::kIv, Type::kI64, static_cast<int>(i) + 1, 0));
  }
}

void IfConverter::walk(int r) {
  const int before = std::exchange(scope_, r);
  for (BlockId b = 0; b < f_.blocks.size(); b++) {
    const int home = region_of(b);
    if (home == r)
      walk_block(b);
    else if (home > 0 && header(home) == b && region(home).parent == r)
      walk_loop(home);
  }
  scope_ = before;
}

void IfConverter::walk_block(BlockId b) {
  if (scope_ == 0 || b != header(scope_))
    for (size_t i = 0; i < f_.blocks[b].phis.size(); i++) {
      const NodeId phi = f_.blocks[b].phis[i].node;
      if (copy_of_[phi] == phi) at_home_[phi] = gate(b, &f_.blocks[b].phis[i]);
    }
  if (f_.blocks[b].memory.empty()) return;
  const NodeId guard = reach(b);
  for (NodeId access : f_.blocks[b].memory) walk_access(access, guard);
}

void IfConverter::walk_access(NodeId access, NodeId guard) {
  Node n = f_[access];
  n.args[0] = translate(n.args[0]);
  if (n.kind == Kind::kStore) {
    n.args[1] = translate(n.args[1]);
    n.args[2] = guard;
    region(scope_).items.push_back({ItemKind::kStore, factory_.append(n)});
    return;
  }
  const NodeId field = struct_field(n);
  if (field != kNoNode) {
    at_home_[access] = field;
    return;
  }
  n.args[1] = guard;
  n.bits = static_cast<uint64_t>(scope_);
  at_home_[access] = factory_.append(n);
  region(scope_).items.push_back({ItemKind::kLoad, at_home_[access]});
}

void IfConverter::walk_loop(int r) {
  region(r).guard = reach(header(r));
  region(scope_).items.push_back({ItemKind::kLoop, static_cast<uint32_t>(r)});
  make_carries(r);
  const size_t logged = log_.size();
  walk(r);
  const int before = std::exchange(scope_, r);
  const std::vector<Phi>& phis = f_.blocks[header(r)].phis;
  for (size_t i = 0; i < phis.size(); i++) region(r).carries[i].next = gate_back(r, &phis[i]);
  const NodeId condition = translate(f_.blocks[shape(r).exit_block].condition);
  region(r).stays = shape(r).leaves_on_true ? factory_.invert(condition) : condition;
  scope_ = before;
  // What was translated inside means something else from here on.
  for (; log_.size() > logged; log_.pop_back()) memo_[log_.back()] = kNoNode;
  name_results(r);
}

void IfConverter::make_carries(int r) {
  const std::vector<Phi>& phis = f_.blocks[header(r)].phis;
  for (size_t i = 0; i < phis.size(); i++) {
    Carry carry;
    carry.init = gate(header(r), &phis[i]);
    const Type type = f_[phis[i].node].type;
    carry.leaf = factory_.append(make_leaf(LeafRole::kCarry, type, r, i));
    carry.result = factory_.append(make_leaf(LeafRole::kResult, type, r, i));
    at_home_[phis[i].node] = carry.leaf;
    region(r).carries.push_back(carry);
  }
}

// Behind a loop that tests at the bottom, what is carried back is what the loop gives.
void IfConverter::name_results(int r) {
  if (!region(r).bottom_tested || loop(r).latches.size() != 1) return;
  const std::vector<Phi>& phis = f_.blocks[header(r)].phis;
  const std::vector<BlockId>& before = f_.blocks[header(r)].predecessors;
  const auto back = static_cast<size_t>(
      std::find(before.begin(), before.end(), loop(r).latches[0]) - before.begin());
  for (size_t i = 0; i < phis.size(); i++) {
    const NodeId next = phis[i].args[back];
    if (memo_[next] != kNoNode || f_[next].kind != Kind::kPure ||
        !scopes_.varies_in(region(r).carries[i].next, r))
      continue;
    memo_[next] = region(r).carries[i].result;
    log_.push_back(next);
    // Its bits may be wanted as another type.
    const NodeId bits = f_[next].op == TraceOp::kBitcast ? f_[next].args[0] : kNoNode;
    if (bits == kNoNode || memo_[bits] != kNoNode || f_[bits].kind != Kind::kPure) continue;
    memo_[bits] = factory_.low(region(r).carries[i].result, f_[bits].type);
    log_.push_back(bits);
  }
}

NodeId IfConverter::translate(NodeId old) {
  if (memo_[old] != kNoNode) return memo_[old];
  const NodeId made = translate_now(old);
  memo_[old] = made;
  log_.push_back(old);
  return made;
}

NodeId IfConverter::translate_now(NodeId old) {
  Node n = f_[old];
  switch (n.kind) {
    case Kind::kConst:
    case Kind::kUndef: return old;
    case Kind::kArg: return argument(n);
    case Kind::kPhi:
      if (copy_of_[old] != old && copy_of_[old] != kNoNode) return translate(copy_of_[old]);
      return at_scope(old, region_of(n.index));
    case Kind::kLoad: return at_scope(old, region_of(n.index));
    case Kind::kStack: give_up("the address of the stack is used as a value");
    default: break;
  }
  for (NodeId& arg : n.args)
    if (arg != kNoNode) arg = translate(arg);
  if (n.kind == Kind::kPure && n.op == TraceOp::kSelect)
    return choose(factory_, n.args[0], n.args[1], n.args[2]);
  return factory_.add(n);
}

// A phi or load of region r as the present scope sees it.
NodeId IfConverter::at_scope(NodeId old, int r) {
  NodeId value = at_home_[old];
  if (value == kNoNode)
    give_up("the value at " + place(f_[old].address) + " is used before it is made");
  for (; !tree_.is_around(r, scope_); r = region(r).parent) value = behind(r, value);
  return value;
}

// The value that a node of loop r has behind the loop.
NodeId IfConverter::behind(int r, NodeId value) {
  if (!scopes_.varies_in(value, r)) return value;
  for (const Carry& carry : region(r).carries)
    if ((region(r).bottom_tested ? carry.next : carry.leaf) == value) return carry.result;
  for (NodeId last : region(r).lasts)
    if (f_[last].args[0] == value) return last;
  const Node leaf = make_leaf(LeafRole::kLast, f_[value].type, r, region(r).lasts.size(), value);
  region(r).lasts.push_back(factory_.append(leaf));
  return region(r).lasts.back();
}

NodeId IfConverter::argument(const Node& n) {
  if (n.index >= signature_.params.size()) give_up("an argument beyond the signature is read");
  if (signature_.params[n.index].kind == CKind::kStruct) {
    Node marked = n;
    marked.index += kStructArgument;
    return factory_.add(marked);
  }
  return parameter(params_.first[n.index], n.type);
}

// Parameter `flat` as a value of the type that the code reads it as.
NodeId IfConverter::parameter(uint32_t flat, Type type) {
  const Type own = type_of(params_.list[flat]);
  const NodeId arg = factory_.add({.kind = Kind::kArg, .type = own, .index = flat});
  if (own == type) return arg;
  if (own == Type::kI32 && type == Type::kI64)
    return factory_.convert(arg, type, params_.list[flat].kind == CKind::kInt32);
  return factory_.low(arg, type);
}

// A load from a struct parameter's field: args[0] is the struct, or that plus a constant.
NodeId IfConverter::struct_field(const Node& load) {
  NodeId base = load.args[0];
  uint64_t offset = 0;
  const Node sum = f_[base];
  if (sum.kind == Kind::kPure && sum.op == TraceOp::kAdd && f_[sum.args[1]].kind == Kind::kConst) {
    base = sum.args[0];
    offset = f_[sum.args[1]].bits;
  }
  const Node& arg = f_[base];
  if (arg.kind != Kind::kArg || arg.index < kStructArgument) return kNoNode;
  const uint32_t index = arg.index - kStructArgument;
  const std::vector<uint32_t>& offsets = signature_.params[index].field_offset;
  for (uint32_t i = 0; i < offsets.size(); i++)
    if (offsets[i] == offset) return parameter(params_.first[index] + i, load.type);
  give_up("the load at " + place(load.address) + " reads a struct where no field begins");
}

LoopTree if_convert(Function& function, NodeFactory& factory, const CSignature& signature,
                    const FlatParams& params) {
  return IfConverter(function, factory, signature, params).run();
}

}  // namespace nrd::lift
