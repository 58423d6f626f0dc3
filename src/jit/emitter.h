// SPDX-License-Identifier: MIT
// src/jit/emitter.h: what emission is on every machine: the walk over the program, its labels, the
// calls of helpers out of line behind the code, and the pool behind those.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "jit/allocate.h"
#include "jit/asmjit.h"
#include "jit/constant_pool.h"
#include "jit/ir.h"

namespace nrd::jit {

template <class Assembler>
class Emitter {
 public:
  Emitter(const Program& program, const Target& target, const Allocation& where,
          asmjit::Arch machine)
      : program_(program), target_(target), allocation_(where) {
    code_.init(asmjit::Environment(machine));
    code_.setErrorHandler(&errors_);
    code_.attach(&a_);
    a_.addEncodingOptions(asmjit::EncodingOptions::kOptimizedAlign);  // few, long nops
    constants_.assign(program.registers.size(), nullptr);
    for (const Inst& inst : program.code) {
      if (inst.op == Op::kConst) constants_[inst.dst] = &inst;
      has_calls_ |= inst.op == Op::kCallLanes;
    }
  }
  Emitter(const Emitter&) = delete;
  Emitter& operator=(const Emitter&) = delete;
  virtual ~Emitter() = default;

  Expected<std::vector<uint8_t>> run() {
    if (!lanes_fit()) {
      fail("the number of lanes does not fit the target");
      return finish_code();
    }
    pool_label_ = a_.newLabel();
    labels_.resize(program_.labels);
    for (asmjit::Label& label : labels_) label = a_.newLabel();
    prologue();
    for (at_ = 0; at_ < program_.code.size(); at_++) {
      release_temporaries();
      emit(program_.code[at_]);
      finish();
    }
    for (const CallStub& stub : stubs_) {
      at_ = stub.instruction;
      call_stub(stub);
    }
    emit_pool();
    return finish_code();
  }

 protected:
  // A call of a helper stands behind the code: it is rare, and long.
  struct CallStub {
    size_t instruction;
    asmjit::Label begin, back;
  };

  virtual bool lanes_fit() const = 0;
  virtual int code_alignment() const = 0;  // of loops
  virtual int pool_alignment() const = 0;
  virtual void prologue() = 0;
  virtual void epilogue() = 0;
  virtual void release_temporaries() = 0;  // those of the last instruction are free again
  virtual void emit_vector(const Inst& inst) = 0;
  virtual void emit_scalar(const Inst& inst) = 0;
  virtual void finish() = 0;  // stores a result that has a slot
  virtual void jump(asmjit::Label to) = 0;
  virtual bool branch(size_t index) = 0;  // true: the jump behind it is done too
  virtual void call_stub(const CallStub& stub) = 0;

  int lanes() const { return program_.lanes; }
  const Location& where(uint32_t reg) const { return allocation_.where[reg]; }
  bool in_memory(uint32_t reg) const { return where(reg).kind != Location::kRegister; }
  void fail(std::string_view message) { errors_.add(message); }

  const Program& program_;
  const Target& target_;
  const Allocation& allocation_;
  EncodingErrors errors_;
  asmjit::CodeHolder code_;
  Assembler a_;
  ConstantPool pool_;
  asmjit::Label pool_label_;
  bool has_calls_ = false;
  size_t at_ = 0;  // the instruction being emitted
  std::vector<asmjit::Label> labels_;
  std::vector<const Inst*> constants_;  // of each register, or null

 private:
  void emit(const Inst& inst) {
    switch (inst.op) {
      case Op::kLabel: a_.bind(labels_[inst.label]); return;
      case Op::kJump: jump(labels_[inst.label]); return;
      case Op::kBranch:
      case Op::kBranchAny:
        if (branch(at_)) at_++;
        return;
      case Op::kLoopBegin:
        a_.align(asmjit::AlignMode::kCode, static_cast<uint32_t>(code_alignment()));
        return;
      case Op::kLoopEnd: return;
      case Op::kReturn: epilogue(); return;
      case Op::kCallLanes: {
        const CallStub stub = {at_, a_.newLabel(), a_.newLabel()};
        stubs_.push_back(stub);
        jump(stub.begin);
        a_.bind(stub.back);
        return;
      }
      default: inst.op >= Op::kGArgument ? emit_scalar(inst) : emit_vector(inst);
    }
  }

  void emit_pool() {
    // nops, for whoever disassembles
    a_.align(asmjit::AlignMode::kCode, static_cast<uint32_t>(pool_alignment()));
    a_.bind(pool_label_);
    if (!pool_.bytes().empty()) a_.embed(pool_.bytes().data(), pool_.bytes().size());
  }

  Expected<std::vector<uint8_t>> finish_code() {
    if (!errors_.first().empty()) {
      return make_error(
          {.code = ErrorCode::kInternal, .op = program_.name, .got = errors_.first()});
    }
    // One section, every label bound in it: nothing is left to relocate.
    const asmjit::CodeBuffer& buffer = code_.textSection()->buffer();
    return std::vector<uint8_t>(buffer.begin(), buffer.end());
  }

  std::vector<CallStub> stubs_;
};

}  // namespace nrd::jit
