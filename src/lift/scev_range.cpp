// SPDX-License-Identifier: MIT
// src/lift/scev_range.cpp: which integers are data, and how large they can be.
//
// A polynomial has no width. It stands for a machine's integer where that does not wrap: sizes and
// counters are taken not to (scev.h), data may, unless its range says otherwise.
#include <algorithm>
#include <bit>

#include "lift/scev.h"
#include "lift/simplify.h"
#include "trace/assumption.h"

namespace nrd::lift {
namespace {

constexpr int kMaxScevDepth = 8;
// A factor this large on a counter is no stride but the mixing of a hash.
constexpr int64_t kLargestStride = int64_t{1} << 20;
constexpr Wide kUnbounded = Wide{1} << 100;

Range whole_range(Type type) {
  const Wide end = Wide{1} << (type_bits(type) - 1);
  return {-end, end - 1};
}

Range clamped(Wide low, Wide high) {
  return {std::max(low, -kUnbounded), std::min(high, kUnbounded)};
}

Range operator+(const Range& a, const Range& b) { return clamped(a.low + b.low, a.high + b.high); }

// Factors are clamped first, so that products of two fit.
Range operator*(const Range& a, const Range& b) {
  static constexpr Wide kMost = Wide{1} << 62;
  const auto part = [](Wide v) { return std::clamp(v, -kMost, kMost); };
  const Wide all[] = {part(a.low) * part(b.low), part(a.low) * part(b.high),
                      part(a.high) * part(b.low), part(a.high) * part(b.high)};
  const bool cut = a.low < -kMost || a.high > kMost || b.low < -kMost || b.high > kMost;
  if (cut) return {-kUnbounded, kUnbounded};
  return clamped(*std::min_element(all, all + 4), *std::max_element(all, all + 4));
}

Range hull(const Range& a, const Range& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

Range below_power_of_two(Wide high) {
  return {0, static_cast<Wide>(std::bit_ceil(static_cast<uint64_t>(high) + 1)) - 1};
}

bool is_lookup(const Node& n) { return n.kind == Kind::kPure && n.op == TraceOp::kLookup; }

Range table_range(const ConstantTable& table) {
  Range all = whole_range(table.type);
  std::swap(all.low, all.high);
  for (const uint64_t bits : table.elements) {
    const Wide element = sign_extended(bits, table.type);
    all = hull(all, {element, element});
  }
  return all;
}

bool takes_float(const Function& f, const Node& n) {
  return n.args[0] != kNoNode && is_float(f[n.args[0]].type);
}

// A global can only be a counter of instrumentation, which is taken off again
// (Refiner::load_global). Those have 64 bits, which no element of an array that is loaded as an
// integer has.
bool reads_memory(const Function& f, const Node& n) {
  if (n.kind != Kind::kLoad) return false;
  return n.type != Type::kI64 || f[n.args[0]].kind != Kind::kConst;
}

bool mixes_bits(const Function& f, const Node& n) {
  if (n.kind != Kind::kPure || n.type != Type::kI32) return false;
  if (n.op != TraceOp::kMul && n.op != TraceOp::kShl) return false;
  const Node& by = f[n.args[1]];
  if (by.kind != Kind::kConst) return false;
  const int64_t factor = sign_extended(by.bits, by.type);
  if (n.op == TraceOp::kShl) return factor >= std::countr_zero(uint64_t{kLargestStride});
  return factor >= kLargestStride || factor <= -kLargestStride;
}

}  // namespace

bool Range::fits(Type type) const {
  const Range all = whole_range(type);
  return low >= all.low && high <= all.high;
}

// Made from memory, from a floating-point number or by mixing bits: follows arguments and what
// loops carry. All that a search without success has met is no data either.
bool Scev::is_data(NodeId node) {
  enum : uint8_t { kUnknown, kNo, kYes, kMet };
  if (data_.size() < function_.nodes.size()) data_.resize(function_.nodes.size(), kUnknown);
  if (data_[node] != kUnknown) return data_[node] == kYes;
  std::vector<NodeId> met;
  bool found = false;
  const auto meet = [&](NodeId next) {
    if (next == kNoNode || data_[next] == kNo || data_[next] == kMet) return;
    const Node& n = function_[next];
    found |= data_[next] == kYes || n.kind == Kind::kUndef || takes_float(function_, n) ||
             is_lookup(n) || reads_memory(function_, n) || mixes_bits(function_, n);
    if (data_[next] != kYes) data_[next] = kMet;
    met.push_back(next);
  };
  meet(node);
  for (size_t i = 0; i < met.size() && !found; i++) {
    const Node& n = function_[met[i]];
    if (is_leaf(n) && (leaf_role(n) == LeafRole::kCarry || leaf_role(n) == LeafRole::kResult)) {
      const std::vector<Carry>& carries = tree_.regions[n.index].carries;
      if (leaf_number(n) >= carries.size()) continue;
      meet(carries[leaf_number(n)].init);
      meet(carries[leaf_number(n)].next);
    }
    for (NodeId arg : n.args) meet(arg);
  }
  for (const NodeId id : met)
    if (data_[id] == kMet) data_[id] = found ? kUnknown : kNo;
  if (found) data_[node] = kYes;
  return found;
}

Range Scev::range_of(const IntPoly& poly) {
  if (poly.is_too_large()) return {-kUnbounded, kUnbounded};
  Range sum{0, 0};
  for (const PolyTerm& term : poly.terms()) {
    Range product{term.coefficient, term.coefficient};
    for (NodeId atom : term.atoms)
      if (atom != kNoNode) product = product * range_of_node(atom, 0);
    sum = sum + product;
  }
  return sum;
}

// Of the number with its sign.
Range Scev::range_of_node(NodeId id, int depth) {
  const Node n = function_[id];
  const Range all = whole_range(n.type);
  if (depth > kMaxScevDepth) return all;
  const auto arg = [&](size_t i) { return range_of_node(n.args[i], depth + 1); };
  switch (n.kind) {
    case Kind::kConst: {
      const Wide value = sign_extended(n.bits, n.type);
      return {value, value};
    }
    case Kind::kArg: {
      const bool is_signed =
          n.index >= params_.list.size() || params_.list[n.index].kind == CKind::kInt32;
      return {is_signed ? -kLargestSize : 0, kLargestSize};
    }
    case Kind::kPhi:
      return is_leaf(n) && leaf_role(n) == LeafRole::kIv ? Range{0, kLargestSize} : all;
    case Kind::kSext: return arg(0);
    case Kind::kTrunc: return arg(0).fits(n.type) ? arg(0) : all;
    case Kind::kZext: {
      const Range inner = arg(0);
      if (inner.low >= 0) return inner;
      return {0, (Wide{1} << type_bits(function_[n.args[0]].type)) - 1};
    }
    case Kind::kPure: return range_of_pure(n, depth);
    default: return all;
  }
}

Range Scev::range_of_pure(const Node& n, int depth) {
  if (is_lookup(n)) return table_range(function_.tables[n.bits]);
  const Range all = whole_range(n.type);
  const auto arg = [&](size_t i) { return range_of_node(n.args[i], depth + 1); };
  const auto within = [&](const Range& range) { return range.fits(n.type) ? range : all; };
  switch (n.op) {
    case TraceOp::kAdd: return within(arg(0) + arg(1));
    case TraceOp::kSub: return within(arg(0) + arg(1) * Range{-1, -1});
    case TraceOp::kMul: return within(arg(0) * arg(1));
    case TraceOp::kMin:
    case TraceOp::kMax:
    case TraceOp::kSelect: {
      const size_t first = n.op == TraceOp::kSelect ? 1 : 0;
      return hull(arg(first), arg(first + 1));
    }
    case TraceOp::kUToI64: return {0, (Wide{1} << 32) - 1};
    default: break;
  }
  if (n.args[1] == kNoNode) return all;
  const Range a = arg(0), b = arg(1);
  const bool is_by_constant = b.low == b.high;
  const bool is_shift = is_by_constant && b.low >= 0 && b.low < type_bits(n.type);
  switch (n.op) {
    case TraceOp::kAnd:
      if (b.low >= 0) return {0, a.low >= 0 ? std::min(a.high, b.high) : b.high};
      return a.low >= 0 ? Range{0, a.high} : all;
    case TraceOp::kOr:
    case TraceOp::kXor:
      return a.low >= 0 && b.low >= 0 ? below_power_of_two(std::max(a.high, b.high)) : all;
    case TraceOp::kShl:
      return is_shift ? within(a * Range{Wide{1} << b.low, Wide{1} << b.low}) : all;
    case TraceOp::kShr:
      if (!is_shift || b.low == 0) return all;
      if (a.low >= 0) return {a.low >> b.low, a.high >> b.low};
      return {0, (Wide{1} << (type_bits(n.type) - static_cast<int>(b.low))) - 1};
    case TraceOp::kSar: return is_shift ? Range{a.low >> b.low, a.high >> b.low} : all;
    case TraceOp::kDivFloor:
      return is_by_constant && b.low > 0 && a.low >= 0 ? Range{a.low / b.low, a.high / b.low} : all;
    case TraceOp::kModFloor: return is_by_constant && b.low > 0 ? Range{0, b.low - 1} : all;
    default: return all;
  }
}

// Whether a polynomial says what a node of this type holds.
bool Scev::holds(const IntPoly& poly, Type type, bool is_of_data) {
  if (is_of_data) return range_of(poly).fits(type);
  if (type != Type::kI32) return true;
  return std::all_of(poly.terms().begin(), poly.terms().end(), [](const PolyTerm& term) {
    return term.atoms == kNoAtoms ||
           (term.coefficient < kLargestStride && term.coefficient > -kLargestStride);
  });
}

bool Scev::may_be_negative(NodeId node) { return is_data(node) && range_of_node(node, 0).low < 0; }

}  // namespace nrd::lift
