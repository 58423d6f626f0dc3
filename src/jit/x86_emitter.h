// SPDX-License-Identifier: MIT
// src/jit/x86_emitter.h: emission that AVX2 and AVX-512 share, and the points where they differ.
//
// Registers: rax and rdx are scratch of single instructions, rsp points to the frame, everything
// else is the allocator's. The frame, from rsp up: vector slots, three buffers of one vector, room
// to save vectors around a call, 8-byte slots. It is aligned to 64 bytes.
#pragma once

#include <cstdint>

#include "jit/emitter.h"
#include "jit/op_info.h"

namespace nrd::jit {

using asmjit::InstId;

// The instruction of an operation by lane type; 0: there is none.
struct X86Forms {
  InstId f32 = 0, f64 = 0, i32 = 0;
  bool is_commutative = false;
};

// A floating-point format narrower than f32, in f32's terms; see base/float_format.h.
struct X86Narrow {
  int shift;        // mantissa bits dropped
  uint32_t rebias;  // difference of the biases
  uint32_t magic;   // f32 whose last place is the smallest subnormal
  uint32_t max_code, overflow_code, nan_code;
};

// What the allocator may give out: those a call does not save first; the arguments (rdi, rsi)
// before all and in their order, so that none is overwritten before it is read. rax, rdx and rsp
// are the emitter's.
inline constexpr uint8_t kX86Gprs[] = {7, 6, 1, 8, 9, 10, 11, 3, 5, 12, 13, 14, 15};

// What both instruction sets ask of the allocator.
Needs x86_needs(const Inst& inst);

class X86Emitter : public Emitter<x86::Assembler> {
 public:
  X86Emitter(const Program& program, const Target& target, const Allocation& where);
  ~X86Emitter() override;

 protected:
  using Vec = x86::Vec;
  using Gp = x86::Gp;

  // ---- where the instruction sets differ ----
  virtual bool masks_are_vectors() const = 0;
  virtual x86::Mem splat_memory(uint64_t bits, int element, int bytes) = 0;
  virtual void round(Vec to, const asmjit::Operand& from, Lane lane, int mode) = 0;
  virtual void compare(const Inst& inst) = 0;
  virtual void select(const Inst& inst) = 0;
  virtual void mask_operation(const Inst& inst) = 0;  // kMaskAnd ... kTailMask, kMaskToVector
  virtual void branch_any(const Inst& inst, asmjit::Label to, bool is_inverted) = 0;
  virtual void shuffle(const Inst& inst) = 0;  // kEven, kOdd, kZipLow, kZipHigh
  virtual void special(const Inst& inst) = 0;  // kScale, kExponent, kMantissa, kLookup
  virtual void splat_gpr(Vec to, Gp from) = 0;
  virtual void insert_quarter(Vec to, Vec from, int index) = 0;  // 16 bytes
  virtual void extract_quarter(Vec to, Vec from) = 0;            // bytes 16..31
  virtual void load_tail(const Inst& inst, Vec to, const x86::Mem& from) = 0;
  // a to memory, converted; in full or by the instruction's tail.
  virtual void store_lanes(const Inst& inst, Vec a, const x86::Mem& to, bool has_tail) = 0;
  virtual void gather_wide(const Inst& inst) = 0;  // 4- and 8-byte elements; the base is in rax
  // to = x > limit ? value : to, signed, 32-bit lanes; to = x is NaN ? value : to.
  virtual void replace_if_greater(Vec to, Vec x, uint32_t limit, const asmjit::Operand& value) = 0;
  virtual void replace_if_nan(Vec to, Vec x, Vec value) = 0;
  // By physical number; only where masks have registers of their own.
  virtual void save_mask(uint32_t, const x86::Mem&) {}
  virtual void restore_mask(uint32_t, const x86::Mem&) {}

