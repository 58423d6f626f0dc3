// SPDX-License-Identifier: MIT
// src/lift/divisions.cpp: see divisions.h.
//
// With M = (2^k + e) / d, x * M / 2^k is x / d + x * e / (d * 2^k). Rounded down that is x / d
// rounded down as long as x * e < 2^k; for a negative x, where e > 0, it is one less than x / d
// rounded towards zero, which compilers add as the sign of x. A multiplier of one bit more than a
// register holds comes as M - 2^bits and x is added to the high half.
#include "lift/divisions.h"

#include <bit>
#include <optional>

#include "lift/simplify.h"

namespace nrd::lift {
namespace {

using Wide = __int128;
constexpr int kMostShift = 120;

// floor(x * multiplier / 2^shift), x an integer of `bits` bits, of which `used` can be set.
struct Scaled {
  NodeId x = kNoNode;
  bool is_signed = false;
  Wide multiplier = 0;
  int shift = 0, bits = 0, used = 0;
};

class Divisions {
 public:
  explicit Divisions(Function& function) : f_(function), factory_(function) {}

  void run() {
    const auto count = static_cast<NodeId>(f_.nodes.size());
    becomes_.assign(count, kNoNode);
    bool any = false;
    for (NodeId id = 0; id < count; id++) {
      factory_.set_address(f_[id].address);
      NodeId made = quotient(id);
      if (made == kNoNode) made = narrowed(id);
      if (made == kNoNode || f_[made].type != f_[id].type) continue;
      becomes_[id] = made;
      any = true;
    }
    if (any) replace_uses();
  }

 private:
  bool is_pure(NodeId id, TraceOp op) const {
    return id != kNoNode && f_[id].kind == Kind::kPure && f_[id].op == op;
  }
  std::optional<uint64_t> constant(NodeId id) const {
    return id != kNoNode && f_[id].kind == Kind::kConst ? std::optional(f_[id].bits) : std::nullopt;
  }
  bool is_shift(NodeId id, TraceOp op, uint64_t count) const {
    return is_pure(id, op) && constant(f_[id].args[1]) == count;
  }

  std::optional<Scaled> scaled(NodeId id, int depth = 0) const {
    const Node& n = f_[id];
    if (depth > 3) return std::nullopt;
    if (n.kind == Kind::kUMulHigh || n.kind == Kind::kSMulHigh) return high_half(n);
    if (n.kind == Kind::kTrunc && n.type == Type::kI32) return upper_word(n);
    if (n.kind != Kind::kPure || !is_index_type(n.type)) return std::nullopt;
    switch (n.op) {
      case TraceOp::kShr:
      case TraceOp::kSar: return shifted(n, depth);
      case TraceOp::kAdd: {
        const std::optional<Scaled> a = completed(n.args[0], n.args[1], depth);
        return a ? a : completed(n.args[1], n.args[0], depth);
      }
      default: return std::nullopt;
    }
  }

  std::optional<Scaled> high_half(const Node& n) const {
    const bool comes_first = constant(n.args[0]).has_value();
    const NodeId x = n.args[comes_first ? 1 : 0];
    const auto by = constant(n.args[comes_first ? 0 : 1]);
    if (!by) return std::nullopt;
    const bool is_signed = n.kind == Kind::kSMulHigh;
    const Wide multiplier = is_signed ? Wide{static_cast<int64_t>(*by)} : Wide{*by};
    return Scaled{x, is_signed, multiplier, 64, 64, used_bits(x)};
  }

  // The upper half of a product of 64 bits, or what lies above that.
  std::optional<Scaled> upper_word(const Node& n) const {
    const Node& shift = f_[n.args[0]];
    if (shift.kind != Kind::kPure || shift.type != Type::kI64) return std::nullopt;
    const auto count = constant(shift.args[1]);
    if (!count || *count < 32 || *count > 63 || !is_pure(shift.args[0], TraceOp::kMul))
      return std::nullopt;
    const Node &product = f_[shift.args[0]], &wide = f_[product.args[0]];
    const auto by = constant(product.args[1]);
    if (!by || wide.args[0] == kNoNode || f_[wide.args[0]].type != Type::kI32) return std::nullopt;
    const bool is_signed = wide.kind == Kind::kSext;
    if (!is_signed && wide.kind != Kind::kZext) return std::nullopt;
    const Wide multiplier = is_signed ? Wide{static_cast<int64_t>(*by)} : Wide{*by};
    const Wide limit = Wide{1} << 32;
    if (multiplier >= limit || multiplier <= -limit) return std::nullopt;  // would overflow
    const bool keeps_sign = shift.op == TraceOp::kSar || *count == 32;
    if ((shift.op != TraceOp::kShr && shift.op != TraceOp::kSar) || (is_signed && !keeps_sign))
      return std::nullopt;
    if (!is_signed && shift.op == TraceOp::kSar) return std::nullopt;
    return Scaled{wide.args[0],           is_signed, multiplier, static_cast<int>(*count), 32,
                  used_bits(wide.args[0])};
  }

