// SPDX-License-Identifier: MIT
// src/lift/ir.h: the lifter's own form between machine code and OpTrace: SSA nodes in basic
// blocks, built while instructions are translated.
//
// A front end (x86, a64) decodes instructions and calls Builder; it never sees phis. Everything
// after that is the same for all machines. Pure operations are TraceOps; what only machine code
// has (addresses, flags, part registers) is a Kind of its own.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace nrd::lift {

using NodeId = uint32_t;
constexpr NodeId kNoNode = ~NodeId{0};

enum class Type : uint8_t { kBool, kI8, kI16, kI32, kI64, kF32, kF64, kV128, kFlags, kNone };
int type_bits(Type t);

enum class Kind : uint8_t {
  kPure,   // `op` of args; integers wrap at their type's width
  kConst,  // bits (kV128: bits and high)
  kArg,    // parameter `index` of the C function, as the calling convention passes it
  kStack,  // i64: the stack pointer at entry
  kPhi,    // args in `phi_args`, one a predecessor
  kUndef,  // a register nobody wrote: fatal only if a result depends on it
  kLoad,   // args[0]: byte address (i64); type tells the width
  kStore,  // args[0]: byte address, args[1]: value
  kUDiv,
  kURem,
  kSDiv,
  kSRem,  // integers, as C divides
  kUMulHigh,
  kSMulHigh,  // i64: the upper half of a product of 128 bits
  kTrunc,
  kZext,
  kSext,  // between integer widths
  kU64ToF32,
  kU64ToF64,     // unsigned conversions (a64 ucvtf, vcvtusi2ss)
  kRoundToCall,  // f32: nrd_round_to_f32(args[0], args[1])
  kFlags,        // flags as `flags` says, from args[0] and args[1]
  kFlagsIf,      // a64 ccmp: args[0] (bool) ? args[1] (flags) : the constant nzcv in `bits`
};

// What set the flags; conditions are resolved against it once both are known.
enum class FlagsKind : uint8_t {
  kNone,
  kCompare,   // integers: a - b at the width of args[0]
  kAnd,       // integers: a & b at the width (test, and, ands)
  kAdd,       // integers: a + b at the width (add, cmn)
  kFloatX86,  // ucomiss, comiss, ucomisd, comisd
  kFloatA64,  // fcmp, fcmpe
};

// x86's names; a64: eq E, ne NE, hs AE, lo B, mi S, pl NS, vs O, vc NO, hi A, ls BE, ge GE, lt L,
// gt G, le LE.
enum class Cond : uint8_t {
  kO,
  kNO,
  kB,
  kAE,
  kE,
  kNE,
  kBE,
  kA,
  kS,
  kNS,
  kP,
  kNP,
  kL,
  kGE,
  kLE,
  kG
};

struct Node {
  Kind kind = Kind::kUndef;
  TraceOp op = TraceOp::kConst;  // of kPure
  Type type = Type::kNone;
  Predicate predicate = Predicate::kOeq;  // of kPure kCmp
  FlagsKind flags = FlagsKind::kNone;
  uint32_t index = 0;  // parameter, or block of a phi, load or store
  std::array<NodeId, 3> args{kNoNode, kNoNode, kNoNode};
  uint64_t bits = 0, high = 0;
  uint64_t address = 0;  // of the instruction it came from, for messages
};

// Variables of the machine. Vector registers hold a typed value, their lowest lane, or kV128.
constexpr uint32_t kGprs =
    32;  // 0..15 x86 (rax rcx rdx rbx rsp rbp rsi rdi r8..), 0..31 a64 (31: sp)
constexpr uint32_t kVectors = 32;
enum : uint32_t {
  kGprBase = 0,
  kVectorBase = kGprs,
  kFlagsVariable = kGprs + kVectors,
  kVariables
};

struct Function;  // blocks, nodes, phis: function.h, owned by the core

// What a front end calls while it translates one block after the other. Every method simplifies
// at once (constants, bit casts, masks), so a front end need not be clever.
class Builder {
 public:
  virtual ~Builder() = default;
  virtual const Node& node(NodeId id) const = 0;

  virtual NodeId constant(Type type, uint64_t bits, uint64_t high = 0) = 0;
  virtual NodeId pure(TraceOp op, Type type, NodeId a, NodeId b = kNoNode, NodeId c = kNoNode) = 0;
  virtual NodeId special(Kind kind, Type type, NodeId a, NodeId b = kNoNode) = 0;  // kUDiv ...
  virtual NodeId compare(Predicate predicate, NodeId a, NodeId b) = 0;             // bool
  virtual NodeId select(NodeId condition, NodeId a, NodeId b) = 0;
  virtual NodeId convert(NodeId a, Type to, bool sign_extend = false) = 0;  // integer widths
  virtual NodeId bitcast(NodeId a, Type to) = 0;  // same width; i64 -> f32 takes the low half

  // Registers. A 32-bit write clears the upper half; 8- and 16-bit writes merge. `high_byte`:
  // ah, bh, ch, dh. Reading a vector as f32, f64, i32 or i64 gives its low bits.
  virtual NodeId read_gpr(uint32_t reg, Type type, bool high_byte = false) = 0;
  virtual void write_gpr(uint32_t reg, NodeId value, bool high_byte = false) = 0;
  virtual NodeId read_vector(uint32_t reg, Type type) = 0;
  virtual NodeId read_vector_as_is(uint32_t reg) = 0;  // whatever was written last
  virtual void write_vector(uint32_t reg, NodeId value) = 0;

  virtual void set_flags(FlagsKind kind, NodeId a, NodeId b) = 0;
  virtual void set_flags_if(NodeId condition, FlagsKind kind, NodeId a, NodeId b,
                            unsigned nzcv) = 0;
  virtual void clobber_flags() = 0;         // shifts and other code whose flags nobody should read
  virtual NodeId condition(Cond cond) = 0;  // bool, of the current flags

  // Memory, by byte address (i64). A load from a constant address reads it now if it lies in
  // read-only memory of the module (the front end's Image decides).
  virtual NodeId load(Type type, NodeId address) = 0;
  virtual void store(NodeId address, NodeId value) = 0;

  // A call that was resolved: a pure function (args in the convention's registers are read and
  // the result written by the front end), or nothing known: `refuse`.
  virtual void clobber_call() = 0;  // caller-saved registers and flags become undefined

  // Ends the lift of this function with a reason a person understands:
  // "packed arithmetic (mulps) at 0x..: vectorised code is not lifted".
  [[noreturn]] virtual void refuse(std::string reason) = 0;
};

}  // namespace nrd::lift
