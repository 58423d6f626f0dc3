// SPDX-License-Identifier: MIT
// src/lift/congruence.cpp: see congruence.h.
//
// All that start equal are believed to be equal; where the belief makes their next values differ
// it is taken back, until nothing changes.
#include "lift/congruence.h"

#include "lift/flat_map.h"
#include "lift/ifconvert.h"
#include "lift/simplify.h"

namespace nrd::lift {
namespace {

class Congruence {
 public:
  Congruence(const Function& f, NodeFactory& factory, const Region& loop)
      : f_(f), factory_(factory), loop_(loop) {}

  std::vector<size_t> run() {
    const size_t count = loop_.carries.size();
    std::vector<NodeId> starts;
    for (const Carry& carry : loop_.carries) starts.push_back(bits_of(carry.init));
    group(starts, std::vector<size_t>(count, 0));
    for (size_t rounds = 0; rounds <= count && has_pairs(); rounds++) {
      rewritten_ = FlatMap();
      for (size_t i = 0; i < count; i++) {
        const Carry& first = loop_.carries[group_[i]];
        rewritten_.set(loop_.carries[i].leaf,
                       factory_.low(first.leaf, f_[loop_.carries[i].leaf].type));
      }
      std::vector<NodeId> nexts;
      for (size_t i = 0; i < count; i++)
        nexts.push_back(is_alone(i) ? loop_.carries[i].next
                                    : bits_of(rewritten(loop_.carries[i].next)));
      const std::vector<size_t> before = group_;
      group(nexts, before);
      if (group_ == before) break;
    }
    return group_;
  }

 private:
  // Numbers of the same bits are compared as integers.
  NodeId bits_of(NodeId id) {
    const Type type = f_[id].type;
    return is_float(type) ? factory_.low(id, integer_of_bits(type_bits(type))) : id;
  }

  // Those stay together that were together before and have the same key.
  void group(const std::vector<NodeId>& keys, const std::vector<size_t>& before) {
    group_.resize(keys.size());
    for (size_t i = 0; i < keys.size(); i++) {
      group_[i] = i;
      for (size_t k = 0; k < i; k++) {
        if (keys[k] != keys[i] || before[k] != before[i]) continue;
        group_[i] = k;
        break;
      }
    }
  }

  bool has_pairs() const {
    for (size_t i = 0; i < group_.size(); i++)
      if (group_[i] != i) return true;
    return false;
  }

  bool is_alone(size_t i) const {
    for (size_t k = 0; k < group_.size(); k++)
      if (k != i && group_[k] == group_[i]) return false;
    return true;
  }

  NodeId rewritten(NodeId id) {
    if (const uint32_t known = rewritten_.find(id); known != FlatMap::kMissing) return known;
    Node n = f_[id];
    NodeId made = id;
    if (n.kind != Kind::kPhi && n.kind != Kind::kLoad) {
      bool changed = false;
      for (NodeId& arg : n.args) {
        if (arg == kNoNode) continue;
        const NodeId other = rewritten(arg);
        changed |= other != arg;
        arg = other;
      }
      const bool is_select = n.kind == Kind::kPure && n.op == TraceOp::kSelect;
      if (changed)
        made = is_select ? choose(factory_, n.args[0], n.args[1], n.args[2]) : factory_.add(n);
    }
    rewritten_.set(id, made);
    return made;
  }

  const Function& f_;
  NodeFactory& factory_;
  const Region& loop_;
  std::vector<size_t> group_;
  FlatMap rewritten_;
};

}  // namespace

std::vector<size_t> equal_carries(const Function& function, NodeFactory& factory,
                                  const Region& loop) {
  return Congruence(function, factory, loop).run();
}

}  // namespace nrd::lift
