// SPDX-License-Identifier: MIT
// src/lift/retype.cpp: see retype.h.
#include "lift/retype.h"

#include <algorithm>

#include "lift/simplify.h"

namespace nrd::lift {
namespace {

enum : uint8_t { kAsInteger = 1, kAsFloat = 2 };

bool has_two_readings(Type type) {
  return type == Type::kI32 || type == Type::kI64 || type == Type::kF32 || type == Type::kF64;
}

Type other_reading(Type type) {
  switch (type) {
    case Type::kI32: return Type::kF32;
    case Type::kF32: return Type::kI32;
    case Type::kI64: return Type::kF64;
    default: return Type::kI64;
  }
}

class Readings {
 public:
  Readings(const Function& f, const std::vector<bool>& live)
      : f_(f), live_(live), needs_(f.nodes.size(), 0) {}

  std::vector<Type> run() {
    std::vector<Type> better(f_.nodes.size(), Type::kNone);
    for (NodeId id = 0; id < f_.nodes.size(); id++)
      if (live_[id]) look_at_uses(f_[id]);
    for (const Block& block : f_.blocks)
      if (block.condition != kNoNode) need(block.condition, kAsInteger);
    if (f_.result != kNoNode) need(f_.result, native(f_[f_.result].type));
    while (pass_on()) {
    }
    for (NodeId id = 0; id < f_.nodes.size(); id++) {
      const Node& node = f_[id];
      const bool movable = node.kind == Kind::kPhi || node.kind == Kind::kLoad;
      if (!live_[id] || !movable || !has_two_readings(node.type)) continue;
      const uint8_t wrong = native(node.type) ^ (kAsInteger | kAsFloat);
      if (needs_[id] == wrong) better[id] = other_reading(node.type);
    }
    return better;
  }

 private:
  static uint8_t native(Type type) { return is_float(type) ? kAsFloat : kAsInteger; }
  void need(NodeId id, uint8_t reading) { needs_[id] |= reading; }

  static bool is_choice(const Node& node) {
    return node.kind == Kind::kPure && node.op == TraceOp::kSelect;
  }

  void look_at_uses(const Node& node) {
    if (node.kind == Kind::kPhi) return;  // passes on what it needs itself
    for (size_t i = 0; i < node.args.size(); i++) {
      const NodeId arg = node.args[i];
      if (arg == kNoNode) continue;
      const bool passed_on = is_choice(node) && i > 0;
      const bool stored = node.kind == Kind::kStore && i == 1;
      if (passed_on || stored) continue;
      const bool cast = node.kind == Kind::kPure && node.op == TraceOp::kBitcast;
      need(arg, cast ? native(node.type) : native(f_[arg].type));
    }
  }

  bool pass_on() {
    bool changed = false;
    const auto pass = [&](NodeId to, uint8_t reading) {
      if (to == kNoNode || (needs_[to] | reading) == needs_[to]) return;
      needs_[to] |= reading;
      changed = true;
    };
    for (NodeId id = 0; id < f_.nodes.size(); id++) {
      const Node& node = f_[id];
      if (!live_[id] || needs_[id] == 0) continue;
      if (node.kind == Kind::kPhi)
        for (const NodeId arg : f_.blocks[node.index].phis[node.bits].args) pass(arg, needs_[id]);
      if (is_choice(node))
        for (const size_t i : {1, 2}) pass(node.args[i], needs_[id]);
    }
    return changed;
  }

  const Function& f_;
  const std::vector<bool>& live_;
  std::vector<uint8_t> needs_;
};

// Begins with every 64-bit phi and drops those with an argument that may be wider.
void find_narrow(const Function& f, const std::vector<bool>& live, std::vector<Type>& better) {
  std::vector<NodeId> narrow;
  for (NodeId id = 0; id < f.nodes.size(); id++) {
    const Node& node = f[id];
    if (!live[id] || node.kind != Kind::kPhi || node.type != Type::kI64) continue;
    if (better[id] == Type::kNone) narrow.push_back(id);
  }
  std::vector<bool> is_narrow(f.nodes.size(), false);
  for (const NodeId id : narrow) is_narrow[id] = true;
  const auto fits = [&](NodeId id) -> bool {
    const Node& node = f[id];
    if (node.kind == Kind::kConst) return node.bits >> 32 == 0;
    if (node.kind == Kind::kZext) return type_bits(f[node.args[0]].type) <= 32;
    return is_narrow[id];
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const NodeId id : narrow) {
      if (!is_narrow[id]) continue;
      const auto& args = f.blocks[f[id].index].phis[f[id].bits].args;
      if (std::all_of(args.begin(), args.end(), fits)) continue;
      is_narrow[id] = false;
      changed = true;
    }
  }
  for (const NodeId id : narrow) {
    if (!is_narrow[id]) continue;
    // Small constants alone say nothing: a 64-bit flag is as good.
    const auto& args = f.blocks[f[id].index].phis[f[id].bits].args;
    const bool extended = std::any_of(args.begin(), args.end(),
                                      [&](NodeId arg) { return f[arg].kind != Kind::kConst; });
    if (extended) better[id] = Type::kI32;
  }
}

}  // namespace

std::vector<Type> better_types(const Function& function, const std::vector<bool>& live) {
  std::vector<Type> better = Readings(function, live).run();
  find_narrow(function, live, better);
  return better;
}

}  // namespace nrd::lift
