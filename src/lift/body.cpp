// SPDX-License-Identifier: MIT
// src/lift/body.cpp: recursive descent through one function.
#include "lift/body.h"

#include <fmt/format.h>

namespace nrd::lift {
namespace {

constinit const CallTarget kNowhere;

// How an instruction continues, once calls are resolved.
struct Decoded {
  Step step;
  End end = End::kJump;
  bool ends = false;          // the block, after this instruction
  uint64_t next[2] = {0, 0};  // addresses
  const CallTarget* helper = nullptr;
  std::string reason;
};

class BodyDecoder {
 public:
  BodyDecoder(const Image& image, FrontEnd& front_end, CallResolver& resolver, size_t decoded)
      : image_(image), front_end_(front_end), resolver_(resolver), before_(decoded) {}

  Body run(uint64_t entry, std::vector<Step>& steps) {
    entry_ = entry;
    add_leader(entry);
    while (!work_.empty()) {
      const uint64_t address = work_.back();
      work_.pop_back();
      decode_run(address);
    }
    Body body{.entry = entry};
    for (size_t i = 0; i < leaders_.size(); i++) body.blocks.push_back(make_block(i, steps));
    return body;
  }

  size_t decoded() const { return decoded_.size(); }

 private:
  void add_leader(uint64_t address) {
    if (leader_index_.find(address) != FlatMap::kMissing) return;
    leader_index_.set(address, static_cast<uint32_t>(leaders_.size()));
    leaders_.push_back(address);
    work_.push_back(address);
  }

  void decode_run(uint64_t address) {
    while (index_.find(address) == FlatMap::kMissing) {
      if (before_ + decoded_.size() >= kMaxInstructions)
        throw Refusal{fmt::format("the function has more than {} instructions", kMaxInstructions)};
      Decoded d = decode_one(address);
      index_.set(address, static_cast<uint32_t>(decoded_.size()));
      decoded_.push_back(d);
      if (d.ends) {
        const bool goes_on = d.end == End::kJump || d.end == End::kBranch || d.end == End::kHelper;
        if (goes_on) add_leader(d.next[0]);
        if (d.end == End::kBranch) add_leader(d.next[1]);
        return;
      }
      address = d.next[0];
    }
    add_leader(address);  // another run passes here: a join
  }

  Decoded decode_one(uint64_t address) {
    Decoded d;
    Instruction& in = d.step.instruction;
    std::string reason;
    if (!front_end_.decode(image_, address, in, reason)) return bad(std::move(d), reason);
    d.next[0] = address + in.length;
    switch (in.flow) {
      case Flow::kNext: return d;
      case Flow::kJump: return jump(std::move(d));
      case Flow::kBranch:
        d.next[1] = d.next[0];
        d.next[0] = in.target;
        return ended(std::move(d), End::kBranch);
      case Flow::kCall: return call(std::move(d));
      case Flow::kReturn: return ended(std::move(d), End::kReturn);
      case Flow::kTrap: return ended(std::move(d), End::kDead);
      case Flow::kIndirect: return indirect(std::move(d));
    }
    return d;
  }

  static Decoded ended(Decoded d, End end) {
    d.ends = true;
    d.end = end;
    return d;
  }
  static Decoded bad(Decoded d, std::string reason) {
    d.reason = std::move(reason);
    return ended(std::move(d), End::kBad);
  }

  // A jump backwards stays inside the function; others may be a tail call.
  Decoded jump(Decoded d) {
    const Instruction& in = d.step.instruction;
    const bool inside = in.target >= entry_ && in.target <= in.address;
    if (!inside) return tail(std::move(d), resolver_.of_address(in.target));
    d.next[0] = in.target;
    return ended(std::move(d), End::kJump);
  }

  Decoded indirect(Decoded d) {
    const Instruction& in = d.step.instruction;
    if (in.call_slot == 0)
      return bad(
          std::move(d),
          fmt::format("a jump through a register or table (a switch?) at {:#x}", in.address));
    return tail(std::move(d), resolver_.of_slot(in.call_slot));
  }

  Decoded tail(Decoded d, const CallTarget& called) {
    const CallTarget* loop = resolver_.stand_in(d.step.instruction.address, called);
    const CallTarget& target = loop != nullptr ? *loop : called;
    if (target.kind == CallKind::kHelper) {
      d.next[0] = target.address;
      return ended(std::move(d), End::kJump);
    }
    if (target.kind == CallKind::kNoReturn) return ended(std::move(d), End::kDead);
    d.step.call = &target;
    return ended(std::move(d), End::kReturn);
  }

  Decoded call(Decoded d) {
    const Instruction& in = d.step.instruction;
    const CallTarget& called = in.target != 0      ? resolver_.of_address(in.target)
                               : in.call_slot != 0 ? resolver_.of_slot(in.call_slot)
                                                   : kNowhere;
    const CallTarget* loop = resolver_.stand_in(in.address, called);
    const CallTarget& target = loop != nullptr ? *loop : called;
    if (target.kind == CallKind::kNoReturn) return ended(std::move(d), End::kDead);
    if (target.kind == CallKind::kHelper) {
      d.helper = &target;
      return ended(std::move(d), End::kHelper);
    }
    d.step.call = &target;
    return d;
  }

  BodyBlock make_block(size_t leader, std::vector<Step>& steps) {
    BodyBlock block{.address = leaders_[leader], .first_step = static_cast<uint32_t>(steps.size())};
    uint64_t address = leaders_[leader];
    for (;;) {
      const Decoded& d = decoded_[index_.find(address)];
      const bool is_step = d.end != End::kBad;
      if (is_step) steps.push_back(d.step);
      if (d.ends) {
        block.end = d.end;
        block.helper = d.helper;
        block.reason = d.reason;
        for (const int i : {0, 1})
          block.successor[i] = d.next[i] != 0 ? leader_index_.find(d.next[i]) : 0;
        break;
      }
      address = d.next[0];
      const uint32_t next = leader_index_.find(address);
      if (next == FlatMap::kMissing) continue;
      block.end = End::kJump;
      block.successor[0] = next;
      break;
    }
    block.steps = static_cast<uint32_t>(steps.size()) - block.first_step;
    return block;
  }

  const Image& image_;
  FrontEnd& front_end_;
  CallResolver& resolver_;
  size_t before_;
  uint64_t entry_ = 0;
  std::vector<Decoded> decoded_;
  FlatMap index_;  // address -> decoded_
  std::vector<uint64_t> leaders_, work_;
  FlatMap leader_index_;
};

}  // namespace

Body decode_body(uint64_t entry, const Image& image, FrontEnd& front_end, CallResolver& resolver,
                 std::vector<Step>& steps, size_t& decoded) {
  BodyDecoder decoder(image, front_end, resolver, decoded);
  Body body = decoder.run(entry, steps);
  decoded += decoder.decoded();
  return body;
}

}  // namespace nrd::lift
