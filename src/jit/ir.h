// SPDX-License-Identifier: MIT
// src/jit/ir.h: the vector IR: what lowering writes and the back ends read.
//
// A program is one linear list of instructions over virtual registers of three classes. Vectors
// hold `lanes` elements each whatever their type: with 16 lanes on AVX-512 an f32 vector is a zmm;
// a program with f64 values takes 8 lanes, then f64 is a zmm and f32 a ymm. Registers may be
// assigned more than once (accumulators, pointers); a register that is live into a loop keeps its
// place to the loop's end. Generated functions are `void(const void* block, void* const*
// pointers)`: what they need beside pointers (sizes, numbers, helper functions) lies in the block,
// so code has no absolute address, and a caller that keeps the block only hands over its array of
// pointers.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "trace/trace.h"

namespace nrd::jit {

enum class RegClass : uint8_t { kVector, kMask, kGpr };

// Typed handles of virtual registers.
constexpr uint32_t kNoReg = ~uint32_t{0};
struct V {
  uint32_t id = kNoReg;
  bool valid() const { return id != kNoReg; }
};
struct M {
  uint32_t id = kNoReg;
  bool valid() const { return id != kNoReg; }
};
struct G {
  uint32_t id = kNoReg;
  bool valid() const { return id != kNoReg; }
};
struct Label {
  uint32_t id = kNoReg;
};

enum class Lane : uint8_t { kF32, kF64, kI32 };

// base + index * scale + offset, in bytes.
struct Mem {
  G base, index;
  int scale = 1;  // 1, 2, 4, 8
  int64_t offset = 0;
};

// The first `count` lanes of a vector (0 <= count <= lanes). No memory beyond them is touched;
// lanes beyond read as zero.
struct Tail {
  G count;
  M mask;
};

// clang-format off: a table
enum class Op : uint8_t {
  // vector <- constant or memory
  kConst,      // every lane: imm (bit pattern of the lane type); never spilled, always recomputed
  kIota,       // i32: 0, 1, 2, ...
  kLoad,       // mem of `dtype` -> lane type (f16 bf16 f8 -> f32, i8 u8 -> i32); tail optional
  kStore,      // a; lane type -> dtype (f32 -> f16 bf16 nearest even, f8 already representable or
               // rounded nearest even with ieee overflow, i32 -> i8 u8 low bits); tail, nt
  kBroadcast,  // one element of `dtype` in memory to every lane
  kLoadStrided,
  kStoreStrided,  // element l at mem + l * stride (b: G, bytes); tail optional
  kGather,        // element at mem + a[l] (i32) * size of dtype; tail optional
  kSplatGpr,      // i32: low half of a G in every lane
  kSplat,         // lane 0 of a in every lane
  // vector <- vectors, by `lane`
  kMove,
  kAdd,
  kSub,
  kMul,
  kDiv,
  kSqrt,
  kFma,      // a*b + c
  kFnma,     // c - a*b
  kFms,      // a*b - c
  kFmaLane,  // a * lane `imm` of b + c, f32; only where target.has_lane_fma
  // Products of groups, added to c by lane; dst is c. Only where the ISA's features have them.
  kDotI16,      // two i16 of a and b, i32 sums; every ISA has it
  kDotU8,       // four u8 of a, four i8 of b, i32 sums (VNNI)
  kDotBF16,     // two bf16, f32 sums
  kDotLane,     // four i8 of a, four i8 of lane `imm` of b, i32 sums (NEON)
  kMatrixI8,    // 2x8 i8 (imm 1: u8) of a times 8x2 i8 of b, a 2x2 of i32 sums (NEON)
  kMatrixBF16,  // 2x4 bf16 of a times 4x2 of b, a 2x2 of f32 sums (NEON)
  kMax,
  kMin,  // a > b ? a : b, a < b ? a : b (f32, f64: second where unordered or equal; i32)
  kFloor,
  kCeil,
  kTrunc,
  kRint,
  kAnd,
  kOr,
  kXor,
  kAndNot,  // bits; kAndNot: ~a & b
  kShl,
  kShr,
  kSar,  // i32 by imm
  kShlV,
  kShrV,
  kSarV,  // i32 by lane (counts 0..31)
  kI32ToF32,
  kF32ToI32,  // truncated, 0x80000000 where out of range or NaN
  kF32ToI32Nearest,
  kF32ToF64,
  kF64ToF32,
  kI32ToF64,
  kF64ToI32,
  kScale,  // a * 2^b, b integral f32; only where target.has_scale
  kExponent,
  kMantissa,  // vgetexp, vgetmant in [0.75, 1.5); only where target.has_scale
  kLookup,    // 16 lanes of f32: element a[l] mod 16 (i32) of table `imm`; target.has_tables
  kFold,      // lane l <- lane l + imm (imm = lanes/2, /4, ... 1); upper lanes are anything
  kEven,
  kOdd,  // lanes 0 2 4 .. (1 3 5 ..) of a then of b
  kZipLow,
  kZipHigh,  // a0 b0 a1 b1 .., first half, second half
  kPairLow,
  kPairHigh,   // lanes 0 1 (2 3) of a, then of b; vectors of four lanes
  kSelect,     // m ? a : b
  kCallLanes,  // helper `imm` of the block on each lane of a (and b); see Helper
  // mask
  kCompare,  // predicate of a, b by lane
  kMaskAnd,
  kMaskOr,
  kMaskXor,
  kMaskNot,
  kMaskConst /* imm: all or none */,
  kTailMask,      // lanes < a (G; its low half, signed)
  kMaskToVector,  // i32: -1 or 0 a lane
  // gpr (64 bit)
  kGArgument,  // argument `imm` of the generated function; these stand first, in order
  kGConst,
  kGMove,
  kGLoad /* mem; imm bytes 4 (sign extended) or 8 */,
  kGStore,
  kGAdd,
  kGSub,
  kGMul,
  kGAnd,
  kGMin,
  kGMax,  // second operand: b or imm
  kGShl,
  kGSar,      // by imm
  kGDiv,      // without signs, divisor no 0
  kGAddress,  // the address of mem
  kGLane,     // lane 0 of a (i32), sign extended
  kGData,     // the address of the program's data `imm`
  // control
  kLabel,
  kJump,
  kBranch,     // to label if predicate (kEq kNe kLt kLe kGt kGe, signed) of a and b or imm
  kBranchAny,  // to label if any lane of the mask is set
  kLoopBegin,
  kLoopEnd,   // brackets a backward jump's region, properly nested
  kPrefetch,  // mem; imm 0: to L1, 1: to L2
  // Tiles of AMX, by number; the program names them itself. In mem, index is the bytes from row to
  // row.
  kTileConfig,  // mem: 64 bytes
  kTileRelease,
  kTileZero,  // tile imm
  kTileLoad,
  kTileLoadPast,  // L1: what it holds stays there
  kTileStore,
  kTileDot,  // tile imm % 8 += tile imm / 8 % 8 * tile imm / 64; dtype of the first: bf16 i8 u8
  kNop,      // imm times
  kFence,    // after non-temporal stores
  kReturn,
};
// clang-format on

struct Inst {
  Op op = Op::kReturn;
  Lane lane = Lane::kF32;
  DType dtype = DType::kF32;
  Predicate predicate = Predicate::kOeq;
  bool nt = false;       // non-temporal store: aligned full vectors only
  bool use_imm = false;  // the second operand is imm
  RegClass dst_class = RegClass::kVector;
  uint32_t dst = kNoReg;
  uint32_t a = kNoReg, b = kNoReg, c = kNoReg;  // classes follow from op: jit/op_info.h
  uint32_t mask = kNoReg;   // kSelect's mask, a tail's mask; mask operations take a and b
  uint32_t count = kNoReg;  // a tail's count
  Mem mem;
  int64_t imm = 0;
  uint32_t label = kNoReg;
};

constexpr int kArguments = 2;  // of a generated function: the block, the pointers

// kCallLanes: what stands at the block's helper table (an array of these at kHelpersOffset):
// void(const void* a, const void* b, void* out), arrays of `lanes` elements of the lane type.
using Helper = void (*)(const void* a, const void* b, void* out, int64_t lanes);
// The first word of every block: const Helper* helpers.
constexpr int64_t kHelpersOffset = 0;

struct Program {
  std::string name;
  int lanes = 0;
  std::vector<Inst> code;
  std::vector<RegClass> registers;  // class of each virtual register
  std::vector<int16_t> pinned;      // its physical register, or -1 (GEMM's accumulators)
  std::vector<std::array<float, 16>> tables;
  std::vector<std::vector<uint8_t>> data;  // constants in memory, which the code carries along
  uint32_t labels = 0;
};

// What an ISA offers. One table a back end; nothing else in jit/ asks which ISA it is.
struct Target {
  std::string_view isa;       // "avx2", "avx512", "neon"
  int vector_bytes = 0;       // 32, 64, 16
  int vector_registers = 0;   // 16, 32, 32
  bool has_scale = false;     // kScale, kExponent, kMantissa
  bool has_tables = false;    // kLookup
  bool has_lane_fma = false;  // kFmaLane
  bool cheap_masks = false;   // masked loads and stores at full speed (AVX-512)
  int lanes(bool any_f64) const { return vector_bytes / (any_f64 ? 8 : 4); }
};

// Writes a Program. Each method appends one instruction and returns its register; with `into` the
// result goes to an existing register instead.
class Builder {
 public:
  Builder(std::string name, const Target& target, int lanes);
  const Target& target() const { return target_; }
  int lanes() const { return program_.lanes; }
  Program take();

