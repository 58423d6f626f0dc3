// SPDX-License-Identifier: MIT
// src/lift/build.cpp: machine code -> Function: discover, translate, clean, check.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "lift/cfg.h"
#include "lift/clean.h"
#include "lift/divisions.h"
#include "lift/graph_edit.h"
#include "lift/image.h"
#include "lift/simplify.h"
#include "lift/ssa.h"
#include "lift/tables.h"
#include "lift/unrolled.h"

namespace nrd::lift {
namespace {

constexpr int kMaxAttempts = 32;
constexpr size_t kMaxBlockCalls = 8;

using Clock = std::chrono::steady_clock;

double microseconds(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::micro>(to - from).count();
}

Function translate(const Code& code, const LiftRequest& request, const Image& image,
                   FrontEnd& front_end, CallResolver& resolver, Keep keep) {
  Learned learned;
  for (int attempt = 0; attempt < kMaxAttempts; attempt++) {
    try {
      return SsaBuilder(code, image, front_end, resolver, request.signature, learned, keep).run();
    } catch (const Restart&) {
    }
  }
  throw Refusal{"the locals of the function overlap in an unusual way"};
}

// A leaf that must not be part of a result: why.
std::string objection(const Function& f, const Node& user, NodeId arg) {
  const Node& node = f[arg];
  if (node.kind == Kind::kStack)
    return fmt::format("the address of a local variable is used at {:#x}", user.address);
  if (node.kind == Kind::kUndef)
    return fmt::format("a value is used at {:#x} that the function never set", user.address);
  if (node.type == Type::kV128 || node.type == Type::kFlags)
    return fmt::format("a whole vector register is used at {:#x}", user.address);
  return {};
}

// An effect that no trace has. It may be a counter of --coverage whose names are lost: say so.
[[noreturn]] void refuse_global(const Node& store, uint64_t address, const Image& image) {
  std::string reason = fmt::format("it writes a global at {:#x} (in the instruction at {:#x})",
                                   address, store.address);
  std::string doubt;
  image.is_instrumentation(address, bytes_of(store.type), &doubt);
  if (!doubt.empty()) reason += "; whether that is a counter of coverage is not known: " + doubt;
  throw Refusal{std::move(reason)};
}

void check_node(const Function& f, const Node& node, const Image& image) {
  if (node.kind == Kind::kStore && f[node.args[0]].kind == Kind::kConst)
    refuse_global(node, f[node.args[0]].bits, image);
  const auto check = [&](NodeId arg) {
    if (arg == kNoNode) return;
    std::string reason = objection(f, node, arg);
    if (!reason.empty()) throw Refusal{std::move(reason)};
  };
  for (const NodeId arg : node.args) check(arg);
  if (node.kind == Kind::kPhi)
    for (const NodeId arg : f.blocks[node.index].phis[node.bits].args) check(arg);
}

// What Function promises: no stack, no undefined values, no global written.
void check_function(const Function& f, const Image& image) {
  const std::vector<bool> live = live_nodes(f, image, Keep::kEffects);
  for (NodeId id = 0; id < f.nodes.size(); id++)
    if (live[id]) check_node(f, f[id], image);
  const auto is_undefined = [&](NodeId id) { return id != kNoNode && f[id].kind == Kind::kUndef; };
  if (is_undefined(f.result)) throw Refusal{"the result is never set"};
  for (const Block& block : f.blocks)
    if (block.successors.size() == 2 && is_undefined(block.condition))
      throw Refusal{
          fmt::format("a branch in the block at {:#x} depends on flags or a value that "
                      "the function never set",
                      block.address)};
}

std::vector<CodeRange> code_ranges(const Code& code) {
  std::vector<CodeRange> pieces, ranges;
  for (const Step& step : code.steps)
    pieces.push_back({step.instruction.address, step.instruction.length});
  std::sort(pieces.begin(), pieces.end(),
            [](const CodeRange& a, const CodeRange& b) { return a.address < b.address; });
  for (const CodeRange& piece : pieces) {
    const bool adjoins =
        !ranges.empty() && piece.address <= ranges.back().address + ranges.back().bytes;
    if (!adjoins) ranges.push_back({piece.address, 0});
    CodeRange& range = ranges.back();
    range.bytes = std::max(range.bytes, piece.address + piece.bytes - range.address);
  }
  return ranges;
}

using BlockCalls = std::vector<CallResolver::BlockCall>;

Function build(const LiftRequest& request, const Image& image, FrontEnd& front_end,
               LiftStats& stats, Keep keep, const BlockCalls& block_calls) {
  const auto start = Clock::now();
  CallResolver resolver(image, front_end);
  resolver.block_calls = block_calls;
  const auto entry = reinterpret_cast<uint64_t>(request.function);
  const Code code = discover(entry, image, front_end, resolver);
  const auto decoded = Clock::now();
  Function function =
      clean(translate(code, request, image, front_end, resolver, keep), image, keep);
  if (keep == Keep::kEffects && roll_loops(function))
    function = clean(std::move(function), image, keep);
  merge_blocks(function);
  find_loops(function);
  if (keep == Keep::kEffects) {
    recognise_divisions(function);
    resolve_tables(function, image);
  }
  check_function(function, image);
  function.code = code_ranges(code);
  stats.decode_us = microseconds(start, decoded);
  stats.build_us = microseconds(decoded, Clock::now());
  stats.instructions = static_cast<int>(code.instructions);
  stats.blocks = static_cast<int>(function.blocks.size());
  stats.nodes = static_cast<int>(function.nodes.size());
  return function;
}

}  // namespace

Expected<Function> build_function(const LiftRequest& request, const Image& image,
                                  FrontEnd& front_end, LiftStats* stats, Keep keep) {
  LiftStats ignored;
  BlockCalls block_calls;
  while (true) {
    try {
      return build(request, image, front_end, stats != nullptr ? *stats : ignored, keep,
                   block_calls);
    } catch (const Refusal& refusal) {
      // The stand-ins are code of this machine.
      const bool is_native = &image == &process_image();
      if (refusal.block_call == 0 || !is_native || block_calls.size() >= kMaxBlockCalls)
        return refusal.error(request);
      block_calls.push_back({refusal.block_call, refusal.element_bytes});
    }
  }
}

}  // namespace nrd::lift
