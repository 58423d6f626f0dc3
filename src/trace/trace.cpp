// SPDX-License-Identifier: MIT
// src/trace/trace.cpp: the words of OpTrace and the properties of its operations.
#include "trace/trace.h"

#include <algorithm>

#include "trace/op_info.h"

namespace nrd {
namespace {

constexpr auto kLeaf = ArgRule::kNoArgs;
constexpr auto kSame = ArgRule::kSameType;
constexpr auto kOwn = ArgRule::kOwn;

constexpr std::array kOps = {
    TraceOpInfo{TraceOp::kConst, "const", 0, kMaskAny, kLeaf},
    TraceOpInfo{TraceOp::kParam, "param", 0, kMaskNumber, kLeaf},
    TraceOpInfo{TraceOp::kIv, "iv", 0, kMaskI64, kLeaf},
    TraceOpInfo{TraceOp::kCarry, "carry", 0, kMaskAny, kLeaf},
    TraceOpInfo{TraceOp::kResult, "result", 0, kMaskAny, kLeaf},
    TraceOpInfo{TraceOp::kLoad, "load", 3, kMaskFloat | kMaskI32, kOwn},
    TraceOpInfo{TraceOp::kStore, "store", 3, kMaskNone, kOwn},
    TraceOpInfo{TraceOp::kAdd, "add", 2, kMaskNumber, kSame},
    TraceOpInfo{TraceOp::kSub, "sub", 2, kMaskNumber, kSame},
    TraceOpInfo{TraceOp::kMul, "mul", 2, kMaskNumber, kSame},
    TraceOpInfo{TraceOp::kNeg, "neg", 1, kMaskNumber, kSame},
    TraceOpInfo{TraceOp::kAbs, "abs", 1, kMaskNumber, kSame},
    TraceOpInfo{TraceOp::kDiv, "div", 2, kMaskFloat, kSame},
    TraceOpInfo{TraceOp::kFma, "fma", 3, kMaskFloat, kSame},
    TraceOpInfo{TraceOp::kSqrt, "sqrt", 1, kMaskFloat, kSame},
    TraceOpInfo{TraceOp::kFloor, "floor", 1, kMaskFloat, kSame},
    TraceOpInfo{TraceOp::kCeil, "ceil", 1, kMaskFloat, kSame},
    TraceOpInfo{TraceOp::kTrunc, "trunc", 1, kMaskFloat, kSame},
    TraceOpInfo{TraceOp::kRint, "rint", 1, kMaskFloat, kSame},
    TraceOpInfo{TraceOp::kMaxFirst, "max_first", 2, kMaskFloat, kSame},
    TraceOpInfo{TraceOp::kMinFirst, "min_first", 2, kMaskFloat, kSame},
    TraceOpInfo{TraceOp::kMaxNan, "max_nan", 2, kMaskFloat, kSame},
    TraceOpInfo{TraceOp::kMinNan, "min_nan", 2, kMaskFloat, kSame},
    TraceOpInfo{TraceOp::kMaxNum, "max_num", 2, kMaskFloat, kSame},
    TraceOpInfo{TraceOp::kMinNum, "min_num", 2, kMaskFloat, kSame},
    TraceOpInfo{TraceOp::kCopySign, "copysign", 2, kMaskFloat, kSame},
    TraceOpInfo{TraceOp::kExp, "exp", 1, kMaskFloat, kSame},
    TraceOpInfo{TraceOp::kExp2, "exp2", 1, kMaskFloat, kSame},
    TraceOpInfo{TraceOp::kExpm1, "expm1", 1, kMaskFloat, kSame},
    TraceOpInfo{TraceOp::kLog, "log", 1, kMaskFloat, kSame},
    TraceOpInfo{TraceOp::kLog2, "log2", 1, kMaskFloat, kSame},
    TraceOpInfo{TraceOp::kLog10, "log10", 1, kMaskFloat, kSame},
    TraceOpInfo{TraceOp::kLog1p, "log1p", 1, kMaskFloat, kSame},
    TraceOpInfo{TraceOp::kTanh, "tanh", 1, kMaskFloat, kSame},
    TraceOpInfo{TraceOp::kErf, "erf", 1, kMaskFloat, kSame},
    TraceOpInfo{TraceOp::kSin, "sin", 1, kMaskFloat, kSame},
    TraceOpInfo{TraceOp::kCos, "cos", 1, kMaskFloat, kSame},
    TraceOpInfo{TraceOp::kTan, "tan", 1, kMaskFloat, kSame},
    TraceOpInfo{TraceOp::kPow, "pow", 2, kMaskFloat, kSame},
    TraceOpInfo{TraceOp::kAtan, "atan", 1, kMaskFloat, kSame},
    TraceOpInfo{TraceOp::kAtan2, "atan2", 2, kMaskFloat, kSame},
    TraceOpInfo{TraceOp::kAsin, "asin", 1, kMaskFloat, kSame},
    TraceOpInfo{TraceOp::kAcos, "acos", 1, kMaskFloat, kSame},
    TraceOpInfo{TraceOp::kSinh, "sinh", 1, kMaskFloat, kSame},
    TraceOpInfo{TraceOp::kCosh, "cosh", 1, kMaskFloat, kSame},
    TraceOpInfo{TraceOp::kErfc, "erfc", 1, kMaskFloat, kSame},
    TraceOpInfo{TraceOp::kCbrt, "cbrt", 1, kMaskFloat, kSame},
    TraceOpInfo{TraceOp::kFmod, "fmod", 2, kMaskFloat, kSame},
    TraceOpInfo{TraceOp::kHypot, "hypot", 2, kMaskFloat, kSame},
    TraceOpInfo{TraceOp::kRoundTo, "round_to", 2, kMaskF32, kOwn},
    TraceOpInfo{TraceOp::kDivFloor, "div_floor", 2, kMaskInteger, kSame},
    TraceOpInfo{TraceOp::kModFloor, "mod_floor", 2, kMaskInteger, kSame},
    TraceOpInfo{TraceOp::kMin, "min", 2, kMaskInteger, kSame},
    TraceOpInfo{TraceOp::kMax, "max", 2, kMaskInteger, kSame},
    TraceOpInfo{TraceOp::kAnd, "and", 2, kMaskBits, kSame},
    TraceOpInfo{TraceOp::kOr, "or", 2, kMaskBits, kSame},
    TraceOpInfo{TraceOp::kXor, "xor", 2, kMaskBits, kSame},
    TraceOpInfo{TraceOp::kShl, "shl", 2, kMaskInteger, kSame},
    TraceOpInfo{TraceOp::kShr, "shr", 2, kMaskInteger, kSame},
    TraceOpInfo{TraceOp::kSar, "sar", 2, kMaskInteger, kSame},
    TraceOpInfo{TraceOp::kNot, "not", 1, kMaskBool, kSame},
    TraceOpInfo{TraceOp::kCmp, "cmp", 2, kMaskBool, kOwn},
    TraceOpInfo{TraceOp::kSelect, "select", 3, kMaskAny, kOwn},
    TraceOpInfo{TraceOp::kLookup, "lookup", 1, kMaskFloat | kMaskI32, kOwn},
    TraceOpInfo{TraceOp::kToF32, "to_f32", 1, kMaskF32, kOwn},
    TraceOpInfo{TraceOp::kToF64, "to_f64", 1, kMaskF64, kOwn},
    TraceOpInfo{TraceOp::kToI32, "to_i32", 1, kMaskI32, kOwn},
    TraceOpInfo{TraceOp::kToI64, "to_i64", 1, kMaskI64, kOwn},
    TraceOpInfo{TraceOp::kUToI64, "uto_i64", 1, kMaskI64, kOwn},
    TraceOpInfo{TraceOp::kBitcast, "bitcast", 1, kMaskNumber, kOwn},
    TraceOpInfo{TraceOp::kLoop, "loop", 0, kMaskNone, kLeaf},
};

constexpr bool table_is_in_order() {
  for (size_t i = 0; i < kOps.size(); i++) {
    if (static_cast<size_t>(kOps[i].op) != i) return false;
  }
  return kOps.size() == static_cast<size_t>(TraceOp::kLoop) + 1;
}
static_assert(table_is_in_order());

// By the enums' values.
constexpr std::array<std::string_view, 6> kTypes = {"f32", "f64", "i32", "i64", "bool", "none"};
constexpr std::array<std::string_view, 24> kPredicates = {
    "oeq", "one", "olt", "ole", "ogt", "oge", "ord", "ueq", "une", "ult", "ule", "ugt",
    "uge", "uno", "eq",  "ne",  "lt",  "le",  "gt",  "ge",  "b",   "be",  "a",   "ae"};
constexpr std::array<std::string_view, 9> kClasses = {
    "elementwise", "pairwise", "reduction", "argmax", "norm", "gemm", "gemv", "gather", "opaque"};
static_assert(kTypes.size() == static_cast<size_t>(TraceType::kNone) + 1);
static_assert(kPredicates.size() == static_cast<size_t>(Predicate::kAe) + 1);
static_assert(kClasses.size() == static_cast<size_t>(OpClass::kOpaque) + 1);

template <class Enum, size_t kCount>
std::string_view word_of(const std::array<std::string_view, kCount>& words, Enum e) {
  const auto i = static_cast<size_t>(e);
  return i < kCount ? words[i] : "invalid";
}

template <class Enum, size_t kCount>
std::optional<Enum> enum_of(const std::array<std::string_view, kCount>& words,
                            std::string_view word) {
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) return std::nullopt;
  return static_cast<Enum>(found - words.begin());
}

}  // namespace

