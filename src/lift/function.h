// SPDX-License-Identifier: MIT
// src/lift/function.h: one function in SSA form: what build.cpp makes and analyse.cpp reads.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "lift/frontend.h"
#include "lift/lift.h"

namespace nrd::lift {

using BlockId = uint32_t;
constexpr BlockId kNoBlock = ~BlockId{0};

struct Phi {
  NodeId node = kNoNode;     // of kind kPhi; Node::index is its block
  std::vector<NodeId> args;  // one a predecessor, in the order of Block::predecessors
};

struct Block {
  uint64_t address = 0;
  std::vector<BlockId> predecessors;
  std::vector<BlockId> successors;  // none: returns; one: jump; two: [0] if condition, else [1]
  NodeId condition = kNoNode;       // bool, where there are two successors
  std::vector<Phi> phis;
  std::vector<NodeId> memory;    // kLoad and kStore in program order; pure nodes float
  std::vector<NodeId> traps;     // of a whole function: see Keep
  BlockId dominator = kNoBlock;  // immediate
  int loop = -1;                 // innermost
};

// What a Function has of that on which no result depends. kEffects: nothing. kTraps, a whole
// function: every load, and in Block::traps every division and every condition (bool) under which
// the code does not return: what can go wrong, whether it is used or not.
enum class Keep : uint8_t { kEffects, kTraps };

// What a lookup (kPure, TraceOp::kLookup, the table's number in Node::bits) chooses from; the type
// is that of the load, of 8 bits on.
struct ConstantTable {
  Type type = Type::kNone;
  std::vector<uint64_t> elements;
  bool operator==(const ConstantTable&) const = default;
};

struct NaturalLoop {
  BlockId header = kNoBlock;
  std::vector<BlockId> latches;
  std::vector<BlockId> blocks;  // header included, inner loops' too
  int parent = -1;
  int depth = 1;
};

// Bytes that were decoded, for the cache of lift.cpp.
struct CodeRange {
  uint64_t address = 0;
  uint64_t bytes = 0;
};

// Blocks are in reverse post order, entry first; unreachable ones and those that end in a
// noreturn call are gone. The stack is gone too: no load or store addresses it, and no node
// refers to kStack (build.cpp refuses what it cannot promote). Calls are gone: library functions
// are pure nodes, helpers are inlined. Flags are gone: conditions are compares.
struct Function {
  std::vector<Node> nodes;
  std::vector<Block> blocks;
  std::vector<NaturalLoop> loops;
  std::vector<ConstantTable> tables;
  NodeId result = kNoNode;      // of a function that returns a value (several returns: a phi)
  std::vector<CodeRange> code;  // ascending; helpers included

  const Node& operator[](NodeId id) const { return nodes[id]; }
};

// Thrown inside build_function and analyse where a function is not understood; it never leaves
// them.
struct Refusal {
  std::string reason;
  uint64_t block_call = 0;   // a memset or memcpy of unknown length, which a stand-in may take over
  size_t element_bytes = 0;  // of what it writes

  Error error(const LiftRequest& request) const {
    return make_error({.code = ErrorCode::kUnsupported,
                       .op = request.name,
                       .argument = "not understood",
                       .hint = reason});
  }
};

// Bounds on the work; what goes beyond is refused. The depth, in operations on operations, bounds
// the recursion of every later step, also on a thread with a small stack.
constexpr size_t kMaxNodes = size_t{1} << 17;
constexpr uint32_t kMaxExpressionDepth = 1024;

// Adds nodes to a Function with hash-consing and the simplifications of simplify.cpp; used while
// building and by every later step. The same node twice is the same id.
class NodeFactory {
 public:
  explicit NodeFactory(Function& function);  // nodes that are there already are found again
  NodeId add(Node node);                     // simplified: may be another node, or a constant
  NodeId append(const Node& node);           // as it is: loads, stores and phis are never shared
  NodeId constant(Type type, uint64_t bits, uint64_t high = 0);
  NodeId pure(TraceOp op, Type type, NodeId a, NodeId b = kNoNode, NodeId c = kNoNode);
  NodeId compare(Predicate predicate, NodeId a, NodeId b);
  NodeId select(NodeId condition, NodeId a, NodeId b);
  NodeId convert(NodeId a, Type to, bool sign_extend = false);  // integer widths; bool is 0 or 1
  NodeId low(NodeId a, Type to);  // the low bits as another type; undefined where a is narrower
  NodeId invert(NodeId condition);
  NodeId undefined(Type type);
  void set_address(uint64_t address) { address_ = address; }  // of the nodes made from now on

  const Node& operator[](NodeId id) const { return function_.nodes[id]; }
  const Function& function() const { return function_; }

 private:
  NodeId find_or_append(const Node& node);
  uint32_t depth_of(const Node& node) const;
  size_t home(const Node& node) const;
  void insert(NodeId id);
  void grow();

  Function& function_;
  uint64_t address_ = 0;
  int rules_ = 0;                 // inside rules
  std::vector<uint32_t> depths_;  // of the nodes
  std::vector<NodeId> table_;     // open addressing
  size_t used_ = 0;
};

// simplify.cpp: the node that `node` reduces to, or kNoNode where it stays as it is.
NodeId simplify(const Node& node, NodeFactory& factory, const Function& function);

// build.cpp: decode, control-flow graph, SSA, stack promotion, calls and inlining.
Expected<Function> build_function(const LiftRequest& request, const Image& image,
                                  FrontEnd& front_end, LiftStats* stats,
                                  Keep keep = Keep::kEffects);
// lift.cpp: a function of this process as a whole (Keep::kTraps).
Expected<Function> whole_function(const LiftRequest& request);
bool is_division(Kind kind);  // kUDiv ... kSRem
// analyse.cpp: if-conversion, scalar evolution, memory accesses, promotion, structure.
Expected<OpTrace> analyse(Function function, const LiftRequest& request);

std::string function_text(const Function& function);  // for dumps and tests

}  // namespace nrd::lift