  std::optional<Scaled> shifted(const Node& n, int depth) const {
    const auto count = constant(n.args[1]);
    if (!count || *count >= static_cast<uint64_t>(type_bits(n.type))) return std::nullopt;
    if (n.op == TraceOp::kShr && is_pure(n.args[0], TraceOp::kMul))
      if (const std::optional<Scaled> s = small_product(n, static_cast<int>(*count))) return s;
    std::optional<Scaled> s = scaled(n.args[0], depth + 1);
    if (!s || s->bits != type_bits(n.type) || s->is_signed != (n.op == TraceOp::kSar))
      return std::nullopt;
    s->shift += static_cast<int>(*count);
    return s->shift <= kMostShift ? s : std::nullopt;
  }

  // Of a number whose product fits the register.
  std::optional<Scaled> small_product(const Node& n, int count) const {
    const Node& product = f_[n.args[0]];
    const auto by = constant(product.args[1]);
    const int used = used_bits(product.args[0]), bits = type_bits(n.type);
    if (!by || used >= bits || Wide{*by} << used > Wide{1} << bits) return std::nullopt;
    return Scaled{product.args[0], false, Wide{*by}, count, bits, used};
  }

  // x + the high half of x * (M - 2^bits); without signs as (x - half) / 2 + half.
  std::optional<Scaled> completed(NodeId half, NodeId other, int depth) const {
    std::optional<Scaled> s = scaled(half, depth + 1);
    if (!s || s->shift != s->bits) return std::nullopt;
    if (s->is_signed) {
      if (s->x != other || s->multiplier >= 0) return std::nullopt;
    } else {
      const bool is_half = is_shift(other, TraceOp::kShr, 1);
      const NodeId rest = is_half ? f_[other].args[0] : kNoNode;
      if (!is_pure(rest, TraceOp::kSub) || f_[rest].args[0] != s->x || f_[rest].args[1] != half)
        return std::nullopt;
      s->shift++;
    }
    s->multiplier += Wide{1} << s->bits;
    return s;
  }

  // How many low bits of a number without sign can be set.
  int used_bits(NodeId id) const {
    const Node& n = f_[id];
    if (n.kind == Kind::kZext) return used_bits(n.args[0]);
    const auto by = n.kind == Kind::kPure ? constant(n.args[1]) : std::nullopt;
    if (by && n.op == TraceOp::kShr && *by < static_cast<uint64_t>(type_bits(n.type)))
      return type_bits(n.type) - static_cast<int>(*by);
    return type_bits(n.type);
  }

  // The divisor that this is right with for every x, or 0.
  static uint64_t divisor_of(const Scaled& s) {
    if (s.multiplier <= 1) return 0;
    const Wide power = Wide{1} << s.shift;
    const Wide divisor = (power + s.multiplier - 1) / s.multiplier;
    const Wide excess = s.multiplier * divisor - power;
    if (divisor < 2 || divisor >> 31 != 0 || (s.is_signed && excess == 0)) return 0;
    // x < 2^magnitude, or -x <= 2^magnitude, where equality does no harm.
    const int magnitude = s.is_signed ? s.bits - 1 : s.used;
    if (excess >> 60 != 0) return 0;
    return excess << magnitude <= power ? static_cast<uint64_t>(divisor) : 0;
  }

  NodeId quotient(NodeId id) {
    const Node n = f_[id];
    if (const std::optional<Scaled> s = scaled(id); s && !s->is_signed)
      return division(*s, Kind::kUDiv);
    if (n.kind != Kind::kPure || !is_index_type(n.type)) return kNoNode;
    if (n.op == TraceOp::kAnd) return rounded_down(n);
    if (n.op == TraceOp::kSub) return with_sign(n, n.args[0], n.args[1], TraceOp::kSar);
    if (n.op != TraceOp::kAdd) return kNoNode;
    const NodeId one = with_sign(n, n.args[0], n.args[1], TraceOp::kShr);
    return one != kNoNode ? one : with_sign(n, n.args[1], n.args[0], TraceOp::kShr);
  }

