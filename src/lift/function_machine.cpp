// SPDX-License-Identifier: MIT
// src/lift/function_machine.cpp: see function_machine.h. Written apart from the lifter's own
// constant folding, so that the two can disagree. Compiled without floating-point contraction.
#include "lift/function_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "lift/machine_ops.h"
#include "lift/simplify.h"
#include "ops/round_to.h"

namespace nrd::lift {
namespace {

using machine::as_signed;
using machine::bits_of;
using machine::masked;
using machine::number;

bool is_access(const Node& node) { return node.kind == Kind::kLoad || node.kind == Kind::kStore; }

// Set before a block runs: by the caller, by the block's entry or by an earlier access.
bool is_given(Kind kind) {
  return kind == Kind::kConst || kind == Kind::kArg || kind == Kind::kPhi || kind == Kind::kLoad ||
         kind == Kind::kUndef || kind == Kind::kStack;
}

bool is_known(const Function& f, const Node& node) {
  if (is_given(node.kind) || node.kind == Kind::kStore || is_division(node.kind)) return true;
  if (node.type == Type::kV128 || node.type == Type::kFlags) return false;
  if (node.kind != Kind::kPure) return node.kind != Kind::kFlags && node.kind != Kind::kFlagsIf;
  return machine::knows(node.op, node.type, f[node.args[0]].type);
}

// A field of a struct of arguments is an argument.
bool loads_field(const Function& f, const Node& load, const CSignature& signature) {
  const Node* base = &f[load.args[0]];
  if (base->kind == Kind::kPure && base->op == TraceOp::kAdd &&
      f[base->args[1]].kind == Kind::kConst)
    base = &f[base->args[0]];
  return base->kind == Kind::kArg && signature.params[base->index].kind == CKind::kStruct;
}

}  // namespace

FunctionMachine::FunctionMachine(const Function& function, const Image& image)
    : function_(&function),
      image_(&image),
      order_(function.blocks.size()),
      values_(function.nodes.size(), 0) {
  for (NodeId id = 0; id < function.nodes.size(); id++)
    if (function[id].kind == Kind::kConst) values_[id] = function[id].bits;
  for (BlockId b = 0; b < function.blocks.size(); b++) plan(b);
}

Expected<FunctionMachine> FunctionMachine::make(const Function& function, const Image& image) {
  FunctionMachine made(function, image);
  for (const std::vector<NodeId>& order : made.order_)
    for (const NodeId id : order)
      if (!is_known(function, function[id]))
        return make_error(
            {.code = ErrorCode::kUnsupported,
             .argument = fmt::format("the instruction at {:#x} cannot be followed step by step",
                                     function[id].address)});
  return made;
}

// Values in an order in which each can be computed: an access after what it needs, then what may
// trap, the condition, and what the phis of the next block take from here.
void FunctionMachine::plan(BlockId b) {
  const Function& f = *function_;
  const Block& block = f.blocks[b];
  std::vector<bool> planned(f.nodes.size(), false);
  std::vector<NodeId>& order = order_[b];
  for (const NodeId access : block.memory) {
    for (const NodeId arg : f[access].args) plan_node(arg, planned, order);
    order.push_back(access);
  }
  for (const NodeId trap : block.traps) plan_node(trap, planned, order);
  if (block.successors.size() == 2) plan_node(block.condition, planned, order);
  if (block.successors.empty()) plan_node(f.result, planned, order);
  for (const BlockId s : block.successors)
    for (const Phi& phi : f.blocks[s].phis)
      for (size_t i = 0; i < phi.args.size(); i++)
        if (f.blocks[s].predecessors[i] == b) plan_node(phi.args[i], planned, order);
}

void FunctionMachine::plan_node(NodeId id, std::vector<bool>& planned, std::vector<NodeId>& order) {
  if (id == kNoNode || planned[id]) return;
  planned[id] = true;
  const Node& node = (*function_)[id];
  if (is_given(node.kind)) return;
  for (const NodeId arg : node.args) plan_node(arg, planned, order);
  order.push_back(id);
}

FunctionRun FunctionMachine::run(std::span<const uint64_t> arguments,
                                 std::span<const MemoryRegion> memory, int64_t most_steps) {
  const Function& f = *function_;
  memory_ = memory;
  for (NodeId id = 0; id < f.nodes.size(); id++)
    if (f[id].kind == Kind::kArg) values_[id] = masked(arguments[f[id].index], f[id].type);
  FunctionRun run;
  BlockId previous = kNoBlock, b = 0;
  while (true) {
    const Block& block = f.blocks[b];
    run.steps += 1 + static_cast<int64_t>(order_[b].size() + block.phis.size());
    if (run.steps > most_steps) return run.fault = Fault::kTooLong, run;
    enter(b, previous);
    for (const NodeId id : order_[b])
      if (run.fault = execute(id); run.fault != Fault::kNone) return run.node = id, run;
    for (const NodeId id : block.traps)
      if (run.fault = check_trap(id); run.fault != Fault::kNone) return run.node = id, run;
    if (block.successors.empty()) {
      if (f.result != kNoNode) run.result = values_[f.result];
      return run;
    }
    const bool second = block.successors.size() == 2 && values_[block.condition] == 0;
    previous = b;
    b = block.successors[second ? 1 : 0];
  }
}

void FunctionMachine::enter(BlockId b, BlockId from) {
  const Block& block = function_->blocks[b];
  next_.clear();
  for (const Phi& phi : block.phis)
    for (size_t i = 0; i < phi.args.size(); i++)
      if (block.predecessors[i] == from) {
        next_.push_back(values_[phi.args[i]]);
        break;
      }
  for (size_t i = 0; i < next_.size(); i++) values_[block.phis[i].node] = next_[i];
}

Fault FunctionMachine::execute(NodeId id) {
  const Node& node = (*function_)[id];
  if (node.kind == Kind::kLoad) return load(id);
  if (node.kind == Kind::kStore) return store(id);
  values_[id] = masked(compute(node), node.type);
  return Fault::kNone;
}

Fault FunctionMachine::check_trap(NodeId id) const {
  const Node& node = (*function_)[id];
  if (!is_division(node.kind)) return values_[id] != 0 ? Fault::kAbort : Fault::kNone;
  const uint64_t divisor = values_[node.args[1]];
  if (divisor == 0) return Fault::kDivide;
  const bool is_signed = node.kind == Kind::kSDiv || node.kind == Kind::kSRem;
  const uint64_t lowest = uint64_t{1} << (type_bits(node.type) - 1);
  const bool overflows = is_signed && as_signed(divisor, node.type) == -1 &&
                         masked(values_[node.args[0]], node.type) == lowest;
  return overflows ? Fault::kDivide : Fault::kNone;
}

char* FunctionMachine::place(uint64_t address, size_t bytes) const {
  const uint64_t region = (address >> 56) - 1, offset = address & ((uint64_t{1} << 56) - 1);
  if (region >= memory_.size()) return nullptr;
  const MemoryRegion& at = memory_[region];
  return offset <= at.bytes && bytes <= at.bytes - offset ? at.data + offset : nullptr;
}

// The address sanitizer asks its table before each access whether it may happen: a byte for eight.
// 0 says yes, and the access itself is checked here anyhow.
bool FunctionMachine::is_shadow(uint64_t address) const {
#if defined(__aarch64__)
  constexpr uint64_t kTable = uint64_t{1} << 36;
#else
  constexpr uint64_t kTable = 0x7fff8000;
#endif
  const uint64_t eighth = address - kTable, region = (eighth >> 53) - 1;
  const uint64_t offset = (eighth & ((uint64_t{1} << 53) - 1)) * 8;
  return region < memory_.size() && offset <= memory_[region].bytes + 4096;
}

Fault FunctionMachine::load(NodeId id) {
  const Node& node = (*function_)[id];
  const uint64_t address = values_[node.args[0]];
  const size_t bytes = bytes_of(node.type);
  uint64_t value = 0;
  if (const char* from = place(address, bytes); from != nullptr)
    std::memcpy(&value, from, bytes);
  else if (!image_->read_only(address, bytes, &value) &&
           !image_->is_instrumentation(address, bytes) && !is_shadow(address))
    return Fault::kLoad;
  values_[id] = value;
  return Fault::kNone;
}

Fault FunctionMachine::store(NodeId id) {
  const Node& node = (*function_)[id];
  const size_t bytes = bytes_of((*function_)[node.args[1]].type);
  char* to = place(values_[node.args[0]], bytes);
  if (to == nullptr) return Fault::kStore;
  std::memcpy(to, &values_[node.args[1]], bytes);
  return Fault::kNone;
}

uint64_t FunctionMachine::compute(const Node& node) const {
  const uint64_t a = values_[node.args[0]];
  const Type from = (*function_)[node.args[0]].type;
  const uint64_t b = node.args[1] != kNoNode ? values_[node.args[1]] : 0;
  switch (node.kind) {
    case Kind::kPure: return pure(node);
    case Kind::kUDiv:
    case Kind::kURem:
    case Kind::kSDiv:
    case Kind::kSRem: return machine::divide(node.kind, from, a, b);
    case Kind::kUMulHigh: return static_cast<uint64_t>(static_cast<unsigned __int128>(a) * b >> 64);
    case Kind::kSMulHigh:
      return static_cast<uint64_t>(
          static_cast<__int128>(static_cast<int64_t>(a)) * static_cast<int64_t>(b) >> 64);
    case Kind::kTrunc:
    case Kind::kZext: return a;
    case Kind::kSext: return static_cast<uint64_t>(as_signed(a, from));
    case Kind::kU64ToF32: return bits_of(static_cast<float>(a));
    case Kind::kU64ToF64: return bits_of(static_cast<double>(a));
    case Kind::kRoundToCall:
      return bits_of(nrd_round_to_f32(number<float>(a), static_cast<int>(b)));
    default: return 0;  // make() lets nothing else in
  }
}

uint64_t FunctionMachine::pure(const Node& node) const {
  const Type from = (*function_)[node.args[0]].type;
  std::array<uint64_t, 3> args{};
  for (size_t i = 0; i < args.size(); i++)
    if (node.args[i] != kNoNode) args[i] = values_[node.args[i]];
  return machine::pure(node.op, node.predicate, node.type, from, args);
}

bool FunctionMachine::depends_on_data(const FunctionRun& run, const CSignature& signature) const {
  if (run.node == kNoNode) return false;
  const Function& f = *function_;
  std::vector<bool> seen(f.nodes.size(), false);
  std::vector<NodeId> work;
  const Node& faulty = f[run.node];
  if (is_access(faulty))
    work = {faulty.args[0]};
  else
    work = {run.node};
  while (!work.empty()) {
    const NodeId id = work.back();
    work.pop_back();
    if (id == kNoNode || seen[id]) continue;
    seen[id] = true;
    const Node& node = f[id];
    if (node.kind == Kind::kLoad && !loads_field(f, node, signature)) return true;
    for (const NodeId arg : node.args) work.push_back(arg);
    if (node.kind == Kind::kPhi)
      for (const NodeId arg : f.blocks[node.index].phis[node.bits].args) work.push_back(arg);
  }
  return false;
}

std::string FunctionMachine::fault_text(const FunctionRun& run) const {
  const uint64_t at = run.node != kNoNode ? (*function_)[run.node].address : 0;
  switch (run.fault) {
    case Fault::kLoad: return fmt::format("a load outside of every operand at {:#x}", at);
    case Fault::kStore: return fmt::format("a store outside of every operand at {:#x}", at);
    case Fault::kDivide:
      return fmt::format("a division by zero or one that overflows at {:#x}", at);
    case Fault::kAbort: return fmt::format("a path that does not return at {:#x}", at);
    case Fault::kTooLong: return "more steps than a proof takes";
    case Fault::kNone: break;
  }
  return "nothing";
}

}  // namespace nrd::lift
