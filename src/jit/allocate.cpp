// SPDX-License-Identifier: MIT
// src/jit/allocate.cpp: linear scan in rounds.
//
// A round walks the program once and gives registers out. Where none is left the value that is
// touched least for its length goes to the stack, and a further round gives the instructions that
// touch it their temporaries. Constants take part only afterwards: they get the registers that
// stayed free from the entry to their last use, the rest is read from the pool.
#include "jit/allocate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "jit/op_info.h"

namespace nrd::jit {
namespace {

constexpr int kMaxPhysical = 32;
enum Bank { kVectorBank, kMaskBank, kGprBank, kBanks };

struct PinnedLife {
  uint32_t start, end;
  uint8_t reg;
};

struct Physical {
  static constexpr uint32_t kTemporary = kNoReg - 1;
  uint32_t busy_until = 0;  // a time; free from then on
  uint32_t owner = kNoReg;
  uint32_t first_start = Interval::kNever;
};

class Scan {
 public:
  Scan(const Program& program, const RegisterFile& file, Needs (*needs)(const Inst&),
       Allocation& to)
      : program_(program), file_(file), to_(to) {
    orders_ = {file.vectors, file.masks, file.gprs};
    needs_.clear();
    for (const Inst& inst : program.code) needs_.push_back(needs(inst));
    find_lives(program, to.lives);
    spilled_.assign(program.registers.size(), 0);
    is_constant_.assign(program.registers.size(), 0);
    for (const Inst& inst : program.code) {
      if (inst.op == Op::kConst) is_constant_[inst.dst] = 1;
    }
  }

  Expected<void> run() {
    NRD_TRY(find_pinned());
    do {
      again_ = false;
      NRD_TRY(round());
    } while (again_);
    place_constants();
    assign_slots();
    return {};
  }

 private:
  Bank bank(RegClass c) const {
    if (c == RegClass::kGpr) return kGprBank;
    return c == RegClass::kMask && !file_.masks_are_vectors ? kMaskBank : kVectorBank;
  }
  Bank bank_of(uint32_t reg) const { return bank(program_.registers[reg]); }
  bool in_memory(uint32_t reg) const {
    return reg != kNoReg && (spilled_[reg] || is_constant_[reg]);
  }

  Expected<void> find_pinned() {
    pinned_.clear();
    for (uint32_t reg = 0; reg < program_.registers.size(); reg++) {
      const Interval& life = to_.lives[reg];
      if (program_.pinned[reg] < 0 || life.start == Interval::kNever) continue;
      const auto physical = static_cast<uint8_t>(program_.pinned[reg]);
      if (is_constant_[reg] || bank_of(reg) != kVectorBank ||
          std::find(file_.vectors.begin(), file_.vectors.end(), physical) == file_.vectors.end()) {
        return make_error({.code = ErrorCode::kInternal,
                           .op = program_.name,
                           .got = fmt::format("register {} pinned to {}", reg, physical)});
      }
      if (overlaps_pinned(physical, life.start, life.end)) {
        return make_error({.code = ErrorCode::kInternal,
                           .op = program_.name,
                           .got = fmt::format("two values pinned to {} at a time", physical)});
      }
      pinned_.push_back({life.start, life.end, physical});
    }
    return {};
  }

  bool overlaps_pinned(uint8_t physical, uint32_t start, uint32_t end) const {
    for (const PinnedLife& life : pinned_) {
      if (life.reg == physical && life.start <= end && start <= life.end) return true;
    }
    return false;
  }

  // The instruction that reads a value last may write a pinned one and want them apart.
  bool is_pinned_within(uint8_t physical, uint32_t start, uint32_t end) const {
    return overlaps_pinned(physical, start, end | 1);
  }

  Expected<void> round() {
    for (auto& physicals : banks_) physicals.fill(Physical{});
    to_.where.assign(program_.registers.size(), Location{});
    to_.of_instruction.clear();
    to_.temporaries.clear();
    to_.used_gprs = 0;
    for (uint32_t i = 0; i < program_.code.size(); i++) {
      const Inst& inst = program_.code[i];
      NRD_TRY(give_temporaries(inst, i));
      const uint32_t dst = inst.dst;
      if (dst == kNoReg || to_.lives[dst].start != 2 * i + 1 || is_constant_[dst]) continue;
      if (!spilled_[dst]) give_register(inst, needs_[i].apart);
    }
    return {};
  }

