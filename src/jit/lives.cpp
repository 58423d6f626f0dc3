// SPDX-License-Identifier: MIT
// src/jit/lives.cpp: lifetimes of virtual registers over the linear order.
#include <algorithm>

#include "jit/allocate.h"
#include "jit/op_info.h"

namespace nrd::jit {
namespace {

struct Loop {
  uint32_t begin, end;  // instructions
};

class LifeFinder {
 public:
  LifeFinder(const Program& program, std::vector<Interval>& lives)
      : program_(program), lives_(lives) {
    lives_.assign(program.registers.size(), Interval{});
    find_loops();
  }

  void run() {
    open_.clear();
    size_t next_loop = 0;
    for (uint32_t i = 0; i < program_.code.size(); i++) {
      const Inst& inst = program_.code[i];
      if (inst.op == Op::kLoopBegin) open_.push_back(loops_[next_loop++]);
      if (inst.op == Op::kLoopEnd) open_.pop_back();
      for_each_use(inst, [&](uint32_t reg) { touch(reg, 2 * i); });
      if (inst.op == Op::kConst) {
        lives_[inst.dst].start = 0;
      } else if (inst.dst != kNoReg) {
        touch(inst.dst, 2 * i + 1);
      }
    }
  }

 private:
  // In the order of their beginnings.
  void find_loops() {
    loops_.clear();
    stack_.clear();
    for (uint32_t i = 0; i < program_.code.size(); i++) {
      if (program_.code[i].op == Op::kLoopBegin) {
        stack_.push_back(static_cast<uint32_t>(loops_.size()));
        loops_.push_back({i, i});
      } else if (program_.code[i].op == Op::kLoopEnd) {
        loops_[stack_.back()].end = i;
        stack_.pop_back();
      }
    }
  }

  void touch(uint32_t reg, uint32_t time) {
    Interval& life = lives_[reg];
    life.start = std::min(life.start, time);
    life.end = std::max(life.end, time);
    life.weight += static_cast<float>(1u << (3 * std::min<size_t>(open_.size(), 6)));
    // The outermost loop that the value enters holds it to its end.
    for (const Loop& loop : open_) {
      if (life.start >= 2 * loop.begin) continue;
      life.end = std::max(life.end, 2 * loop.end + 1);
      return;
    }
  }

  const Program& program_;
  std::vector<Interval>& lives_;
  static thread_local std::vector<Loop> loops_, open_;
  static thread_local std::vector<uint32_t> stack_;
};

thread_local std::vector<Loop> LifeFinder::loops_, LifeFinder::open_;
thread_local std::vector<uint32_t> LifeFinder::stack_;

}  // namespace

void find_lives(const Program& program, std::vector<Interval>& lives) {
  LifeFinder(program, lives).run();
}

}  // namespace nrd::jit
