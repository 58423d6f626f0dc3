// SPDX-License-Identifier: MIT
// src/lift/tables.cpp: see tables.h.
//
// How long a table is stands nowhere in machine code: what counts is between which numbers its
// index lies, and that all of that is read-only.
#include "lift/tables.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "lift/simplify.h"

namespace nrd::lift {
namespace {

constexpr int kMaxTableDepth = 10;
constexpr int64_t kMaxElements = 64;  // each is a choice
constexpr int64_t kFar = int64_t{1} << 40;

struct Interval {
  int64_t low = -kFar, high = kFar;
  int64_t count() const { return high - low + 1; }
};

bool is_within(const Interval& a, const Interval& b) { return a.low >= b.low && a.high <= b.high; }

Interval of_bits(int bits, bool is_signed) {
  if (bits >= 40) return {};
  const int64_t end = int64_t{1} << bits;
  return is_signed ? Interval{-end / 2, end / 2 - 1} : Interval{0, end - 1};
}

// constant + factor * index.
struct Address {
  uint64_t constant = 0;
  int64_t factor = 0;
  NodeId index = kNoNode;
};

class Tables {
 public:
  Tables(Function& function, const Image& image)
      : f_(function), factory_(function), image_(image) {}

  void run() {
    for (Block& block : f_.blocks)
      std::erase_if(block.memory, [&](NodeId id) { return resolve(id); });
  }

 private:
  bool resolve(NodeId id) {
    const Node load = f_[id];
    if (load.kind != Kind::kLoad || load.type == Type::kV128) return false;
    Address address;
    const auto bytes = static_cast<int64_t>(bytes_of(load.type));
    if (!split(load.args[0], 1, address, 0) || address.index == kNoNode) return false;
    if (address.factor % bytes != 0) return false;
    const Interval range = range_of(address.index, 0);
    const int64_t step = address.factor / bytes;
    if (step < 1 || range.count() < 1 || range.count() > kMaxElements) return false;
    std::vector<NodeId> elements;
    for (int64_t i = range.low; i <= range.high; i++) {
      uint64_t bits = 0;
      const uint64_t at = address.constant + static_cast<uint64_t>(i * address.factor);
      if (!image_.read_only(at, static_cast<size_t>(bytes), &bits)) return false;
      elements.push_back(factory_.constant(load.type, bits));
    }
    const NodeId chosen = choice(address.index, range.low, elements);
    const uint64_t place = load.address;
    f_.nodes[id] = f_[chosen];  // uses of the load stay what they are
    f_.nodes[id].address = place;
    return true;
  }

  bool split(NodeId id, int64_t factor, Address& out, int depth) const {
    const Node& n = f_[id];
    if (n.kind == Kind::kConst) {
      out.constant += static_cast<uint64_t>(factor * sign_extended(n.bits, n.type));
      return true;
    }
    const bool is_word = n.type == Type::kI64 && n.kind == Kind::kPure && depth < kMaxTableDepth;
    if (is_word && n.op == TraceOp::kAdd)
      return split(n.args[0], factor, out, depth + 1) && split(n.args[1], factor, out, depth + 1);
    if (is_word && n.args[1] != kNoNode && f_[n.args[1]].kind == Kind::kConst) {
      const uint64_t by = f_[n.args[1]].bits;
      if (n.op == TraceOp::kMul && by < 1024)
        return split(n.args[0], factor * static_cast<int64_t>(by), out, depth + 1);
      if (n.op == TraceOp::kShl && by < 10) return split(n.args[0], factor << by, out, depth + 1);
    }
    if (out.index != kNoNode) return false;
    out.index = id;
    out.factor = factor;
    return true;
  }

