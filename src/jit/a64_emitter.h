// SPDX-License-Identifier: MIT
// src/jit/a64_emitter.h: emission for aarch64 with NEON.
//
// Registers: x15, x16 and x17 are scratch of single instructions, x18 is the platform's, x29 and
// x30 hold the frame record around calls, everything else is the allocator's. A mask is a vector of
// 32-bit lanes, all ones or zero, whatever was compared; 64-bit operations widen it. There are no
// memory operands: what has no register is loaded into a temporary.
//
// A program of four lanes fills a register with 32-bit elements; one of two lanes holds them in
// the lower half and fills a register with f64. What lies above is anything.
#pragma once

#include <cstdint>
#include <vector>

#include "jit/emitter.h"
#include "jit/op_info.h"

namespace nrd::jit {

// Those a call does not keep come first; the arguments (x0, x1) before all and in their order, so
// that none is overwritten before it is read.
inline constexpr uint8_t kA64Gprs[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
                                       13, 14, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28};
// v8 to v15 last: a function keeps their lower halves for its caller.
inline constexpr uint8_t kA64Vectors[] = {0,  1,  2,  3,  4,  5,  6,  7,  16, 17, 18,
                                          19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29,
                                          30, 31, 8,  9,  10, 11, 12, 13, 14, 15};

struct A64Narrow;  // an f8 format

bool a64_compares_twice(Predicate predicate);  // two instructions and a temporary

class A64Emitter final : public Emitter<a64::Assembler> {
 public:
  A64Emitter(const Program& program, const Target& target, const Allocation& where);

 private:
  using Vec = a64::Vec;
  using Gp = a64::Gp;
  using InstId = asmjit::InstId;

  // Offsets from sp.
  struct Frame {
    int32_t block = 0, small = 0, saved_small = 0, buffers = 0, saved_vectors = 0, vectors = 0;
    int32_t size = 0;
  };

  // a64_frame.cpp
  bool lanes_fit() const override;
  int code_alignment() const override { return 16; }
  int pool_alignment() const override { return 16; }
  void release_temporaries() override { next_vector_ = 0; }
  void find_kept_registers();
  void lay_out_frame();
  void prologue() override;
  void epilogue() override;
  void move_kept_registers(bool is_save);
  void move_stack(int32_t bytes);
  void call_stub(const CallStub& stub) override;
  void move_live_registers(size_t instruction, bool is_save);
  void pass_argument(uint32_t reg, int index, bool registers_only);

  // a64_operands.cpp
  Vec arrange(Vec v, Lane lane) const;  // its lanes: 4s, 2s or 2d
  Vec temporary(Lane lane);
  Vec use(uint32_t reg, Lane lane);     // in a register, loaded if need be
  Vec define(uint32_t reg, Lane lane);  // stored by finish() if it has a slot
  void finish() override;
  void load_place(Vec to, uint32_t reg);  // from its slot, or the constant
  void set_constant(Vec to, const Inst& inst);
  void set_splat32(Vec to, uint32_t bits);
  void set_splat64(Vec to, uint64_t bits);
  void load_pool(Vec to, uint32_t offset);
  void load_iota(Vec to);
  void move(Vec to, Vec from);
  a64::Mem vector_slot(uint32_t slot) const;
  a64::Mem small_slot(uint32_t slot) const;
  a64::Mem buffer(int index) const;
  Gp gpr(uint32_t reg, Gp scratch);                    // scratch is loaded where it has a slot
  void add_immediate(Gp to, Gp from, uint64_t value);  // may use x17; wraps
  a64::Mem address(const Mem& mem, int size);          // of one access; may use x16 and x17
  Gp address_register(const Mem& mem);                 // the same in a register
  void walk_from(const Mem& mem);                      // the same in x16, which may then be changed

  // a64_vector.cpp
  void emit_vector(const Inst& inst) override;
  void unary(const Inst& inst, InstId id);
  void binary(const Inst& inst);
  void bitwise(const Inst& inst);
  void maximum(const Inst& inst);
  void multiply_add(const Inst& inst);
  void add_products(const Inst& inst);
  void pair(const Inst& inst);
  void shift(const Inst& inst);
  void shift_by_lane(const Inst& inst);
  void fold(const Inst& inst);
  void convert(const Inst& inst);
  void round_to_i32(const Inst& inst);
  void wide_to_i32(const Inst& inst);

  // a64_mask.cpp
  void compare(const Inst& inst);
  void choose(Vec to, Vec mask, Vec a, Vec b);  // mask ? a : b; `to` may be any of them
  void select(const Inst& inst);
  void mask_operation(const Inst& inst);
  void branch_any(const Inst& inst, asmjit::Label to, bool is_inverted);

  // a64_memory.cpp
  void load(const Inst& inst);
  void store(const Inst& inst);
  void broadcast(const Inst& inst);
  void load_pieces(const Inst& inst, Vec to, int element);
  void store_pieces(const Inst& inst, Vec raw, int element);
  void load_strided(const Inst& inst);
  void store_strided(const Inst& inst);
  void gather(const Inst& inst);
  void skip_from_count(const Inst& inst, int lane, asmjit::Label done);

  // a64_convert.cpp
  void widen(Vec to, DType dtype);  // raw elements at the bottom of `to` to lanes
  void decode_e4m3(Vec to);
  Vec narrow(Vec a, DType dtype);  // raw elements at the bottom of a temporary, or a itself
  Vec narrow_bf16(Vec a);
  Vec narrow_f8(Vec a, const A64Narrow& format);

  // a64_scalar.cpp
  void emit_scalar(const Inst& inst) override;
  void jump(asmjit::Label to) override { a_.b(to); }
  void gpr_binary(const Inst& inst, Gp to);
  void gpr_shift(const Inst& inst, Gp to);
  Gp second_gpr(const Inst& inst);
  void compare_gprs(const Inst& inst);
  bool branch(size_t index) override;

  Frame frame_;
  bool any_f64_ = false;
  int next_vector_ = 0;
  uint32_t pending_slot_ = kNoReg;
  Vec pending_;
  std::vector<uint8_t> kept_gprs_, kept_vectors_;  // the caller's, which the program uses
};

}  // namespace nrd::jit
