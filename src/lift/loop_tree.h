// SPDX-License-Identifier: MIT
// src/lift/loop_tree.h: a function as a tree of counted loops: what the steps of analyse.cpp hand
// on. Control flow is gone; guards say when an access happens.
//
// Nodes stay in the Function's arena. Pure nodes float; loads, stores and loops are items, in
// program order. What a loop brings forth is a leaf: its counter, a carried value as an iteration
// begins (kCarry) or after the loop (kResult), and any other value of the last iteration (kLast).
#pragma once

#include <string>
#include <vector>

#include "lift/function.h"

namespace nrd::lift {

[[noreturn]] void give_up(std::string reason);  // throws a Refusal
std::string place(uint64_t address);            // "0x401a2c"

enum class LeafRole : uint8_t { kIv, kCarry, kResult, kLast };
constexpr uint64_t kLeafMark = ~uint64_t{0};  // in Node::high: no longer a phi of the function

inline bool is_leaf(const Node& n) { return n.kind == Kind::kPhi && n.high == kLeafMark; }
inline LeafRole leaf_role(const Node& n) { return static_cast<LeafRole>(n.bits >> 32); }
inline uint32_t leaf_number(const Node& n) { return static_cast<uint32_t>(n.bits); }
// `of`: the node whose last value a kLast is.
Node make_leaf(LeafRole role, Type type, int region, size_t number, NodeId of = kNoNode);

struct Carry {
  NodeId leaf = kNoNode;  // kCarry number i, where this is carries[i]
  NodeId init = kNoNode;
  NodeId next = kNoNode;
  NodeId result = kNoNode;  // kResult number i
};

enum class ItemKind : uint8_t { kLoad, kStore, kLoop };
struct Item {
  ItemKind kind = ItemKind::kLoad;
  uint32_t id = 0;  // a node, or a region
};

// Loads carry their guard in args[1], stores in args[2] (kNoNode: always).
struct Region {
  int parent = -1;
  int depth = 0;
  uint64_t address = 0;
  std::vector<Item> items;

  // Of a loop.
  NodeId guard = kNoNode;
  bool bottom_tested = false;  // the whole body runs, then the test; else the test comes first
  NodeId stays = kNoNode;      // bool: the loop goes on
  NodeId iv = kNoNode;
  NodeId extent = kNoNode;  // i64; known after refine.cpp
  std::vector<Carry> carries;
  std::vector<NodeId> lasts;  // kLast leaves that were asked for
};

struct LoopTree {
  std::vector<Region> regions;  // 0 is the function, 1 + i loop i
  NodeId result = kNoNode;

  bool is_around(int outer, int inner) const {  // also where they are the same
    while (inner >= 0 &&
           regions[static_cast<size_t>(inner)].depth > regions[static_cast<size_t>(outer)].depth)
      inner = regions[static_cast<size_t>(inner)].parent;
    return inner == outer;
  }
};

// The innermost region whose values a node depends on, found once a node.
class Scopes {
 public:
  Scopes(const Function& function, const LoopTree& tree) : function_(function), tree_(tree) {}
  int of(NodeId node);
  bool varies_in(NodeId node, int region) { return tree_.is_around(region, of(node)); }
  void forget_all() { memo_.clear(); }  // the tree has changed

 private:
  static constexpr int kUnknown = -1;
  int find(NodeId node);
  const Function& function_;
  const LoopTree& tree_;
  std::vector<int> memo_;
};

// The parameters of the trace: those of the signature, structs flattened into their fields.
struct FlatParams {
  std::vector<CParam> list;
  std::vector<uint32_t> first;  // of each parameter of the signature

  explicit FlatParams(const CSignature& signature);
};
Type type_of(const CParam& param);
constexpr uint32_t kStructArgument = 1u << 16;  // added to the index of a kArg that is a struct

}  // namespace nrd::lift
