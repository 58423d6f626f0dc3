// SPDX-License-Identifier: MIT
// src/lift/loop_tree.cpp: see loop_tree.h.
#include "lift/loop_tree.h"

#include <fmt/format.h>

namespace nrd::lift {

void give_up(std::string reason) { throw Refusal{std::move(reason)}; }

std::string place(uint64_t address) { return fmt::format("{:#x}", address); }

Node make_leaf(LeafRole role, Type type, int region, size_t number, NodeId of) {
  Node leaf{.kind = Kind::kPhi, .type = type, .index = static_cast<uint32_t>(region)};
  leaf.args[0] = of;
  leaf.bits = static_cast<uint64_t>(role) << 32 | static_cast<uint32_t>(number);
  leaf.high = kLeafMark;
  return leaf;
}

int Scopes::of(NodeId node) {
  if (memo_.size() < function_.nodes.size()) memo_.resize(function_.nodes.size(), kUnknown);
  if (memo_[node] == kUnknown) memo_[node] = find(node);
  return memo_[node];
}

int Scopes::find(NodeId node) {
  const Node& n = function_[node];
  if (is_leaf(n)) {
    const int region = static_cast<int>(n.index);
    const bool inside = leaf_role(n) == LeafRole::kIv || leaf_role(n) == LeafRole::kCarry;
    return inside ? region : tree_.regions[static_cast<size_t>(region)].parent;
  }
  if (n.kind == Kind::kLoad) return static_cast<int>(n.bits);  // where it happens
  int deepest = 0;
  for (NodeId arg : n.args) {
    if (arg == kNoNode) continue;
    const int scope = of(arg);
    if (tree_.regions[static_cast<size_t>(scope)].depth >
        tree_.regions[static_cast<size_t>(deepest)].depth)
      deepest = scope;
  }
  return deepest;
}

FlatParams::FlatParams(const CSignature& signature) {
  for (const CParam& param : signature.params) {
    first.push_back(static_cast<uint32_t>(list.size()));
    if (param.kind == CKind::kStruct)
      list.insert(list.end(), param.fields.begin(), param.fields.end());
    else
      list.push_back(param);
  }
}

Type type_of(const CParam& param) {
  switch (param.kind) {
    case CKind::kFloat: return Type::kF32;
    case CKind::kDouble: return Type::kF64;
    case CKind::kInt32:
    case CKind::kUInt32: return Type::kI32;
    default: return Type::kI64;
  }
}

}  // namespace nrd::lift