  V new_vector();
  G new_gpr();
  M new_mask();
  V pinned_vector(int physical);

  V constant(Lane lane, uint64_t bits);  // one register a distinct constant, set at entry
  V constant(float value);
  V op1(Op op, Lane lane, V a, V into = {});
  V op2(Op op, Lane lane, V a, V b, V into = {});
  V op3(Op op, Lane lane, V a, V b, V c, V into = {});
  V fma_lane(V a, V b, int lane, V c, V into = {});
  void add_products(Op op, V a, V b, V sum, int imm = 0);  // kDotI16 ... kMatrixBF16
  V shift(Op op, V a, int count, V into = {});
  V fold(Lane lane, V a, int distance);
  V lookup(V index, const std::array<float, 16>& table);
  V select(Lane lane, M m, V a, V b, V into = {});
  M compare(Predicate p, Lane lane, V a, V b);
  M mask_op(Op op, M a, M b = {});
  M mask_constant(bool all);
  M tail_mask(G count);
  V mask_to_vector(M m);
  V call_lanes(Lane lane, int helper, V a, V b = {});

  V load(DType dtype, Lane lane, Mem mem, const Tail* tail = nullptr, V into = {});
  void store(DType dtype, Lane lane, Mem mem, V a, const Tail* tail = nullptr, bool nt = false);
  V broadcast(DType dtype, Lane lane, Mem mem, V into = {});
  V load_strided(DType dtype, Lane lane, Mem mem, G stride, const Tail* tail = nullptr);
  void store_strided(DType dtype, Lane lane, Mem mem, G stride, V a, const Tail* tail = nullptr);
  V gather(DType dtype, Lane lane, Mem mem, V index, const Tail* tail = nullptr);
  V splat(Lane lane, V a);
  V splat_gpr(G g);
  V iota();
  Tail tail(G count);

