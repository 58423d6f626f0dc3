// SPDX-License-Identifier: MIT
// src/lift/discover.cpp: each function's body is decoded once (body.cpp) and instantiated wherever
// it is called; then dead paths go and blocks are ordered.
#include "lift/discover.h"

#include <fmt/format.h>

#include <algorithm>

#include "lift/body.h"
#include "lift/cfg.h"

namespace nrd::lift {
namespace {

class Discoverer {
 public:
  Discoverer(const Image& image, FrontEnd& front_end, CallResolver& resolver)
      : image_(image), front_end_(front_end), resolver_(resolver) {}

  Code run(uint64_t entry) {
    blocks_.resize(2);  // entry and exit
    const uint32_t first = instantiate(body_of(entry), kExit, {entry});
    blocks_[kEntry].successors = {first};
    return ordered();
  }

 private:
  static constexpr BlockId kEntry = 0, kExit = 1;

  size_t body_of(uint64_t address) {
    for (size_t i = 0; i < bodies_.size(); i++)
      if (bodies_[i].entry == address) return i;
    bodies_.push_back(
        decode_body(address, image_, front_end_, resolver_, code_.steps, instructions_));
    return bodies_.size() - 1;
  }

  // A copy of a body whose returns go to `continuation`. `chain`: the functions we are inside of.
  BlockId instantiate(size_t body, BlockId continuation, const std::vector<uint64_t>& chain) {
    const auto base = static_cast<BlockId>(blocks_.size());
    const size_t count = bodies_[body].blocks.size();
    if (base + count > kMaxBlocks)
      throw Refusal{fmt::format("the function has more than {} basic blocks", kMaxBlocks)};
    blocks_.resize(base + count);
    for (size_t i = 0; i < count; i++) {
      const BodyBlock& from = bodies_[body].blocks[i];
      steps_ += from.steps;
      if (steps_ > kMaxSteps)
        throw Refusal{
            fmt::format("with its helpers the function has more than {} instructions", kMaxSteps)};
      CodeBlock block{.address = from.address,
                      .first_step = from.first_step,
                      .steps = from.steps,
                      .branches = from.end == End::kBranch};
      connect(from, base, continuation, block);
      if (from.end == End::kHelper) call_helper(*from.helper, base, chain, block, body, i);
      if (from.end == End::kBad) bad_.push_back({base + static_cast<BlockId>(i), from.reason});
      blocks_[base + i] = std::move(block);
    }
    return base;
  }

  static void connect(const BodyBlock& from, BlockId base, BlockId continuation, CodeBlock& block) {
    switch (from.end) {
      case End::kBranch:
        block.successors = {base + from.successor[0], base + from.successor[1]};
        break;
      case End::kJump: block.successors = {base + from.successor[0]}; break;
      case End::kReturn:
        block.successors = {continuation};
        block.leaves_helper = continuation != kExit;
        break;
      case End::kHelper:
      case End::kDead:
      case End::kBad: break;
    }
  }

  void call_helper(const CallTarget& helper, BlockId base, const std::vector<uint64_t>& chain,
                   CodeBlock& block, size_t body, size_t index) {
    const BlockId self = base + static_cast<BlockId>(index);
    const BlockId continuation = base + bodies_[body].blocks[index].successor[0];
    const std::string name =
        helper.name.empty() ? fmt::format("the function at {:#x}", helper.address) : helper.name;
    if (std::find(chain.begin(), chain.end(), helper.address) != chain.end())
      return bad_.push_back({self, fmt::format("{} is recursive", name)});
    if (chain.size() > kMaxInlineDepth)
      return bad_.push_back(
          {self, fmt::format("calls are nested deeper than {}", kMaxInlineDepth)});
    std::vector<uint64_t> longer = chain;
    longer.push_back(helper.address);
    const size_t bad_before = bad_.size();
    try {
      block.enters_helper = true;
      block.successors = {instantiate(body_of(helper.address), continuation, longer)};
    } catch (const Refusal& refusal) {
      block.successors.clear();
      bad_.resize(bad_before);
      return bad_.push_back({self, fmt::format("it calls {}: {}", name, refusal.reason)});
    }
    const bool is_outermost = chain.size() == 1;
    for (size_t i = bad_before; is_outermost && i < bad_.size(); i++)
      bad_[i].reason = fmt::format("it calls {}: {}", name, bad_[i].reason);
  }