  // Operands and results that lie in memory, beside what the back end asks for.
  Needs count_temporaries(const Inst& inst, uint32_t i) const {
    Needs needs = needs_[i];
    if (inst.op == Op::kCallLanes || inst.op == Op::kConst) return needs;
    bool saved_one = false;
    const std::array<uint32_t, 5> registers = {inst.a, inst.b, inst.c, inst.mask, inst.dst};
    for (size_t operand = 0; operand < registers.size(); operand++) {
      const uint32_t reg = registers[operand];
      if (!in_memory(reg)) continue;
      const Bank where = bank_of(reg);
      if (operand < 3 && (needs.memory >> operand & 1) && !saved_one) {
        saved_one = true;
      } else if (where == kVectorBank) {
        needs.vectors++;
      } else if (where == kMaskBank) {
        needs.masks++;
      }
    }
    return needs;
  }

  Expected<void> give_temporaries(const Inst& inst, uint32_t i) {
    const Needs needs = count_temporaries(inst, i);
    to_.of_instruction.push_back(
        {static_cast<uint32_t>(to_.temporaries.size()), needs.vectors, needs.masks});
    for (int n = 0; n < needs.vectors + needs.masks; n++) {
      const Bank where = n < needs.vectors ? kVectorBank : kMaskBank;
      int physical = find_free(where, 2 * i, 2 * i + 1, -1);
      if (physical < 0) physical = evict(where, 2 * i, 2 * i + 1, kNoReg);
      if (physical < 0) {
        return make_error({.code = ErrorCode::kInternal,
                           .op = program_.name,
                           .got = fmt::format("instruction {} finds no temporary register", i)});
      }
      occupy(where, physical, Physical::kTemporary, 2 * i, 2 * i + 1);
      to_.temporaries.push_back(static_cast<uint8_t>(physical));
    }
    return {};
  }

  void give_register(const Inst& inst, uint8_t apart) {
    const uint32_t dst = inst.dst;
    forbidden_ = registers_apart(inst, apart);
    const Interval& life = to_.lives[dst];
    const Bank where = bank_of(dst);
    int physical = program_.pinned[dst];
    if (physical < 0) physical = find_free(where, life.start, life.end, wish(inst));
    if (physical < 0) physical = evict(where, life.start, life.end, dst);
    forbidden_ = 0;
    if (physical < 0) {
      spill(dst);
      return;
    }
    occupy(where, physical, dst, life.start, life.end);
    to_.where[dst] = {Location::kRegister, static_cast<uint8_t>(physical), 0};
  }

  // As bits.
  uint32_t registers_apart(const Inst& inst, uint8_t apart) const {
    const std::array<uint32_t, 3> operands = {inst.a, inst.b, inst.c};
    uint32_t registers = 0;
    for (size_t i = 0; i < operands.size(); i++) {
      if (!(apart >> i & 1) || operands[i] == kNoReg) continue;
      const Location& place = to_.where[operands[i]];
      if (place.kind == Location::kRegister) registers |= 1u << place.reg;
    }
    return registers;
  }

  // The register of a dying operand that saves a move: an addend or factor of a multiply-add.
  int wish(const Inst& inst) const {
    for (uint32_t reg : {inst.c, inst.a, inst.b}) {
      if (reg == kNoReg || bank_of(reg) != bank_of(inst.dst)) continue;
      if (to_.where[reg].kind == Location::kRegister &&
          to_.lives[reg].end < to_.lives[inst.dst].start) {
        return to_.where[reg].reg;
      }
    }
    return -1;
  }

  bool is_free(Bank where, uint8_t physical, uint32_t start, uint32_t end) const {
    const Physical& p = banks_[where][physical];
    if (p.owner != kNoReg && p.busy_until >= start) return false;
    if (forbidden_ >> physical & 1) return false;
    return where != kVectorBank || !is_pinned_within(physical, start, end);
  }

  int find_free(Bank where, uint32_t start, uint32_t end, int wished) const {
    if (wished >= 0 && is_free(where, static_cast<uint8_t>(wished), start, end)) return wished;
    for (uint8_t physical : orders_[where]) {
      if (is_free(where, physical, start, end)) return physical;
    }
    return -1;
  }

