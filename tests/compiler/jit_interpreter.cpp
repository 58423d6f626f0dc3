// SPDX-License-Identifier: MIT
// tests/compiler/jit_interpreter.cpp: the meaning of the vector IR, written out.
#include "jit_interpreter.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/convert.h"
#include "jit/op_info.h"

namespace nrd::jit {
namespace {

float f32(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }
double f64(uint64_t bits) { return std::bit_cast<double>(bits); }
int32_t i32(uint64_t bits) { return static_cast<int32_t>(bits); }
uint64_t bits(float value) { return std::bit_cast<uint32_t>(value); }
uint64_t bits(double value) { return std::bit_cast<uint64_t>(value); }
uint64_t bits(int32_t value) { return static_cast<uint32_t>(value); }

template <class Real>
int32_t to_i32(Real value) {
  if (!(value > Real(-2147483649.0)) || !(value < Real(2147483648.0))) return INT32_MIN;
  return static_cast<int32_t>(value);
}

// With the sign of x, its magnitude in [0.75, 1.5); 1 for zero and infinity.
template <class Real>
Real mantissa(Real x) {
  if (x == 0 || std::isinf(x)) return std::copysign(Real(1), x);
  int exponent = 0;
  const Real half = std::frexp(x, &exponent);
  return std::fabs(half) < Real(0.75) ? 2 * half : half;
}

template <class Real>
Real real_result(Op op, Real a, Real b, Real c) {
  switch (op) {
    case Op::kAdd: return a + b;
    case Op::kSub: return a - b;
    case Op::kMul: return a * b;
    case Op::kDiv: return a / b;
    case Op::kSqrt: return std::sqrt(a);
    case Op::kFma: return std::fma(a, b, c);
    case Op::kFnma: return std::fma(-a, b, c);
    case Op::kFms: return std::fma(a, b, -c);
    case Op::kMax: return a > b ? a : b;
    case Op::kMin: return a < b ? a : b;
    case Op::kFloor: return std::floor(a);
    case Op::kCeil: return std::ceil(a);
    case Op::kTrunc: return std::trunc(a);
    case Op::kRint: return std::rint(a);
    case Op::kScale: return std::ldexp(a, static_cast<int>(std::floor(b)));
    case Op::kExponent: return std::logb(a);
    case Op::kMantissa: return mantissa(a);
    default: return std::nan("");
  }
}

uint64_t integer_result(const Inst& inst, uint64_t x, uint64_t y) {
  const auto a = static_cast<uint32_t>(x), b = static_cast<uint32_t>(y);
  const auto count = static_cast<uint32_t>(inst.imm);
  switch (inst.op) {
    case Op::kAdd: return a + b;
    case Op::kSub: return a - b;
    case Op::kMul: return a * b;
    case Op::kMax: return i32(a) > i32(b) ? a : b;
    case Op::kMin: return i32(a) < i32(b) ? a : b;
    case Op::kShl: return count > 31 ? 0 : a << count;
    case Op::kShr: return count > 31 ? 0 : a >> count;
    case Op::kSar: return bits(i32(a) >> std::min(count, 31u));
    case Op::kShlV: return a << b;
    case Op::kShrV: return a >> b;
    default: return bits(i32(a) >> b);  // kSarV
  }
}

template <class T>
bool ordered_compare(Predicate p, T a, T b) {
  const bool is_unordered = a != a || b != b;
  switch (p) {
    case Predicate::kOeq: return a == b;
    case Predicate::kOne: return !is_unordered && a != b;
    case Predicate::kOlt: return a < b;
    case Predicate::kOle: return a <= b;
    case Predicate::kOgt: return a > b;
    case Predicate::kOge: return a >= b;
    case Predicate::kOrd: return !is_unordered;
    case Predicate::kUeq: return is_unordered || a == b;
    case Predicate::kUne: return a != b;
    case Predicate::kUlt: return !(a >= b);
    case Predicate::kUle: return !(a > b);
    case Predicate::kUgt: return !(a <= b);
    case Predicate::kUge: return !(a < b);
    default: return is_unordered;
  }
}

bool integer_compare(Predicate p, int64_t a, int64_t b) {
  const auto ua = static_cast<uint32_t>(a), ub = static_cast<uint32_t>(b);
  switch (p) {
    case Predicate::kEq: return a == b;
    case Predicate::kNe: return a != b;
    case Predicate::kLt: return a < b;
    case Predicate::kLe: return a <= b;
    case Predicate::kGt: return a > b;
    case Predicate::kGe: return a >= b;
    case Predicate::kB: return ua < ub;
    case Predicate::kBe: return ua <= ub;
    case Predicate::kA: return ua > ub;
    default: return ua >= ub;
  }
}

}  // namespace

uint64_t lane_result(const Inst& inst, uint64_t a, uint64_t b, uint64_t c) {
  switch (inst.op) {
    case Op::kMove: return a;
    case Op::kAnd: return a & b;
    case Op::kOr: return a | b;
    case Op::kXor: return a ^ b;
    case Op::kAndNot: return ~a & b;
    case Op::kI32ToF32: return bits(static_cast<float>(i32(a)));
    case Op::kF32ToI32: return bits(to_i32(f32(a)));
    case Op::kF32ToI32Nearest: return bits(to_i32(std::rint(f32(a))));
    case Op::kF32ToF64: return bits(static_cast<double>(f32(a)));
    case Op::kF64ToF32: return bits(static_cast<float>(f64(a)));
    case Op::kI32ToF64: return bits(static_cast<double>(i32(a)));
    case Op::kF64ToI32: return bits(to_i32(f64(a)));
    default: break;
  }
  switch (inst.lane) {
    case Lane::kF32: return bits(real_result(inst.op, f32(a), f32(b), f32(c)));
    case Lane::kF64: return bits(real_result(inst.op, f64(a), f64(b), f64(c)));
    case Lane::kI32: return integer_result(inst, a, b);
  }
  return 0;
}

bool lane_compare(Predicate predicate, Lane lane, uint64_t a, uint64_t b) {
  switch (lane) {
    case Lane::kF32: return ordered_compare(predicate, f32(a), f32(b));
    case Lane::kF64: return ordered_compare(predicate, f64(a), f64(b));
    case Lane::kI32: return integer_compare(predicate, i32(a), i32(b));
  }
  return false;
}

Interpreter::Interpreter(const Program& program)
    : program_(program),
      vectors_(program.registers.size()),
      masks_(program.registers.size()),
      gprs_(program.registers.size()),
      labels_(program.labels) {
  for (size_t i = 0; i < program.code.size(); i++) {
    if (program.code[i].op == Op::kLabel) labels_[program.code[i].label] = i;
  }
}

uintptr_t Interpreter::address(const Mem& mem) const {
  int64_t at = gprs_[mem.base.id] + mem.offset;
  if (mem.index.valid()) at += gprs_[mem.index.id] * mem.scale;
  return static_cast<uintptr_t>(at);
}

int Interpreter::active_lanes(const Inst& inst) const {
  return inst.count == kNoReg ? program_.lanes : static_cast<int>(gprs_[inst.count]);
}

// ---- memory ----

uint64_t Interpreter::load_element(const Inst& inst, uintptr_t at) const {
  uint64_t code = 0;
  std::memcpy(&code, reinterpret_cast<const void*>(at), byte_size(inst.dtype));
  switch (inst.dtype) {
    case DType::kF64:
    case DType::kF32:
    case DType::kI32: return code;
    case DType::kI8: return bits(static_cast<int32_t>(static_cast<int8_t>(code)));
    case DType::kU8: return code;
    default: break;
  }
  float value = 0;
  convert(&code, inst.dtype, &value, DType::kF32, 1);
  return bits(value);
}

void Interpreter::store_element(const Inst& inst, uintptr_t at, uint64_t lane) const {
  void* to = reinterpret_cast<void*>(at);
  const auto low = static_cast<uint32_t>(lane);
  if (inst.dtype == DType::kF64 || inst.lane == Lane::kI32) {
    std::memcpy(to, &lane, byte_size(inst.dtype));
  } else {
    convert(&low, DType::kF32, to, inst.dtype, 1);
  }
}

void Interpreter::move_memory(const Inst& inst) {
  const uintptr_t base = address(inst.mem);
  const auto size = static_cast<int64_t>(byte_size(inst.dtype));
  const bool is_store = inst.op == Op::kStore || inst.op == Op::kStoreStrided;
  const Lanes indices = inst.op == Op::kGather ? vectors_[inst.a] : Lanes{};
  Lanes result{};
  for (int lane = 0; lane < active_lanes(inst); lane++) {
    int64_t offset = lane * size;
    if (inst.op == Op::kBroadcast) offset = 0;
    if (inst.op == Op::kLoadStrided || inst.op == Op::kStoreStrided) offset = lane * gprs_[inst.b];
    if (inst.op == Op::kGather) offset = i32(indices[static_cast<size_t>(lane)]) * size;
    const uintptr_t at = base + static_cast<uintptr_t>(offset);
    if (is_store) {
      store_element(inst, at, vectors_[inst.a][static_cast<size_t>(lane)]);
    } else {
      result[static_cast<size_t>(lane)] = load_element(inst, at);
    }
  }
  if (!is_store) vectors_[inst.dst] = result;
}

void Interpreter::call_lanes(const Inst& inst) {
  const auto size = static_cast<size_t>(lane_bytes(inst.lane));
  alignas(64) std::array<char, kMaxLanes * 8> a{}, b{}, out{};
  for (size_t lane = 0; lane < static_cast<size_t>(program_.lanes); lane++) {
    std::memcpy(&a[lane * size], &vectors_[inst.a][lane], size);
    if (inst.b != kNoReg) std::memcpy(&b[lane * size], &vectors_[inst.b][lane], size);
  }
  const Helper* helpers = *static_cast<const Helper* const*>(arguments_[0]);
  helpers[inst.imm](a.data(), b.data(), out.data(), program_.lanes);
  vectors_[inst.dst] = {};
  for (size_t lane = 0; lane < static_cast<size_t>(program_.lanes); lane++) {
    std::memcpy(&vectors_[inst.dst][lane], &out[lane * size], size);
  }
}

// ---- vectors ----

void Interpreter::across_lanes(const Inst& inst) {
  const auto count = static_cast<size_t>(program_.lanes);
  const Lanes a = vectors_[inst.a];
  const Lanes b = inst.b != kNoReg ? vectors_[inst.b] : Lanes{};
  const auto from = [&](size_t lane) { return lane < count ? a[lane] : b[lane - count]; };
  Lanes result{};
  for (size_t lane = 0; lane < count; lane++) {
    const size_t half = lane / 2 + (lane % 2) * count;
    switch (inst.op) {
      case Op::kSplat: result[lane] = a[0]; break;
      case Op::kLookup:
        result[lane] =
            std::bit_cast<uint32_t>(program_.tables[static_cast<size_t>(inst.imm)][a[lane] % 16]);
        break;
      case Op::kFold: {
        const size_t other = lane + static_cast<size_t>(inst.imm);
        result[lane] = other < count ? a[other] : 0;
        break;
      }
      case Op::kEven: result[lane] = from(2 * lane); break;
      case Op::kOdd: result[lane] = from(2 * lane + 1); break;
      case Op::kZipLow: result[lane] = from(half); break;
      default: result[lane] = from(half + count / 2); break;
    }
  }
  vectors_[inst.dst] = result;
}

void Interpreter::vector(const Inst& inst) {
  switch (inst.op) {
    case Op::kLoad:
    case Op::kStore:
    case Op::kBroadcast:
    case Op::kLoadStrided:
    case Op::kStoreStrided:
    case Op::kGather: return move_memory(inst);
    case Op::kSplat:
    case Op::kLookup:
    case Op::kFold:
    case Op::kEven:
    case Op::kOdd:
    case Op::kZipLow:
    case Op::kZipHigh: return across_lanes(inst);
    case Op::kCallLanes: return call_lanes(inst);
    default: break;
  }
  Lanes result{};
  const Lanes none{};
  const bool has_vectors = inst.op != Op::kSplatGpr && inst.op != Op::kMaskToVector;
  const Lanes& a = inst.a != kNoReg && has_vectors ? vectors_[inst.a] : none;
  const Lanes& b = inst.b != kNoReg ? vectors_[inst.b] : none;
  const Lanes& c = inst.c != kNoReg ? vectors_[inst.c] : none;
  for (size_t lane = 0; lane < static_cast<size_t>(program_.lanes); lane++) {
    switch (inst.op) {
      case Op::kConst: result[lane] = static_cast<uint64_t>(inst.imm); break;
      case Op::kIota: result[lane] = lane; break;
      case Op::kSplatGpr: result[lane] = static_cast<uint32_t>(gprs_[inst.a]); break;
      case Op::kMaskToVector: result[lane] = masks_[inst.a] >> lane & 1 ? 0xffffffffu : 0; break;
      case Op::kSelect: result[lane] = masks_[inst.mask] >> lane & 1 ? a[lane] : b[lane]; break;
      case Op::kFmaLane: {
        Inst plain = inst;
        plain.op = Op::kFma;
        result[lane] = lane_result(plain, a[lane], b[static_cast<size_t>(inst.imm)], c[lane]);
        break;
      }
      default: result[lane] = lane_result(inst, a[lane], b[lane], c[lane]); break;
    }
  }
  vectors_[inst.dst] = result;
}

void Interpreter::masks(const Inst& inst) {
  const uint32_t all = (1u << program_.lanes) - 1;
  uint32_t result = 0;
  switch (inst.op) {
    case Op::kMaskAnd: result = masks_[inst.a] & masks_[inst.b]; break;
    case Op::kMaskOr: result = masks_[inst.a] | masks_[inst.b]; break;
    case Op::kMaskXor: result = masks_[inst.a] ^ masks_[inst.b]; break;
    case Op::kMaskNot: result = ~masks_[inst.a] & all; break;
    case Op::kMaskConst: result = inst.imm != 0 ? all : 0; break;
    default:
      for (size_t lane = 0; lane < static_cast<size_t>(program_.lanes); lane++) {
        const bool is_set = inst.op == Op::kTailMask
                                ? static_cast<int64_t>(lane) < gprs_[inst.a]
                                : lane_compare(inst.predicate, inst.lane, vectors_[inst.a][lane],
                                               vectors_[inst.b][lane]);
        result |= static_cast<uint32_t>(is_set) << lane;
      }
  }
  masks_[inst.dst] = result;
}

// ---- scalars and control ----

void Interpreter::scalar(const Inst& inst) {
  const int64_t a = inst.a != kNoReg ? gprs_[inst.a] : 0;
  const auto u = static_cast<uint64_t>(a);  // sums and products wrap
  int64_t result = 0;
  switch (inst.op) {
    case Op::kGArgument:
      result = static_cast<int64_t>(
          reinterpret_cast<uintptr_t>(arguments_[static_cast<size_t>(inst.imm)]));
      break;
    case Op::kGConst: result = inst.imm; break;
    case Op::kGMove: result = a; break;
    case Op::kGLoad: {
      std::memcpy(&result, reinterpret_cast<const void*>(address(inst.mem)),
                  static_cast<size_t>(inst.imm));
      if (inst.imm == 4) result = static_cast<int32_t>(result);
      break;
    }
    case Op::kGStore:
      std::memcpy(reinterpret_cast<void*>(address(inst.mem)), &a, static_cast<size_t>(inst.imm));
      return;
    case Op::kGAdd: result = static_cast<int64_t>(u + static_cast<uint64_t>(second(inst))); break;
    case Op::kGSub: result = static_cast<int64_t>(u - static_cast<uint64_t>(second(inst))); break;
    case Op::kGMul: result = static_cast<int64_t>(u * static_cast<uint64_t>(second(inst))); break;
    case Op::kGAnd: result = a & second(inst); break;
    case Op::kGMin: result = std::min(a, second(inst)); break;
    case Op::kGMax: result = std::max(a, second(inst)); break;
    case Op::kGShl: result = static_cast<int64_t>(u << inst.imm); break;
    case Op::kGSar: result = a >> inst.imm; break;
    case Op::kGDiv:
      result = static_cast<int64_t>(static_cast<uint64_t>(a) / static_cast<uint64_t>(second(inst)));
      break;
    case Op::kGAddress: result = static_cast<int64_t>(address(inst.mem)); break;
    case Op::kGData:
      result = static_cast<int64_t>(
          reinterpret_cast<uintptr_t>(program_.data[static_cast<size_t>(inst.imm)].data()));
      break;
    case Op::kGLane: result = i32(vectors_[inst.a][0]); break;
    default: return;
  }
  gprs_[inst.dst] = result;
}

bool Interpreter::takes_branch(const Inst& inst) const {
  if (inst.op == Op::kJump) return true;
  if (inst.op == Op::kBranchAny) return masks_[inst.a] != 0;
  return inst.op == Op::kBranch && integer_compare(inst.predicate, gprs_[inst.a], second(inst));
}

void Interpreter::run(const void* block, void* const* pointers) {
  arguments_ = {block, pointers};
  for (size_t at = 0; at < program_.code.size(); at++) {
    const Inst& inst = program_.code[at];
    if (inst.op == Op::kReturn) return;
    if (takes_branch(inst)) {
      at = labels_[inst.label];
      continue;
    }
    const OpInfo& op = op_info(inst.op);
    if (op.dst == 'm') {
      masks(inst);
    } else if (inst.op < Op::kGArgument) {
      vector(inst);
    } else {
      scalar(inst);
    }
  }
}

}  // namespace nrd::jit