  // Blocks from which the exit, or something not understood, can be reached.
  std::vector<bool> live_blocks() const {
    std::vector<bool> live(blocks_.size(), false);
    std::vector<std::vector<BlockId>> predecessors(blocks_.size());
    for (BlockId b = 0; b < blocks_.size(); b++)
      for (const BlockId s : blocks_[b].successors) predecessors[s].push_back(b);
    std::vector<BlockId> work{kExit};
    for (const Bad& bad : bad_) work.push_back(bad.block);
    while (!work.empty()) {
      const BlockId b = work.back();
      work.pop_back();
      if (live[b]) continue;
      live[b] = true;
      for (const BlockId p : predecessors[b]) work.push_back(p);
    }
    return live;
  }

  Code ordered() {
    const std::vector<bool> live = live_blocks();
    std::vector<std::vector<BlockId>> successors(blocks_.size());
    for (BlockId b = 0; b < blocks_.size(); b++)
      for (const BlockId s : blocks_[b].successors)
        if (live[s]) successors[b].push_back(s);
    const std::vector<BlockId> order = exit_last(reverse_post_order(successors));
    std::vector<BlockId> number(blocks_.size(), kNoBlock);
    for (BlockId i = 0; i < order.size(); i++) number[order[i]] = i;
    for (const Bad& bad : bad_)
      if (number[bad.block] != kNoBlock) throw Refusal{bad.reason};
    if (number[kExit] == kNoBlock) throw Refusal{"the function never returns"};
    fill_blocks(order, number, successors);
    code_.instructions = instructions_;
    return std::move(code_);
  }

  // The exit has no successor, so it may stand anywhere behind its predecessors.
  static std::vector<BlockId> exit_last(std::vector<BlockId> order) {
    const auto at = std::find(order.begin(), order.end(), kExit);
    if (at != order.end()) std::rotate(at, at + 1, order.end());
    return order;
  }

  void fill_blocks(const std::vector<BlockId>& order, const std::vector<BlockId>& number,
                   const std::vector<std::vector<BlockId>>& successors) {
    code_.blocks.resize(order.size());
    for (BlockId i = 0; i < order.size(); i++) {
      CodeBlock& block = code_.blocks[i];
      block = std::move(blocks_[order[i]]);
      if (block.branches && successors[order[i]].size() == 1)
        block.left_out = successors[order[i]][0] == block.successors[0] ? 1 : 0;
      block.successors.clear();
      for (const BlockId s : successors[order[i]]) block.successors.push_back(number[s]);
      const bool same = block.successors.size() == 2 && block.successors[0] == block.successors[1];
      if (same) block.successors.pop_back();
    }
    std::vector<std::vector<BlockId>> predecessors(order.size());
    for (BlockId b = 0; b < order.size(); b++)
      for (const BlockId s : code_.blocks[b].successors) predecessors[s].push_back(b);
    if (!is_reducible(predecessors, dominators(predecessors)))
      throw Refusal{"the control flow is irreducible (a jump into a loop)"};
    for (BlockId b = 0; b < order.size(); b++)
      code_.blocks[b].predecessors = std::move(predecessors[b]);
  }

  struct Bad {
    BlockId block;
    std::string reason;
  };

  const Image& image_;
  FrontEnd& front_end_;
  CallResolver& resolver_;
  Code code_;
  size_t instructions_ = 0, steps_ = 0;
  std::deque<Body> bodies_;  // references stay valid
  std::vector<CodeBlock> blocks_;
  std::vector<Bad> bad_;
};

}  // namespace

Code discover(uint64_t entry, const Image& image, FrontEnd& front_end, CallResolver& resolver) {
  return Discoverer(image, front_end, resolver).run(entry);
}

}  // namespace nrd::lift
