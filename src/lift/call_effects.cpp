// SPDX-License-Identifier: MIT
// src/lift/call_effects.cpp: what a call of a known function does to the variables.
#include <fmt/format.h>

#include "lift/simplify.h"
#include "lift/ssa.h"

namespace nrd::lift {
namespace {

// Larger blocks are copied by loops, which are lifted as such.
constexpr uint64_t kMaxCopy = 64;

// Blocks are moved in words of four bytes, what numbers mostly are, and a rest in bytes.
uint64_t bytes_of_part(uint64_t left) { return left >= 4 ? 4 : 1; }

}  // namespace

// -fno-plt loads a function's address from the GOT; by now it is known.
const CallTarget& SsaBuilder::called_function(const Step& step) {
  const uint32_t reg = step.instruction.call_register;
  if (step.call->kind != CallKind::kUnknown || reg == Instruction::kNoRegister) return *step.call;
  const Node address = function_[read_gpr(reg, Type::kI64, false)];
  return address.kind == Kind::kConst ? resolver_.of_address(address.bits) : *step.call;
}

std::vector<NodeId> SsaBuilder::read_arguments(const std::vector<Type>& types) {
  std::vector<NodeId> values;
  const std::vector<Place> places = front_end_.places(types);
  for (size_t i = 0; i < types.size(); i++) {
    switch (places[i].where) {
      case Place::Where::kGpr: values.push_back(read_gpr(places[i].index, types[i], false)); break;
      case Place::Where::kVector: values.push_back(read_vector(places[i].index, types[i])); break;
      case Place::Where::kStack: refuse("a library function with arguments on the stack");
    }
  }
  return values;
}

void SsaBuilder::translate_call(const CallTarget& target, uint64_t address) {
  switch (target.kind) {
    case CallKind::kPure: {
      const auto arity = static_cast<size_t>(target.arity);
      std::vector<NodeId> args = read_arguments(std::vector<Type>(arity, target.type));
      args.resize(3, kNoNode);
      const NodeId value = pure(target.op, target.type, args[0], args[1], args[2]);
      clobber_call();
      return write_vector(front_end_.result_vector(), value);
    }
    case CallKind::kRoundTo: {
      const std::vector<NodeId> args = read_arguments({Type::kF32, Type::kI32});
      const NodeId value = special(Kind::kRoundToCall, Type::kF32, args[0], args[1]);
      clobber_call();
      return write_vector(front_end_.result_vector(), value);
    }
    case CallKind::kSinCos: return call_sin_cos(target);
    case CallKind::kCopy: return call_copy(target);
    case CallKind::kFill: return call_fill(target);
    case CallKind::kIgnored: return;
    case CallKind::kNoReturn:
    case CallKind::kHelper:  // both are control flow: discover.cpp
    case CallKind::kUnknown: break;
  }
  if (target.name.empty()) refuse(fmt::format("a call of an unknown function at {:#x}", address));
  refuse(fmt::format("a call of {} at {:#x}, which is not understood", target.name, address));
}

void SsaBuilder::call_sin_cos(const CallTarget& target) {
  const std::vector<NodeId> args = read_arguments({target.type, Type::kI64, Type::kI64});
  store(args[1], pure(TraceOp::kSin, target.type, args[0], kNoNode, kNoNode));
  store(args[2], pure(TraceOp::kCos, target.type, args[0], kNoNode, kNoNode));
  clobber_call();
}

uint64_t SsaBuilder::constant_size(const CallTarget& target, NodeId to, NodeId size) {
  const Node node = function_[size];
  if (node.kind == Kind::kConst && node.bits <= kMaxCopy) return node.bits;
  Refusal refusal{
      fmt::format("a call of {} at {:#x}: only small blocks of known size are understood; "
                  "compile with -fno-builtin -fno-tree-loop-distribute-patterns",
                  target.name, address_)};
  // What moves may overlap.
  refusal.element_bytes = target.name.find("memmove") == std::string::npos ? element_at(to, 0) : 0;
  if (refusal.element_bytes != 0) refusal.block_call = address_;
  throw refusal;
}

// The bytes of an element of the parameter that an address is made from; 0 where there is none.
size_t SsaBuilder::element_at(NodeId address, int depth) const {
  const Node& node = function_[address];
  if (node.kind == Kind::kArg && node.index < signature_.params.size()) {
    const CParam& param = signature_.params[node.index];
    return param.kind == CKind::kPointer ? byte_size(param.element) : 0;
  }
  constexpr int kMaxDepth = 8;
  if (depth > kMaxDepth) return 0;
  const std::vector<NodeId>* args = nullptr;
  if (node.kind == Kind::kPhi) args = &function_.blocks[node.index].phis[node.bits].args;
  if (node.kind == Kind::kPure && node.type == Type::kI64) {
    for (const NodeId arg : node.args)
      if (const size_t bytes = arg != kNoNode ? element_at(arg, depth + 1) : 0) return bytes;
  }
  if (args == nullptr) return 0;
  for (const NodeId arg : *args)
    if (const size_t bytes = element_at(arg, depth + 1)) return bytes;
  return 0;
}

// Everything is read before anything is written, so that memmove is right too.
void SsaBuilder::call_copy(const CallTarget& target) {
  const std::vector<NodeId> args = read_arguments({Type::kI64, Type::kI64, Type::kI64});
  const uint64_t size = constant_size(target, args[0], args[2]);
  const auto at = [&](NodeId base, uint64_t offset) {
    return pure(TraceOp::kAdd, Type::kI64, base, factory_.constant(Type::kI64, offset), kNoNode);
  };
  std::vector<NodeId> parts;
  for (uint64_t i = 0; i < size; i += bytes_of_part(size - i))
    parts.push_back(
        load(integer_of_bits(static_cast<int>(bytes_of_part(size - i)) * 8), at(args[1], i)));
  uint64_t offset = 0;
  for (const NodeId part : parts) {
    store(at(args[0], offset), part);
    offset += static_cast<uint64_t>(type_bits(function_[part].type)) / 8;
  }
  clobber_call();
  write_gpr(front_end_.result_gpr(), args[0], false);
}

void SsaBuilder::call_fill(const CallTarget& target) {
  const std::vector<NodeId> args = read_arguments({Type::kI64, Type::kI32, Type::kI64});
  const uint64_t size = constant_size(target, args[0], args[2]);
  if (function_[args[1]].kind != Kind::kConst)
    refuse(fmt::format("a call of {} at {:#x} with a value known only at run time", target.name,
                       address_));
  const uint64_t byte = function_[args[1]].bits & 0xff;
  for (uint64_t i = 0; i < size; i += bytes_of_part(size - i)) {
    const Type type = integer_of_bits(static_cast<int>(bytes_of_part(size - i)) * 8);
    const NodeId place =
        pure(TraceOp::kAdd, Type::kI64, args[0], factory_.constant(Type::kI64, i), kNoNode);
    store(place, factory_.constant(type, byte * 0x0101010101010101ull));
  }
  clobber_call();
  write_gpr(front_end_.result_gpr(), args[0], false);
}

}  // namespace nrd::lift