  // A quotient times a power of two: the last shift became a mask.
  NodeId rounded_down(const Node& n) {
    const auto mask = constant(n.args[1]);
    if (!mask) return kNoNode;
    const auto bits = static_cast<uint64_t>(-sign_extended(*mask, n.type));
    std::optional<Scaled> s = scaled(n.args[0]);
    if (!s || s->is_signed || s->bits != type_bits(n.type) || !std::has_single_bit(bits))
      return kNoNode;
    const int count = std::countr_zero(bits);
    s->shift += count;
    const NodeId whole = division(*s, Kind::kUDiv);
    if (whole == kNoNode || f_[whole].type != n.type) return kNoNode;
    return factory_.pure(TraceOp::kShl, n.type, whole,
                         factory_.constant(n.type, static_cast<uint64_t>(count)));
  }

  NodeId with_sign(const Node& n, NodeId floored, NodeId sign, TraceOp shift) {
    const std::optional<Scaled> s = scaled(floored);
    if (!s || !s->is_signed || s->bits != type_bits(n.type)) return kNoNode;
    return is_sign_of(sign, *s, shift) ? division(*s, Kind::kSDiv) : kNoNode;
  }

  // 1 (kSar: -1) where x is negative: its own sign or that of its positive multiple.
  bool is_sign_of(NodeId id, const Scaled& s, TraceOp shift) const {
    if (is_shift(id, shift, static_cast<uint64_t>(s.bits - 1))) {
      const NodeId of = f_[id].args[0];
      if (of == s.x) return true;
      const std::optional<Scaled> multiple = scaled(of);
      return multiple && multiple->is_signed && multiple->x == s.x && multiple->multiplier > 0;
    }
    if (f_[id].kind != Kind::kTrunc || !is_shift(f_[id].args[0], TraceOp::kShr, 63)) return false;
    const NodeId product = f_[f_[id].args[0]].args[0];
    if (!is_pure(product, TraceOp::kMul)) return false;
    const Node& wide = f_[f_[product].args[0]];
    const auto by = constant(f_[product].args[1]);
    return wide.kind == Kind::kSext && wide.args[0] == s.x && by && *by >> 32 == 0;
  }

  NodeId division(const Scaled& s, Kind kind) {
    const uint64_t divisor = divisor_of(s);
    if (divisor == 0) return kNoNode;
    const Node x = f_[s.x];
    // Of a number that was widened for the product alone.
    const bool is_widened = kind == Kind::kUDiv && x.kind == Kind::kZext && x.type == Type::kI64 &&
                            f_[x.args[0]].type == Type::kI32;
    const NodeId number = is_widened ? x.args[0] : s.x;
    const Type type = f_[number].type;
    const NodeId made = factory_.add(
        {.kind = kind, .type = type, .args = {number, factory_.constant(type, divisor), kNoNode}});
    return is_widened ? factory_.convert(made, Type::kI64) : made;
  }

  // What was widened for a product and is cut off again.
  NodeId narrowed(NodeId id) const {
    const Node& n = f_[id];
    if (n.kind != Kind::kTrunc || becomes_[n.args[0]] == kNoNode) return kNoNode;
    const Node& wide = f_[becomes_[n.args[0]]];
    return wide.kind == Kind::kZext ? wide.args[0] : kNoNode;
  }

  void replace_uses() {
    const auto renew = [&](NodeId& id) {
      while (id < becomes_.size() && becomes_[id] != kNoNode) id = becomes_[id];
    };
    for (Node& n : f_.nodes)
      for (NodeId& arg : n.args) renew(arg);
    for (Block& block : f_.blocks) {
      renew(block.condition);
      for (Phi& phi : block.phis)
        for (NodeId& arg : phi.args) renew(arg);
    }
    renew(f_.result);
  }

  Function& f_;
  NodeFactory factory_;
  std::vector<NodeId> becomes_;  // of each node that was there; kNoNode: stays
};

}  // namespace

void recognise_divisions(Function& function) { Divisions(function).run(); }

}  // namespace nrd::lift
