// SPDX-License-Identifier: MIT
// src/jit/verify.cpp: whether a program of the vector IR is well formed.
//
// What the allocator and the back ends rely on: registers of the right class, a definition before
// every use (in program order), constants set once and in front, labels bound once, backward jumps
// inside loop brackets, a return at the end.
#include <fmt/format.h>

#include "jit/ir.h"
#include "jit/op_info.h"

namespace nrd::jit {
namespace {

class Verifier {
 public:
  explicit Verifier(const Program& program)
      : program_(program),
        defined_(program.registers.size(), 0),
        constant_(program.registers.size(), 0),
        label_at_(program.labels, kUnbound) {}

  std::string verify() {
    if (program_.pinned.size() != program_.registers.size()) return "pinned: one entry a register";
    if (program_.code.empty() || program_.code.back().op != Op::kReturn) {
      return "the last instruction is no return";
    }
    place_labels();
    for (at_ = 0; at_ < program_.code.size() && problem_.empty(); at_++) check(program_.code[at_]);
    if (problem_.empty() && !loops_.empty()) problem_ = "a loop is not closed";
    if (problem_.empty()) check_backward_jumps();
    return std::move(problem_);
  }

 private:
  static constexpr size_t kUnbound = ~size_t{0};
  struct Loop {
    size_t begin, end;
  };

  template <class... Args>
  void fail(fmt::format_string<Args...> format, Args&&... args) {
    if (!problem_.empty()) return;
    problem_ = fmt::format("instruction {} ({}): {}", at_, op_info(program_.code[at_].op).word,
                           fmt::format(format, std::forward<Args>(args)...));
  }

  void place_labels() {
    for (at_ = 0; at_ < program_.code.size(); at_++) {
      const Inst& inst = program_.code[at_];
      if (inst.op != Op::kLabel) continue;
      if (inst.label >= program_.labels) return fail("label {} does not exist", inst.label);
      if (label_at_[inst.label] != kUnbound) return fail("label {} is bound twice", inst.label);
      label_at_[inst.label] = at_;
    }
  }

  bool class_fits(uint32_t reg, char kind) {
    switch (program_.registers[reg]) {
      case RegClass::kVector: return kind == 'v' || kind == 'o';
      case RegClass::kMask: return kind == 'm';
      case RegClass::kGpr: return kind == 'g' || kind == 'i';
    }
    return false;
  }

  void check_use(std::string_view name, uint32_t reg, char kind, bool is_optional = false) {
    if (reg == kNoReg) {
      if (kind != '-' && kind != 'o' && !is_optional) fail("{} is missing", name);
      return;
    }
    if (reg >= program_.registers.size()) return fail("{}: register {} does not exist", name, reg);
    if (!class_fits(reg, kind)) return fail("{}: register {} has the wrong class", name, reg);
    if (!defined_[reg]) fail("{}: register {} is read before it is set", name, reg);
  }

  void check_operands(const Inst& inst, const OpInfo& op) {
    check_use("a", inst.a, op.a);
    check_use("b", inst.b, op.b, op.b == 'i' && inst.use_imm);
    if (inst.use_imm && inst.b != kNoReg) fail("both b and an immediate");
    check_use("c", inst.c, op.c);
    const bool is_select = inst.op == Op::kSelect;
    check_use("mask", inst.mask, is_select || op.has_tail ? 'm' : '-', !is_select);
    check_use("count", inst.count, op.has_tail ? 'g' : '-', true);
    if (op.has_tail && (inst.mask == kNoReg) != (inst.count == kNoReg)) fail("half a tail");
    check_use("base", inst.mem.base.id, op.has_memory ? 'g' : '-');
    check_use("index", inst.mem.index.id, op.has_memory ? 'g' : '-', true);
    if (op.has_memory && inst.mem.scale != 1 && inst.mem.scale != 2 && inst.mem.scale != 4 &&
        inst.mem.scale != 8) {
      fail("scale {}", inst.mem.scale);
    }
  }

