// SPDX-License-Identifier: MIT
// src/trace/trace.h: OpTrace, what a scalar function computes, free of any machine's state.
//
// A trace is structured SSA: values in one arena, statements in execution order, counted loops
// with carried values. Loads and stores name a pointer parameter and an element index; distinct
// parameters do not overlap, unless an input is exactly an output (same base, same indices).
//
//   trace vec_dot : reduction
//   param x : in f32
//   param y : in f32
//   param out : out f32
//   param n : size
//   %1 = const f32 0x0p+0
//   for i0 < n carry %2 = %1 {
//     %3 = load f32 x[i0]
//     %4 = load f32 y[i0]
//     %5 = mul f32 %3 %4
//     %6 = add f32 %2 %5
//   } next %6 -> %7
//   store out[0] %7
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"

namespace nrd {

enum class TraceType : uint8_t { kF32, kF64, kI32, kI64, kBool, kNone };

using ValueId = uint32_t;
constexpr ValueId kNoValue = ~ValueId{0};

enum class TraceOp : uint8_t {
  // Leaves. `bits` holds a constant's representation (f32 and i32 in the low half; bool 0 or 1).
  kConst,
  kParam,   // a number (f32, f64), a size (i64) or an int (i32) parameter: `index`
  kIv,      // i64: the counter of loop `index`, 0, 1, ... extent - 1
  kCarry,   // of loop `index`: carried value number `bits` as an iteration begins
  kResult,  // of loop `index`: carried value number `bits` after the last iteration (or its init)

  // Memory: `index` is the pointer parameter, args[0] the element index (i64). The type is what
  // the element becomes (an i8 element loads as i32, a 16-bit float as f32).
  kLoad,   // args[1], args[2]: a guard (bool) and the value where it is false, or kNoValue
  kStore,  // args[1]: the value; args[2]: a guard, or kNoValue

  // f32, f64, i32, i64 (integers wrap).
  kAdd,
  kSub,
  kMul,
  kNeg,
  kAbs,
  // f32, f64.
  kDiv,
  kFma,  // a*b + c, rounded once
  kSqrt,
  kFloor,
  kCeil,
  kTrunc,
  kRint,
  kMaxFirst,
  kMinFirst,  // a > b ? a : b, a < b ? a : b: the second where unordered or equal
  kMaxNan,
  kMinNan,  // (a > b || a != a) ? a : b: NaN wins
  kMaxNum,
  kMinNum,    // fmax, fmin: NaN loses; of two zeros the second (aarch64: the greater, the lesser)
  kCopySign,  // magnitude of a, sign of b
  kExp,
  kExp2,
  kExpm1,
  kLog,
  kLog2,
  kLog10,
  kLog1p,
  kTanh,
  kErf,
  kSin,
  kCos,
  kTan,
  kPow,
  kAtan,
  kAtan2,
  kAsin,
  kAcos,
  kSinh,
  kCosh,
  kErfc,
  kCbrt,
  kFmod,
  kHypot,
  kRoundTo,  // f32: a rounded to the dtype numbered args[1] (i32), as nrd_round_to_f32 does

  // i32, i64. The remainder is at least 0 and less than the divisor's magnitude, so a positive
  // divisor rounds down; by 0 both are 0.
  kDivFloor,
  kModFloor,
  kMin,
  kMax,  // signed
  kAnd,
  kOr,
  kXor,
  kShl,
  kShr,
  kSar,  // kAnd, kOr, kXor also bool
  kNot,  // bool

  kCmp,     // bool: `predicate` of args[0], args[1]
  kSelect,  // args[0] ? args[1] : args[2]
  kLookup,  // of table `index`: element args[0] (i32), the first or last where that is outside

  // Conversions; the type is the target's.
  kToF32,    // from f64, i32, i64: rounded to nearest even
  kToF64,    // from f32, i32, i64
  kToI32,    // from f32, f64: truncated (out of range and NaN: 0x80000000); from i64: low half
  kToI64,    // from i32: sign extended; from f32, f64: truncated
  kUToI64,   // from i32: zero extended
  kBitcast,  // f32 <-> i32, f64 <-> i64