  // ---- operands (x86_operands.cpp) ----
  int bytes(Lane lane) const { return program_.lanes * lane_bytes(lane); }
  static Vec vec(uint32_t physical, int bytes);
  Vec temporary(int bytes);
  x86::KReg mask_temporary();
  Vec shared_temporary(int bytes);  // the same one throughout an instruction
  x86::KReg shared_mask_temporary();
  Vec use(uint32_t reg, int bytes);                  // in a register, loaded if need be
  asmjit::Operand operand(uint32_t reg, int bytes);  // there or in memory
  Vec define(uint32_t reg, int bytes);               // stored by finish() if it has a slot
  void load_place(Vec to, uint32_t reg);             // from its slot or the pool
  x86::Mem vector_slot(uint32_t slot, int bytes) const;
  x86::Mem small_slot(uint32_t slot) const;
  x86::Mem buffer(int index) const;
  x86::Mem iota_memory();  // 0, 1, 2, ... in 32-bit lanes
  x86::Mem splat32(uint32_t bits, int bytes) { return splat_memory(bits, 4, bytes); }
  Gp gpr(uint32_t reg, Gp scratch);           // scratch is loaded where it has a slot
  asmjit::Operand gpr_operand(uint32_t reg);  // register or slot
  x86::Mem address(const Mem& mem);           // may use rax; rdx is free afterwards
  void move(Vec to, Vec from);

  // ---- conversions (x86_convert.cpp) ----
  // Raw elements, in memory or in a register, to lanes; `mask` makes the first step a masked,
  // zeroing load.
  void widen(Vec to, const asmjit::Operand& from, DType dtype, const x86::KReg* mask = nullptr);
  Vec narrow(Vec a, DType dtype);  // codes of a bf16 or f8 in 32-bit lanes, in a temporary

 private:
  struct Frame {
    int32_t buffers = 0, saved_vectors = 0, small = 0, saved_small = 0, block = 0, old_rsp = 0;
    int32_t size = 0;
  };

  // x86_frame.cpp
  bool lanes_fit() const override;
  int code_alignment() const override { return 32; }
  int pool_alignment() const override { return 64; }
  void lay_out_frame();
  void prologue() override;
  void epilogue() override;
  void call_stub(const CallStub& stub) override;
  void move_live_registers(size_t instruction, bool is_save);
  void pass_argument(uint32_t reg, int index, int bytes, bool registers_only);

  // x86_emitter.cpp
  void emit_vector(const Inst& inst) override;
  void finish() override;
  void unary(const Inst& inst, InstId id, Lane to, Lane from);
  void binary(const Inst& inst, const X86Forms& forms);
  void shift(const Inst& inst);
  void multiply_add(const Inst& inst);
  void add_products(const Inst& inst);
  void fold(const Inst& inst);
  void splat(const Inst& inst);
  void constant(const Inst& inst);

  // x86_convert.cpp
  void broadcast(const Inst& inst);
  void decode_e4m3(Vec to, Vec words);
  Vec narrow_bf16(Vec a);
  Vec narrow_f8(Vec a, const X86Narrow& format);

  // x86_memory.cpp
  void load(const Inst& inst);
  void store(const Inst& inst);
  void load_strided(const Inst& inst);
  void insert_elements(Vec to, const Inst& inst);
  void store_strided(const Inst& inst);
  void gather(const Inst& inst);
  void skip_from_count(const Inst& inst, int lane, asmjit::Label done);

  // x86_tiles.cpp
  void tile(const Inst& inst);

  // x86_scalar.cpp
  void emit_scalar(const Inst& inst) override;
  void jump(asmjit::Label to) override { a_.jmp(to); }
  void gpr_binary(const Inst& inst, Gp to);
  void gpr_min_max(const Inst& inst, Gp to);
  void gpr_divide(const Inst& inst, Gp to);
  asmjit::Operand second_operand(const Inst& inst);
  bool branch(size_t index) override;

  void release_temporaries() override {
    next_vector_ = next_mask_ = 0;
    shared_vector_ = shared_mask_ = -1;
  }

  Frame frame_;
  int vector_bytes_ = 0;  // the widest of the program
  int next_vector_ = 0, next_mask_ = 0;
  int shared_vector_ = -1, shared_mask_ = -1;
  uint32_t pending_slot_ = kNoReg;
  Vec pending_;
};

}  // namespace nrd::jit