  void check_types(const Inst& inst, const OpInfo& op) {
    if (inst.op < Op::kMaskAnd && op.has_memory && !moves_as(inst.dtype, inst.lane)) {
      fail("{} does not move as {}", word(inst.dtype), lane_word(inst.lane));
    }
    if (inst.nt && (inst.count != kNoReg ||
                    static_cast<int>(byte_size(inst.dtype)) != lane_bytes(inst.lane))) {
      fail("a non-temporal store takes full vectors of the lane's own type");
    }
    const bool is_integer = inst.predicate >= Predicate::kEq;
    if (inst.op == Op::kCompare && is_integer != (inst.lane == Lane::kI32)) {
      fail("predicate {} of {}", predicate_word(inst.predicate), lane_word(inst.lane));
    }
    if (inst.op == Op::kBranch && (!is_integer || inst.predicate > Predicate::kGe)) {
      fail("predicate {} of a branch", predicate_word(inst.predicate));
    }
    if (inst.op == Op::kGDiv && inst.use_imm && inst.imm <= 0) fail("divisor {}", inst.imm);
    const bool takes_lane = inst.op == Op::kFmaLane || inst.op == Op::kDotLane;
    if (takes_lane && (inst.imm < 0 || inst.imm >= program_.lanes)) fail("lane {}", inst.imm);
    if (inst.op >= Op::kDotI16 && inst.op <= Op::kMatrixBF16 && inst.dst != inst.c) {
      fail("products are added in place");
    }
    const bool takes_tile = inst.op >= Op::kTileZero && inst.op <= Op::kTileStore;
    if (takes_tile && (inst.imm < 0 || inst.imm >= 8)) fail("tile {}", inst.imm);
    if (inst.op == Op::kFold && !is_fold(inst.imm)) fail("distance {}", inst.imm);
    const bool has_table = inst.imm >= 0 && inst.imm < static_cast<int64_t>(program_.tables.size());
    const bool has_data = inst.imm >= 0 && inst.imm < static_cast<int64_t>(program_.data.size());
    if (inst.op == Op::kGData && !has_data) fail("data {}", inst.imm);
    if (inst.op == Op::kLookup && (!has_table || program_.lanes != 16)) fail("table {}", inst.imm);
  }

  bool is_fold(int64_t distance) const {
    return distance > 0 && distance < program_.lanes && (distance & (distance - 1)) == 0;
  }

  void check_definition(const Inst& inst, const OpInfo& op) {
    if ((inst.dst == kNoReg) != (op.dst == '-')) return fail("dst is missing or too many");
    if (inst.dst == kNoReg) return;
    if (inst.dst >= program_.registers.size()) return fail("register {} does not exist", inst.dst);
    if (!class_fits(inst.dst, op.dst)) return fail("dst has the wrong class");
    if (program_.registers[inst.dst] != inst.dst_class) return fail("dst_class is another");
    if (constant_[inst.dst]) return fail("register {} is a constant", inst.dst);
    if (inst.op == Op::kConst) {
      if (defined_[inst.dst]) return fail("a constant is set twice");
      constant_[inst.dst] = 1;
    }
    defined_[inst.dst] = 1;
  }

  void check_control(const Inst& inst, const OpInfo& op) {
    const Inst* before = at_ > 0 ? &program_.code[at_ - 1] : nullptr;
    if (inst.op == Op::kGArgument) {
      // A register handed over lives until its own instruction.
      if (before && (before->op != Op::kGArgument || before->imm >= inst.imm))
        fail("arguments stand first, in order");
      if (inst.imm < 0 || inst.imm >= kArguments) fail("there is no argument {}", inst.imm);
    }
    if (inst.op == Op::kConst && before && before->op != Op::kConst &&
        before->op != Op::kGArgument) {
      fail("constants stand in front");
    }
    if (op.has_label && (inst.label >= program_.labels || label_at_[inst.label] == kUnbound)) {
      return fail("label {} is not bound", inst.label);
    }
    if (inst.op == Op::kLoopBegin) loops_.push_back(at_);
    if (inst.op == Op::kLoopEnd) {
      if (loops_.empty()) return fail("no loop is open");
      closed_.push_back({loops_.back(), at_});
      loops_.pop_back();
    }
  }

  void check(const Inst& inst) {
    const OpInfo& op = op_info(inst.op);
    check_operands(inst, op);
    if (!problem_.empty()) return;
    check_types(inst, op);
    check_control(inst, op);
    check_definition(inst, op);
  }

  void check_backward_jumps() {
    for (at_ = 0; at_ < program_.code.size(); at_++) {
      const Inst& inst = program_.code[at_];
      if (!op_info(inst.op).has_label || label_at_[inst.label] >= at_) continue;
      bool is_bracketed = inst.op == Op::kLabel;
      for (const Loop& loop : closed_) {
        is_bracketed |= loop.begin < label_at_[inst.label] && at_ < loop.end;
      }
      if (!is_bracketed) fail("a jump back to label {} outside of loop brackets", inst.label);
    }
  }

  const Program& program_;
  std::vector<uint8_t> defined_, constant_;
  std::vector<size_t> label_at_;
  std::vector<size_t> loops_;
  std::vector<Loop> closed_;
  size_t at_ = 0;
  std::string problem_;
};

}  // namespace

std::string verify_program(const Program& program) { return Verifier(program).verify(); }

}  // namespace nrd::jit
