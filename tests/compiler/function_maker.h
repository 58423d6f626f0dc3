// SPDX-License-Identifier: MIT
// tests/compiler/function_maker.h: functions in SSA form, made by hand.
#pragma once

#include <bit>
#include <string>
#include <vector>

#include "lift/cfg.h"
#include "lift/function.h"
#include "trace/text.h"
#include "trace/verify.h"

namespace nrd::lift {

// Blocks are numbered in reverse post order, as they are added.
class FunctionMaker {
 public:
  Function f;
  NodeFactory factory{f};

  BlockId block() {
    f.blocks.push_back({.address = 0x1000 + f.blocks.size() * 0x10});
    return static_cast<BlockId>(f.blocks.size() - 1);
  }
  void jump(BlockId from, BlockId to) {
    f.blocks[from].successors.push_back(to);
    f.blocks[to].predecessors.push_back(from);
  }
  void branch(BlockId from, NodeId condition, BlockId yes, BlockId no) {
    f.blocks[from].condition = condition;
    jump(from, yes);
    jump(from, no);
  }

  NodeId arg(uint32_t index, Type type) {
    return factory.add({.kind = Kind::kArg, .type = type, .index = index});
  }
  NodeId pointer(uint32_t index) { return arg(index, Type::kI64); }
  NodeId i64(int64_t value) { return factory.constant(Type::kI64, static_cast<uint64_t>(value)); }
  NodeId i32(int32_t value) { return factory.constant(Type::kI32, static_cast<uint32_t>(value)); }
  NodeId f32(float value) { return factory.constant(Type::kF32, std::bit_cast<uint32_t>(value)); }
  NodeId add(NodeId a, NodeId b) { return factory.pure(TraceOp::kAdd, f[a].type, a, b); }
  NodeId mul(NodeId a, NodeId b) { return factory.pure(TraceOp::kMul, f[a].type, a, b); }
  NodeId element(NodeId base, NodeId index) { return add(base, mul(index, i64(4))); }

  NodeId phi(BlockId block, Type type) {
    const NodeId node = factory.append({.kind = Kind::kPhi, .type = type, .index = block});
    f.blocks[block].phis.push_back({.node = node});
    return node;
  }
  void set_phi(NodeId phi, std::vector<NodeId> args) {  // one a predecessor
    for (Phi& p : f.blocks[f[phi].index].phis)
      if (p.node == phi) p.args = std::move(args);
  }
  NodeId load(BlockId block, Type type, NodeId address) {
    const NodeId node = factory.append(
        {.kind = Kind::kLoad, .type = type, .index = block, .args = {address, kNoNode, kNoNode}});
    f.blocks[block].memory.push_back(node);
    return node;
  }
  void store(BlockId block, NodeId address, NodeId value) {
    f.blocks[block].memory.push_back(
        factory.append({.kind = Kind::kStore, .index = block, .args = {address, value, kNoNode}}));
  }

  std::string analysed(const char* signature) {
    find_loops(f);
    LiftRequest request{.name = "f", .signature = *parse_signature(signature)};
    Expected<OpTrace> trace = analyse(f, request);
    if (!trace) return trace.error().message();
    const Expected<void> verified = verify_trace(*trace);
    return verified ? trace_text(*trace) : verified.error().message();
  }
};

}  // namespace nrd::lift
