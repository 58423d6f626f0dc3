// SPDX-License-Identifier: MIT
// tests/compiler/function_machine.cpp: see function_machine.h. Written apart from the lifter's
// own constant folding, so that the two can disagree.
#include "function_machine.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "integer_compare.h"
#include "ops/round_to.h"

namespace nrd::lift {
namespace {

constexpr int kMaxBlocks = 2'000'000;

uint64_t masked(uint64_t bits, Type type) {
  const int width = type_bits(type);
  return width >= 64 ? bits : bits & ((uint64_t{1} << width) - 1);
}

int64_t as_signed(uint64_t bits, Type type) {
  const int unused = 64 - type_bits(type);
  return static_cast<int64_t>(bits << unused) >> unused;
}

template <class F>
uint64_t bits_of(F x) {
  if constexpr (sizeof(F) == 4)
    return std::bit_cast<uint32_t>(x);
  else
    return std::bit_cast<uint64_t>(x);
}

template <class F>
F number(uint64_t bits) {
  if constexpr (sizeof(F) == 4)
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  else
    return std::bit_cast<double>(bits);
}

template <class F>
F float_operation(TraceOp op, F a, F b, F c) {
  switch (op) {
    case TraceOp::kAdd: return a + b;
    case TraceOp::kSub: return a - b;
    case TraceOp::kMul: return a * b;
    case TraceOp::kDiv: return a / b;
    case TraceOp::kNeg: return -a;
    case TraceOp::kAbs: return std::fabs(a);
    case TraceOp::kFma: return std::fma(a, b, c);
    case TraceOp::kSqrt: return std::sqrt(a);
    case TraceOp::kFloor: return std::floor(a);
    case TraceOp::kCeil: return std::ceil(a);
    case TraceOp::kTrunc: return std::trunc(a);
    case TraceOp::kRint: return std::rint(a);
    case TraceOp::kMaxFirst: return a > b ? a : b;
    case TraceOp::kMinFirst: return a < b ? a : b;
    case TraceOp::kMaxNan: return (a > b || a != a) ? a : b;
    case TraceOp::kMinNan: return (a < b || a != a) ? a : b;
    case TraceOp::kMaxNum: return std::fmax(a, b);
    case TraceOp::kMinNum: return std::fmin(a, b);
    case TraceOp::kCopySign: return std::copysign(a, b);
    case TraceOp::kExp: return std::exp(a);
    case TraceOp::kLog: return std::log(a);
    case TraceOp::kTanh: return std::tanh(a);
    case TraceOp::kErf: return std::erf(a);
    case TraceOp::kSin: return std::sin(a);
    case TraceOp::kCos: return std::cos(a);
    case TraceOp::kPow: return std::pow(a, b);
    case TraceOp::kExp2: return std::exp2(a);
    case TraceOp::kExpm1: return std::expm1(a);
    case TraceOp::kLog2: return std::log2(a);
    case TraceOp::kLog10: return std::log10(a);
    case TraceOp::kLog1p: return std::log1p(a);
    case TraceOp::kTan: return std::tan(a);
    case TraceOp::kAtan: return std::atan(a);
    case TraceOp::kAtan2: return std::atan2(a, b);
    case TraceOp::kFmod: return std::fmod(a, b);
    default: return std::nan("");
  }
}

template <class F>
bool float_compare(Predicate p, F a, F b) {
  const bool unordered = a != a || b != b;
  switch (p) {
    case Predicate::kOeq: return a == b;
    case Predicate::kOne: return a < b || a > b;
    case Predicate::kOlt: return a < b;
    case Predicate::kOle: return a <= b;
    case Predicate::kOgt: return a > b;
    case Predicate::kOge: return a >= b;
    case Predicate::kOrd: return !unordered;
    case Predicate::kUeq: return unordered || a == b;
    case Predicate::kUne: return a != b;
    case Predicate::kUlt: return unordered || a < b;
    case Predicate::kUle: return unordered || a <= b;
    case Predicate::kUgt: return unordered || a > b;
    case Predicate::kUge: return unordered || a >= b;
    default: return unordered;
  }
}

bool integer_compare(Predicate p, Type type, uint64_t a, uint64_t b) {
  return nrd::integer_compare(p, a, b, as_signed(a, type), as_signed(b, type));
}

uint64_t integer_operation(TraceOp op, Type type, uint64_t a, uint64_t b) {
  const int64_t x = as_signed(a, type), y = as_signed(b, type);
  switch (op) {
    case TraceOp::kAdd: return a + b;
    case TraceOp::kSub: return a - b;
    case TraceOp::kMul: return a * b;
    case TraceOp::kNeg: return 0 - a;
    case TraceOp::kAnd: return a & b;
    case TraceOp::kOr: return a | b;
    case TraceOp::kXor: return a ^ b;
    case TraceOp::kNot: return a ^ 1;
    case TraceOp::kShl: return a << b;
    case TraceOp::kShr: return a >> b;
    case TraceOp::kSar: return static_cast<uint64_t>(x >> b);
    case TraceOp::kMin: return x < y ? a : b;
    case TraceOp::kMax: return x > y ? a : b;
    default: return 0xdeadbeef;
  }
}

template <class I>
uint64_t to_integer(double x) {  // as cvttss2si: out of range is the smallest integer
  const double limit = std::ldexp(1.0, sizeof(I) * 8 - 1);
  const bool fits = x > -limit - 1 && x < limit;
  return static_cast<uint64_t>(fits ? static_cast<I>(x) : std::numeric_limits<I>::min());
}

class Machine {
 public:
  Machine(const Function& f, std::span<const uint64_t> arguments)
      : f_(f), arguments_(arguments), values_(f.nodes.size()), stamps_(f.nodes.size(), 0) {}