  G gconst(int64_t value);
  G gload(Mem mem, int bytes = 8, G into = {});
  void gstore(Mem mem, G value);
  G gop(Op op, G a, G b, G into = {});
  G gop(Op op, G a, int64_t imm, G into = {});
  G gmove(G a, G into = {});
  G gaddress(Mem mem);
  G glane(V a);
  G gdata(const std::vector<uint8_t>& bytes);

  Label label();
  void bind(Label label);
  void jump(Label label);
  void branch(Predicate p, G a, G b, Label label);
  void branch(Predicate p, G a, int64_t imm, Label label);
  void branch_any(M m, Label label);
  void loop_begin();
  void loop_end();
  // body() as often as `count` says, which is used up.
  template <class Body>
  void repeat(G count, Body body) {
    const Label top = label(), done = label();
    branch(Predicate::kLe, count, 0, done);
    loop_begin();
    bind(top);
    body();
    gop(Op::kGSub, count, 1, count);
    branch(Predicate::kGt, count, 0, top);
    loop_end();
    bind(done);
  }
  void tile(Op op, int tile, Mem mem = {});  // kTileConfig ... kTileStore
  void tile_dot(DType dtype, int sum, int a, int b);
  void nop(int times);
  void fence();
  void prefetch(Mem mem, bool is_to_l2 = false);
  void ret();
  G block();  // the arguments of the generated function
  G pointers();

 private:
  struct Constant {
    Lane lane;
    uint64_t bits;
    uint32_t reg;
  };
  void append(const Inst& inst) { program_.code.push_back(inst); }
  uint32_t new_register(RegClass c, int physical = -1);
  V define(Inst inst, V into);
  G define(Inst inst, G into);
  G argument(size_t index);
  const Target& target_;
  Program program_;
  std::vector<Constant> constants_;
  std::array<G, kArguments> arguments_;
};

std::string program_text(const Program& program);    // for NEREID_DUMP=ir and tests
std::string verify_program(const Program& program);  // empty: well formed

}  // namespace nrd::jit