  // Of the number with its sign.
  Interval range_of(NodeId id, int depth) const {
    const Node& n = f_[id];
    const Interval all = of_bits(type_bits(n.type), n.type != Type::kBool);
    if (depth > kMaxTableDepth) return all;
    const auto arg = [&](size_t i) { return range_of(n.args[i], depth + 1); };
    switch (n.kind) {
      case Kind::kConst: {
        const int64_t value = sign_extended(n.bits, n.type);
        return n.type == Type::kBool ? all : Interval{value, value};
      }
      case Kind::kSext: return arg(0);
      case Kind::kZext: {
        const Interval inner = arg(0);
        return inner.low >= 0 ? inner : of_bits(type_bits(f_[n.args[0]].type), false);
      }
      case Kind::kTrunc: return is_within(arg(0), all) ? arg(0) : all;
      case Kind::kPhi: return of_phi(n, depth);
      case Kind::kPure: return of_pure(n, all, depth);
      default: return all;
    }
  }

  Interval of_phi(const Node& phi, int depth) const {
    Interval range{kFar, -kFar};
    for (const NodeId arg : f_.blocks[phi.index].phis[phi.bits].args) {
      const Interval one = range_of(arg, depth + 4);  // they may lead back here
      range = {std::min(range.low, one.low), std::max(range.high, one.high)};
    }
    return range;
  }

  Interval of_pure(const Node& n, const Interval& all, int depth) const {
    const auto arg = [&](size_t i) { return range_of(n.args[i], depth + 1); };
    const auto within = [&](const Interval& r) { return is_within(r, all) ? r : all; };
    const bool by_constant = n.args[1] != kNoNode && f_[n.args[1]].kind == Kind::kConst;
    const int64_t by = by_constant ? sign_extended(f_[n.args[1]].bits, f_[n.args[1]].type) : -1;
    switch (n.op) {
      case TraceOp::kSelect: {
        const Interval a = arg(1), b = arg(2);
        return {std::min(a.low, b.low), std::max(a.high, b.high)};
      }
      case TraceOp::kAnd:
        if (by >= 0) return {0, by};
        return arg(0).low >= 0 ? Interval{0, arg(0).high} : all;
      case TraceOp::kAdd: return within({arg(0).low + arg(1).low, arg(0).high + arg(1).high});
      case TraceOp::kSub: return within({arg(0).low - arg(1).high, arg(0).high - arg(1).low});
      case TraceOp::kShr:
        if (by < 1 || by >= type_bits(n.type)) return all;
        if (arg(0).low < 0) return of_bits(type_bits(n.type) - static_cast<int>(by), false);
        return {arg(0).low >> by, arg(0).high >> by};
      case TraceOp::kSar:
        return by >= 0 && by < type_bits(n.type) ? Interval{arg(0).low >> by, arg(0).high >> by}
                                                 : all;
      default: return all;
    }
  }

  // Halves, by the bits of the index.
  NodeId choice(NodeId index, int64_t low, const std::vector<NodeId>& elements) {
    const Node n = f_[index];
    const bool is_widened = n.kind == Kind::kZext || n.kind == Kind::kSext;
    if (is_widened && f_[n.args[0]].type == Type::kI32) index = n.args[0];
    const Type type = f_[index].type;
    if (low != 0)
      index = factory_.pure(TraceOp::kSub, type, index,
                            factory_.constant(type, static_cast<uint64_t>(low)));
    const uint64_t size = std::bit_ceil(elements.size());
    return half(index, elements, 0, size);
  }

  NodeId half(NodeId index, const std::vector<NodeId>& elements, size_t first, uint64_t size) {
    if (size == 1) return elements[std::min(first, elements.size() - 1)];
    const uint64_t bit = size / 2;
    const NodeId no = half(index, elements, first, bit);
    const NodeId yes = half(index, elements, first + bit, bit);
    const Type type = f_[index].type;
    const NodeId masked = factory_.pure(TraceOp::kAnd, type, index, factory_.constant(type, bit));
    const NodeId is_set = factory_.compare(Predicate::kNe, masked, factory_.constant(type, 0));
    return factory_.select(is_set, yes, no);
  }

  Function& f_;
  NodeFactory factory_;
  const Image& image_;
};

}  // namespace

void resolve_tables(Function& function, const Image& image) { Tables(function, image).run(); }

}  // namespace nrd::lift