  FunctionRun run() {
    BlockId previous = kNoBlock, b = 0;
    for (int count = 0; count < kMaxBlocks; count++) {
      enter(b, previous);
      for (const NodeId access : f_.blocks[b].memory) touch(access);
      const Block& block = f_.blocks[b];
      if (block.successors.empty()) return {f_.result != kNoNode ? value(f_.result) : 0, true};
      const bool second = block.successors.size() == 2 && value(block.condition) == 0;
      previous = b;
      b = block.successors[second ? 1 : 0];
    }
    return {};
  }

 private:
  void enter(BlockId b, BlockId from) {
    const Block& block = f_.blocks[b];
    std::vector<uint64_t> next;
    for (const Phi& phi : block.phis)
      for (size_t i = 0; i < phi.args.size(); i++)
        if (block.predecessors[i] == from) next.push_back(value(phi.args[i]));
    for (size_t i = 0; i < block.phis.size(); i++) values_[block.phis[i].node] = next.at(i);
    stamp_++;
  }

  void touch(NodeId access) {
    const Node& node = f_[access];
    auto* place = reinterpret_cast<void*>(value(node.args[0]));
    const auto bytes = static_cast<size_t>(type_bits(node.type)) / 8;
    if (node.kind == Kind::kStore) {
      const uint64_t bits = value(node.args[1]);
      std::memcpy(place, &bits, bytes);
      return;
    }
    values_[access] = 0;
    std::memcpy(&values_[access], place, bytes);
  }

  uint64_t value(NodeId id) {
    const Node& node = f_[id];
    switch (node.kind) {
      case Kind::kConst: return node.bits;
      case Kind::kArg: return arguments_[node.index];
      case Kind::kPhi:
      case Kind::kLoad: return values_[id];
      default: break;
    }
    if (stamps_[id] != stamp_) {
      values_[id] = masked(compute(node), node.type);
      stamps_[id] = stamp_;
    }
    return values_[id];
  }

  uint64_t compute(const Node& node) {
    const uint64_t a = value(node.args[0]);
    const Type from = f_[node.args[0]].type;
    const uint64_t b = node.args[1] != kNoNode ? value(node.args[1]) : 0;
    switch (node.kind) {
      case Kind::kPure: return pure(node, from, a, b);
      case Kind::kUDiv: return a / b;
      case Kind::kURem: return a % b;
      case Kind::kSDiv: return static_cast<uint64_t>(as_signed(a, from) / as_signed(b, from));
      case Kind::kSRem: return static_cast<uint64_t>(as_signed(a, from) % as_signed(b, from));
      case Kind::kTrunc:
      case Kind::kZext: return a;
      case Kind::kSext: return static_cast<uint64_t>(as_signed(a, from));
      case Kind::kU64ToF32: return bits_of(static_cast<float>(a));
      case Kind::kU64ToF64: return bits_of(static_cast<double>(a));
      case Kind::kRoundToCall:
        return bits_of(nrd_round_to_f32(number<float>(a), static_cast<int>(b)));
      default: throw std::runtime_error("a node that a Function must not have");
    }
  }

  uint64_t pure(const Node& node, Type from, uint64_t a, uint64_t b) {
    const uint64_t c = node.args[2] != kNoNode ? value(node.args[2]) : 0;
    const double x = from == Type::kF32 ? number<float>(a) : number<double>(a);
    const bool floats = from == Type::kF32 || from == Type::kF64;
    switch (node.op) {
      case TraceOp::kCmp:
        if (from == Type::kF32)
          return float_compare(node.predicate, number<float>(a), number<float>(b));
        if (from == Type::kF64)
          return float_compare(node.predicate, number<double>(a), number<double>(b));
        return integer_compare(node.predicate, from, a, b);
      case TraceOp::kSelect: return a != 0 ? b : c;
      case TraceOp::kBitcast: return a;
      case TraceOp::kToF32:
        return bits_of(floats ? static_cast<float>(x) : static_cast<float>(as_signed(a, from)));
      case TraceOp::kToF64: return bits_of(floats ? x : static_cast<double>(as_signed(a, from)));
      case TraceOp::kToI32: return floats ? to_integer<int32_t>(x) : a;
      case TraceOp::kToI64:
        return floats ? to_integer<int64_t>(x) : static_cast<uint64_t>(as_signed(a, from));
      default: break;
    }
    if (node.type == Type::kF32)
      return bits_of(
          float_operation(node.op, number<float>(a), number<float>(b), number<float>(c)));
    if (node.type == Type::kF64)
      return bits_of(
          float_operation(node.op, number<double>(a), number<double>(b), number<double>(c)));
    return integer_operation(node.op, node.type, a, b);
  }

  const Function& f_;
  std::span<const uint64_t> arguments_;
  std::vector<uint64_t> values_;
  std::vector<uint64_t> stamps_;  // when a pure value was computed; valid within one block
  uint64_t stamp_ = 1;
};

}  // namespace

FunctionRun run_function(const Function& function, std::span<const uint64_t> arguments) {
  return Machine(function, arguments).run();
}

}  // namespace nrd::lift
