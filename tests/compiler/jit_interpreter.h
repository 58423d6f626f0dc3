// SPDX-License-Identifier: MIT
// tests/compiler/jit_interpreter.h: runs programs of the vector IR one lane at a time.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "jit/ir.h"

namespace nrd::jit {

// What a program must do, in scalar C. Memory is real memory; the arguments are those the
// generated function would get. Lanes hold bits: f32 and i32 in the low half.
class Interpreter {
 public:
  static constexpr int kMaxLanes = 16;
  using Lanes = std::array<uint64_t, kMaxLanes>;

  explicit Interpreter(const Program& program);
  void run(const void* block, void* const* pointers = nullptr);

 private:
  uintptr_t address(const Mem& mem) const;
  int64_t second(const Inst& inst) const { return inst.use_imm ? inst.imm : gprs_[inst.b]; }
  int active_lanes(const Inst& inst) const;
  uint64_t load_element(const Inst& inst, uintptr_t at) const;
  void store_element(const Inst& inst, uintptr_t at, uint64_t bits) const;
  void move_memory(const Inst& inst);
  void call_lanes(const Inst& inst);
  void across_lanes(const Inst& inst);
  void masks(const Inst& inst);
  void scalar(const Inst& inst);
  void vector(const Inst& inst);
  bool takes_branch(const Inst& inst) const;

  const Program& program_;
  std::array<const void*, kArguments> arguments_{};
  std::vector<Lanes> vectors_;
  std::vector<uint32_t> masks_;
  std::vector<int64_t> gprs_;
  std::vector<size_t> labels_;
};

// One lane of an operation that works lane by lane.
uint64_t lane_result(const Inst& inst, uint64_t a, uint64_t b, uint64_t c);
bool lane_compare(Predicate predicate, Lane lane, uint64_t a, uint64_t b);

}  // namespace nrd::jit