const TraceOpInfo& op_info(TraceOp op) { return kOps[static_cast<size_t>(op)]; }

std::string_view trace_type_word(TraceType t) { return word_of(kTypes, t); }
std::string_view trace_op_word(TraceOp op) { return op_info(op).word; }
std::string_view predicate_word(Predicate p) { return word_of(kPredicates, p); }
std::string_view op_class_word(OpClass c) { return word_of(kClasses, c); }
int trace_op_arity(TraceOp op) { return op_info(op).arity; }

std::optional<TraceType> trace_type_of(std::string_view word) {
  return enum_of<TraceType>(kTypes, word);
}

std::optional<TraceOp> trace_op_of(std::string_view word) {
  for (const TraceOpInfo& row : kOps) {
    if (row.word == word) return row.op;
  }
  return std::nullopt;
}

std::optional<Predicate> predicate_of(std::string_view word) {
  return enum_of<Predicate>(kPredicates, word);
}

std::optional<OpClass> op_class_of(std::string_view word) {
  return enum_of<OpClass>(kClasses, word);
}

TraceType implied_type(TraceOp op) {
  const uint8_t mask = op_info(op).types;
  if (op == TraceOp::kLoad || (mask & (mask - 1)) != 0) return TraceType::kNone;
  for (TraceType type :
       {TraceType::kF32, TraceType::kF64, TraceType::kI32, TraceType::kI64, TraceType::kBool}) {
    if (has_type(mask, type)) return type;
  }
  return TraceType::kNone;
}

bool is_pure(TraceOp op) {
  switch (op) {
    case TraceOp::kIv:
    case TraceOp::kCarry:
    case TraceOp::kResult:
    case TraceOp::kLoad:
    case TraceOp::kStore:
    case TraceOp::kLoop: return false;
    default: return true;
  }
}

bool is_index_op(const OpTrace& trace, const Value& value) {
  if (value.type != TraceType::kI64) return false;
  switch (value.op) {
    case TraceOp::kParam: return trace.params[value.index].kind == TraceParamKind::kSize;
    case TraceOp::kConst:
    case TraceOp::kIv:
    case TraceOp::kAdd:
    case TraceOp::kSub:
    case TraceOp::kMul:
    case TraceOp::kNeg:
    case TraceOp::kDivFloor:
    case TraceOp::kModFloor:
    case TraceOp::kMin:
    case TraceOp::kMax: return true;
    default: return false;
  }
}

TraceType loaded_type(DType dtype) {
  if (dtype == DType::kF64) return TraceType::kF64;
  return is_float(dtype) ? TraceType::kF32 : TraceType::kI32;
}

}  // namespace nrd