  kLoop,  // statement: loop number `index`
};

// Ordered float predicates are false with a NaN, unordered ones true. Integers use eq ne lt le gt
// ge (signed) and b be a ae (unsigned).
enum class Predicate : uint8_t {
  kOeq,
  kOne,
  kOlt,
  kOle,
  kOgt,
  kOge,
  kOrd,
  kUeq,
  kUne,
  kUlt,
  kUle,
  kUgt,
  kUge,
  kUno,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kB,
  kBe,
  kA,
  kAe,
};

struct TraceValue {
  TraceOp op = TraceOp::kConst;
  TraceType type = TraceType::kNone;
  Predicate predicate = Predicate::kOeq;
  uint16_t index = 0;
  std::array<ValueId, 3> args{kNoValue, kNoValue, kNoValue};
  uint64_t bits = 0;
  bool operator==(const TraceValue&) const = default;
};
using Value = TraceValue;  // graph/graph.h has a Value too: the types must differ for the linker

enum class TraceParamKind : uint8_t { kPointer, kNumber, kSize, kInt };

struct TraceParam {
  TraceParamKind kind = TraceParamKind::kPointer;
  DType dtype = DType::kF32;  // of a pointer's elements (f32 f64 i32 i8 u8), or of a number
  bool read = false, written = false;
  std::string name;  // "x", or "p0" where nothing is known
};

struct LoopCarry {
  ValueId carry = kNoValue;   // the kCarry value
  ValueId init = kNoValue;    // before the first iteration
  ValueId next = kNoValue;    // at the end of each
  ValueId result = kNoValue;  // the kResult value
};

// for (iv = 0; iv < extent; iv++) body. An extent below 1 runs nothing.
struct TraceLoop {
  ValueId iv = kNoValue;
  ValueId extent = kNoValue;  // i64, defined outside
  std::vector<LoopCarry> carries;
  std::vector<ValueId> body;  // statements and values, in order; not kIv, kCarry and kResult,
                              // which stand in the loop they belong to
};

// Constants that are chosen by number. `elements` as Value::bits has constants.
struct TraceTable {
  TraceType type = TraceType::kF32;  // f32, f64 or i32
  std::vector<uint64_t> elements;    // at least one

  uint64_t at(int64_t index) const {
    return elements[static_cast<size_t>(
        std::clamp<int64_t>(index, 0, static_cast<int64_t>(elements.size()) - 1))];
  }
  auto operator<=>(const TraceTable&) const = default;
};

// What a function is, for users and for the fuser. By structure, not by name.
enum class OpClass : uint8_t {
  kElementwise,  // one loop (nest), no carried value, every access at the loops' own indices
  kPairwise,     // several elements of the output from several of the input in one iteration
  kReduction,    // loops that carry sums, products, extrema to a value stored at a fixed place
  kArgmax,       // a reduction that carries an index beside its extremum
  kNorm,         // reductions and maps over the same axis, any number of passes
  kGemm,         // c[m,n] from a product over k of two matrices
  kGemv,         // y[m] from a product of a matrix and a vector
  kGather,       // an index is loaded
  kOpaque,       // understood as a trace, none of the above
};

struct OpTrace {
  std::string name;
  OpClass op_class = OpClass::kOpaque;
  std::vector<TraceParam> params;
  std::vector<TraceTable> tables;
  std::vector<Value> values;
  std::vector<TraceLoop> loops;
  std::vector<ValueId> body;

  const Value& operator[](ValueId id) const { return values[id]; }
};

std::string_view trace_type_word(TraceType t);
std::string_view trace_op_word(TraceOp op);  // "add", "max_nan", "round_to"
std::string_view predicate_word(Predicate p);
std::string_view op_class_word(OpClass c);
int trace_op_arity(TraceOp op);  // of kLoad and kStore 3, of which two may be kNoValue

// The reverse; nothing where the word means nothing.
std::optional<TraceType> trace_type_of(std::string_view word);
std::optional<TraceOp> trace_op_of(std::string_view word);
std::optional<Predicate> predicate_of(std::string_view word);
std::optional<OpClass> op_class_of(std::string_view word);

}  // namespace nrd
