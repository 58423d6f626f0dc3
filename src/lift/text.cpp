// SPDX-License-Identifier: MIT
// src/lift/text.cpp: a Function as text. Pure nodes belong to no block; each is written before
// its first use.
#include <fmt/format.h>

#include <bit>
#include <iterator>

#include "lift/discover.h"
#include "lift/simplify.h"

namespace nrd::lift {
namespace {

std::string_view type_word(Type type) {
  switch (type) {
    case Type::kBool: return "bool";
    case Type::kI8: return "i8";
    case Type::kI16: return "i16";
    case Type::kI32: return "i32";
    case Type::kI64: return "i64";
    case Type::kF32: return "f32";
    case Type::kF64: return "f64";
    case Type::kV128: return "v128";
    case Type::kFlags: return "flags";
    case Type::kNone: return "none";
  }
  return "none";
}

std::string_view kind_word(Kind kind) {
  switch (kind) {
    case Kind::kPure: return "pure";
    case Kind::kConst: return "const";
    case Kind::kArg: return "arg";
    case Kind::kStack: return "stack";
    case Kind::kPhi: return "phi";
    case Kind::kUndef: return "undef";
    case Kind::kLoad: return "load";
    case Kind::kStore: return "store";
    case Kind::kUDiv: return "udiv";
    case Kind::kURem: return "urem";
    case Kind::kSDiv: return "sdiv";
    case Kind::kSRem: return "srem";
    case Kind::kUMulHigh: return "umulh";
    case Kind::kSMulHigh: return "smulh";
    case Kind::kTrunc: return "trunc";
    case Kind::kZext: return "zext";
    case Kind::kSext: return "sext";
    case Kind::kU64ToF32: return "u64_to_f32";
    case Kind::kU64ToF64: return "u64_to_f64";
    case Kind::kRoundToCall: return "round_to";
    case Kind::kFlags: return "flags";
    case Kind::kFlagsIf: return "flags_if";
  }
  return "?";
}

class Writer {
 public:
  explicit Writer(const Function& function)
      : f_(function), written_(function.nodes.size(), false) {}

  std::string run() {
    for (const Block& block : f_.blocks)
      for (const Phi& phi : block.phis) written_[phi.node] = true;  // may be used before its line
    for (BlockId b = 0; b < f_.blocks.size(); b++) write_block(b);
    if (f_.result != kNoNode) {
      const std::string result = operand(f_.result);
      add("result {}\n", result);
    }
    return std::move(text_);
  }

 private:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  void write_block(BlockId b) {
    const Block& block = f_.blocks[b];
    add("b{}: # {:#x}", b, block.address);
    if (block.loop >= 0) add(" loop {}", block.loop);
    text_ += '\n';
    for (const Phi& phi : block.phis) write_phi(block, phi);
    for (const NodeId access : block.memory) write(access);
    write_end(block);
  }

  void write_phi(const Block& block, const Phi& phi) {
    std::string args;
    for (size_t i = 0; i < phi.args.size(); i++)
      args += fmt::format(" b{}:{}", block.predecessors[i], name(phi.args[i]));
    add("  %{} = phi {}{}\n", phi.node, type_word(f_[phi.node].type), args);
  }

  void write_end(const Block& block) {
    std::string condition;
    if (block.successors.size() == 2) condition = operand(block.condition);
    // Arguments of phis are computed by the end of a predecessor.
    for (const BlockId s : block.successors)
      for (const Phi& phi : f_.blocks[s].phis)
        for (size_t i = 0; i < phi.args.size(); i++)
          if (&f_.blocks[f_.blocks[s].predecessors[i]] == &block) write(phi.args[i]);
    if (block.successors.empty()) add("  return\n");
    if (block.successors.size() == 1) add("  jump b{}\n", block.successors[0]);
    if (block.successors.size() == 2)
      add("  branch {} b{} b{}\n", condition, block.successors[0], block.successors[1]);
  }

  static bool is_leaf(const Node& node) {
    return node.kind == Kind::kConst || node.kind == Kind::kArg || node.kind == Kind::kUndef ||
           node.kind == Kind::kStack;
  }

  std::string name(NodeId id) const {
    const Node& node = f_[id];
    switch (node.kind) {
      case Kind::kArg: return fmt::format("arg{}", node.index);
      case Kind::kConst: return constant_text(node);
      case Kind::kUndef: return "undef";
      case Kind::kStack: return "stack";
      default: return fmt::format("%{}", id);
    }
  }

  static std::string constant_text(const Node& node) {
    switch (node.type) {
      case Type::kF32:
        return fmt::format("{:a}f", std::bit_cast<float>(static_cast<uint32_t>(node.bits)));
      case Type::kF64: return fmt::format("{:a}", std::bit_cast<double>(node.bits));
      case Type::kBool: return node.bits != 0 ? "true" : "false";
      case Type::kV128: return fmt::format("{:#x}:{:#x}", node.high, node.bits);
      default: return fmt::format("{}", sign_extended(node.bits, node.type));
    }
  }

  std::string operand(NodeId id) {
    write(id);
    return name(id);
  }

  void write(NodeId id) {
    if (written_[id] || is_leaf(f_[id])) return;
    written_[id] = true;
    const Node& node = f_[id];
    std::string args;
    for (const NodeId arg : node.args)
      if (arg != kNoNode) args += ' ' + operand(arg);
    if (node.kind == Kind::kStore) return add("  store {}{}\n", type_word(node.type), args);
    const std::string_view word =
        node.kind == Kind::kPure ? trace_op_word(node.op) : kind_word(node.kind);
    const bool compares = node.kind == Kind::kPure && node.op == TraceOp::kCmp;
    add("  %{} = {} {}{}\n", id, word,
        compares ? predicate_word(node.predicate) : type_word(node.type), args);
  }

  const Function& f_;
  std::vector<bool> written_;
  std::string text_;
};

}  // namespace

std::string code_text(const LiftRequest& request, const Image& image, FrontEnd& front_end) {
  CallResolver resolver(image, front_end);
  std::string text;
  try {
    const auto entry = reinterpret_cast<uint64_t>(request.function);
    const Code code = discover(entry, image, front_end, resolver);
    for (const CodeBlock& block : code.blocks) {
      text += fmt::format("# block {:#x}\n", block.address);
      for (uint32_t i = 0; i < block.steps; i++) {
        const Instruction& in = code.steps[block.first_step + i].instruction;
        text += fmt::format("#   {:#x}  {}\n", in.address, front_end.text(in));
      }
    }
  } catch (const Refusal& refusal) {
    text += fmt::format("# {}\n", refusal.reason);
  }
  return text;
}

std::string function_text(const Function& function) { return Writer(function).run(); }

}  // namespace nrd::lift
