// SPDX-License-Identifier: MIT
// src/lift/liveness.cpp: what a function's results depend on.
#include "lift/clean.h"
#include "lift/simplify.h"

namespace nrd::lift {
namespace {

class Marker {
 public:
  Marker(const Function& function, const Image& image, Keep keep)
      : function_(function), image_(image), keep_(keep), live_(function.nodes.size(), false) {}

  std::vector<bool> run() {
    add(function_.result);
    for (const Block& block : function_.blocks) {
      if (block.successors.size() == 2) add(block.condition);
      for (const NodeId trap : block.traps) add(trap);
      for (const NodeId access : block.memory) {
        const bool counts = function_[access].kind == Kind::kStore || keep_ == Keep::kTraps;
        if (counts && !is_instrumentation(access)) add(access);
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

  // Only the module's word counts: a counter of the program's own looks the same.
  bool is_instrumentation(NodeId access) const {
    const Node& node = function_[access];
    const Node& address = function_[node.args[0]];
    return address.kind == Kind::kConst &&
           image_.is_instrumentation(address.bits, bytes_of(node.type));
  }

  const Function& function_;
  const Image& image_;
  Keep keep_;
  std::vector<bool> live_;
  std::vector<NodeId> work_;
};

}  // namespace

std::vector<bool> live_nodes(const Function& function, const Image& image, Keep keep) {
  return Marker(function, image, keep).run();
}

}  // namespace nrd::lift
