// SPDX-License-Identifier: MIT
// src/lift/liveness.cpp: what a function's results depend on.
#include <algorithm>

#include "lift/clean.h"

namespace nrd::lift {
namespace {

class Marker {
 public:
  explicit Marker(const Function& function)
      : function_(function), live_(function.nodes.size(), false) {}

  std::vector<bool> run() {
    add(function_.result);
    for (const Block& block : function_.blocks) {
      if (block.successors.size() == 2) add(block.condition);
      for (const NodeId access : block.memory) {
        const bool counts = function_[access].kind == Kind::kStore && !is_counter(access);
        if (counts) add(access);
      }
    }
    while (!work_.empty()) {
      const NodeId id = work_.back();
      work_.pop_back();
      const Node& node = function_[id];
      for (const NodeId arg : node.args) add(arg);
      if (node.kind != Kind::kPhi) continue;
      for (const NodeId arg : function_.blocks[node.index].phis[node.bits].args) add(arg);
    }
    return std::move(live_);
  }

 private:
  void add(NodeId id) {
    if (id == kNoNode || live_[id]) return;
    live_[id] = true;
    work_.push_back(id);
  }

  // What an instrumented build counts: 64 bits at a constant address, what they held plus a number
  // that is told from the sizes alone.
  bool is_counter(NodeId store) const {
    const Node& node = function_[store];
    if (function_[node.args[0]].kind != Kind::kConst || node.type != Type::kI64) return false;
    std::vector<NodeId> seen, work{node.args[1]};
    bool loads = false;
    while (!work.empty()) {
      const NodeId id = work.back();
      work.pop_back();
      if (id == kNoNode || std::find(seen.begin(), seen.end(), id) != seen.end()) continue;
      if (seen.size() >= kMaxCounterNodes) return false;
      seen.push_back(id);
      const Node& value = function_[id];
      if (value.kind == Kind::kConst || value.kind == Kind::kArg) continue;
      if (value.kind == Kind::kLoad) {
        if (value.args[0] != node.args[0]) return false;
        loads = true;
        continue;
      }
      if (value.kind == Kind::kPhi) {
        const auto& args = function_.blocks[value.index].phis[value.bits].args;
        work.insert(work.end(), args.begin(), args.end());
        if (value.args[0] != kNoNode) work.push_back(value.args[0]);
        continue;
      }
      if (!only_counts(value)) return false;
      work.insert(work.end(), value.args.begin(), value.args.end());
    }
    return loads;
  }

  static bool only_counts(const Node& value) {
    if (value.kind == Kind::kPure)
      return value.op == TraceOp::kAdd || value.op == TraceOp::kSub || value.op == TraceOp::kNeg;
    return value.kind == Kind::kSext || value.kind == Kind::kZext || value.kind == Kind::kTrunc;
  }

  static constexpr size_t kMaxCounterNodes = 64;
  const Function& function_;
  std::vector<bool> live_;
  std::vector<NodeId> work_;
};

}  // namespace

std::vector<bool> live_nodes(const Function& function) { return Marker(function).run(); }

}  // namespace nrd::lift