  float cost(uint32_t reg) const {
    const Interval& life = to_.lives[reg];
    return life.weight / static_cast<float>(life.end - life.start + 1);
  }

  // Sends the cheapest value to the stack and returns its register; -1: `asking` is the cheapest
  // itself, or there is nothing to send.
  int evict(Bank where, uint32_t start, uint32_t end, uint32_t asking) {
    int best = -1;
    float best_cost = asking == kNoReg ? 0 : cost(asking);
    for (uint8_t physical : orders_[where]) {
      const uint32_t owner = banks_[where][physical].owner;
      if (owner == kNoReg || owner == Physical::kTemporary || program_.pinned[owner] >= 0) continue;
      if (forbidden_ >> physical & 1) continue;
      if (where == kVectorBank && is_pinned_within(physical, start, end)) continue;
      if ((best >= 0 || asking != kNoReg) && cost(owner) >= best_cost) continue;
      best = physical;
      best_cost = cost(owner);
    }
    if (best >= 0) spill(banks_[where][best].owner);
    return best;
  }

  void spill(uint32_t reg) {
    spilled_[reg] = 1;
    again_ = true;
    to_.where[reg] = {};
  }

  void occupy(Bank where, int physical, uint32_t owner, uint32_t start, uint32_t end) {
    Physical& p = banks_[where][physical];
    p.owner = owner;
    p.busy_until = end;
    p.first_start = std::min(p.first_start, start);
    if (where == kGprBank) to_.used_gprs |= 1u << physical;
  }

  // By weight, into registers nobody else holds before the constant's last use; the tightest fit
  // leaves the long-lived gaps to others.
  void place_constants() {
    constants_.clear();
    for (const Inst& inst : program_.code) {
      if (inst.op == Op::kConst && to_.lives[inst.dst].end > 0) constants_.push_back(inst.dst);
    }
    std::sort(constants_.begin(), constants_.end(), [this](uint32_t x, uint32_t y) {
      const float a = to_.lives[x].weight, b = to_.lives[y].weight;
      return a != b ? a > b : x < y;
    });
    for (uint32_t reg : constants_) {
      const uint32_t end = to_.lives[reg].end;
      int best = -1;
      for (uint8_t physical : file_.vectors) {
        const uint32_t gap = banks_[kVectorBank][physical].first_start;
        if (gap <= end || is_pinned_within(physical, 0, end)) continue;
        if (best < 0 || gap < banks_[kVectorBank][best].first_start) best = physical;
      }
      if (best < 0) {
        to_.where[reg].kind = Location::kPool;
      } else {
        to_.where[reg] = {Location::kRegister, static_cast<uint8_t>(best), 0};
        banks_[kVectorBank][best].first_start = 0;
      }
    }
  }

  void assign_slots() {
    to_.vector_slots = to_.small_slots = 0;
    to_.spills = 0;
    for (uint32_t reg = 0; reg < program_.registers.size(); reg++) {
      if (!spilled_[reg]) continue;
      uint32_t& next = bank_of(reg) == kVectorBank ? to_.vector_slots : to_.small_slots;
      to_.where[reg] = {Location::kSlot, 0, next++};
      to_.spills++;
    }
  }

  const Program& program_;
  const RegisterFile& file_;
  Allocation& to_;
  std::array<std::span<const uint8_t>, kBanks> orders_;
  std::array<std::array<Physical, kMaxPhysical>, kBanks> banks_;
  bool again_ = false;
  uint32_t forbidden_ = 0;  // registers that the result being placed must not get, as bits
  // Reused from program to program.
  static thread_local std::vector<Needs> needs_;
  static thread_local std::vector<uint8_t> spilled_, is_constant_;
  static thread_local std::vector<PinnedLife> pinned_;
  static thread_local std::vector<uint32_t> constants_;
};

thread_local std::vector<Needs> Scan::needs_;
thread_local std::vector<uint8_t> Scan::spilled_, Scan::is_constant_;
thread_local std::vector<PinnedLife> Scan::pinned_;
thread_local std::vector<uint32_t> Scan::constants_;

}  // namespace

Expected<void> allocate(const Program& program, const RegisterFile& file,
                        Needs (*needs)(const Inst&), Allocation& to) {
  return Scan(program, file, needs, to).run();
}

}  // namespace nrd::jit
