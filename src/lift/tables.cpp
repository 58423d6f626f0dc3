// SPDX-License-Identifier: MIT
// src/lift/tables.cpp: see tables.h.
//
// How long a table is stands nowhere in machine code: what counts is between which numbers its
// index lies, and that all of that is read-only.
#include "lift/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "lift/affine.h"
#include "lift/simplify.h"
#include "lift/value_range.h"

namespace nrd::lift {
namespace {

constexpr int kMaxAddressDepth = 10;
constexpr int64_t kMaxElements = 1024;  // each stands in the trace
constexpr size_t kMaxTerms = 4;
constexpr int64_t kMaxFactor = int64_t{1} << 20;
constexpr size_t kFewElements = 2;  // those are a choice, whatever may be known of them

// constant + the sum of factor * index, in bytes.
struct Address {
  struct Term {
    NodeId index = kNoNode;
    int64_t factor = 0;
    Interval range;
  };
  uint64_t constant = 0;
  std::vector<Term> terms;
};

class Tables {
 public:
  Tables(Function& function, const Image& image)
      : f_(function), factory_(function), ranges_(function), image_(image) {}

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
    if (!split(load.args[0], 1, address, 0) || address.terms.empty()) return false;
    Interval range{0, 0};  // in elements
    for (Address::Term& term : address.terms) {
      term.range = ranges_.of(term.index, load.index);
      if (!in_elements(term, bytes, address.constant)) return false;
      range = term.range.is_known() ? Interval{range.low + term.factor * term.range.low,
                                               range.high + term.factor * term.range.high}
                                    : Interval{};
      if (!range.is_known()) break;
    }
    uint64_t bits = 0;
    if (range.count() < 1 || range.count() > kMaxElements) {
      if (!image_.read_only(address.constant, static_cast<size_t>(bytes), &bits)) return false;
      refuse(load, range);
    }
    std::vector<uint64_t> elements;
    for (int64_t i = range.low; i <= range.high; i++) {
      bits = 0;
      const uint64_t at = address.constant + static_cast<uint64_t>(i * bytes);
      if (!image_.read_only(at, static_cast<size_t>(bytes), &bits)) return false;
      elements.push_back(bits);
    }
    const NodeId chosen = choice(load.type, index_of(address, range.low), std::move(elements));
    if (chosen == kNoNode) return false;
    f_.nodes[id] = f_[chosen];  // uses of the load stay what they are
    f_.nodes[id].address = load.address;
    return true;
  }

  [[noreturn]] static void refuse(const Node& load, const Interval& range) {
    const bool is_known = range.count() > 0 && range.count() <= int64_t{1} << 31;
    throw Refusal{fmt::format(
        "the table that is read at {:#x} has an index {}", load.address,
        is_known
            ? fmt::format("from {} to {}: more elements than a trace holds", range.low, range.high)
            : "of which nothing says that it lies within the table")};
  }

  bool split(NodeId id, int64_t factor, Address& out, int depth) {
    const Node n = f_[id];
    if (n.kind == Kind::kConst) {
      out.constant += static_cast<uint64_t>(factor * sign_extended(n.bits, n.type));
      return true;
    }
    const bool is_word = n.type == Type::kI64 && n.kind == Kind::kPure && depth < kMaxAddressDepth;
    if (is_word && n.op == TraceOp::kAdd)
      return split(n.args[0], factor, out, depth + 1) && split(n.args[1], factor, out, depth + 1);
    if (is_word && n.args[1] != kNoNode && f_[n.args[1]].kind == Kind::kConst) {
      const uint64_t by = f_[n.args[1]].bits;
      if (n.op == TraceOp::kMul && by < 1024)
        return split(n.args[0], factor * static_cast<int64_t>(by), out, depth + 1);
      if (n.op == TraceOp::kShl && by < 10) return split(n.args[0], factor << by, out, depth + 1);
    }
    if (out.terms.size() >= kMaxTerms || factor > kMaxFactor) return false;
    out.terms.push_back({without_constant(id, factor, out.constant), factor, {}});
    return true;
  }

  // The base may stand inside of a difference.
  NodeId without_constant(NodeId id, int64_t factor, uint64_t& constant) {
    const Node& n = f_[id];
    if (n.kind != Kind::kPure || n.op != TraceOp::kSub) return id;
    const int64_t inside = AffineForms(f_).of(id).constant;
    if (inside == 0) return id;
    constant += static_cast<uint64_t>(factor * inside);
    return factory_.pure(TraceOp::kAdd, n.type, id,
                         factory_.constant(n.type, static_cast<uint64_t>(-inside)));
  }

  // Factors of bytes become factors of elements. A pointer that walks over the table is where it
  // began and a number of steps.
  bool in_elements(Address::Term& term, int64_t bytes, uint64_t& constant) {
    if (term.factor % bytes == 0) return term.factor /= bytes, true;
    int64_t begin = 0;
    if (term.factor != 1 || !is_multiple(term.index, bytes, begin)) return false;
    const auto shift = static_cast<uint64_t>(std::countr_zero(static_cast<uint64_t>(bytes)));
    const Type type = f_[term.index].type;
    constant += static_cast<uint64_t>(begin);
    const NodeId offset = factory_.pure(TraceOp::kSub, type, term.index,
                                        factory_.constant(type, static_cast<uint64_t>(begin)));
    term.index = factory_.pure(TraceOp::kShr, type, offset, factory_.constant(type, shift));
    term.range = {(term.range.low - begin) / bytes, (term.range.high - begin) / bytes};
    return term.range.low >= 0;
  }

  // begin + a multiple of `bytes`.
  bool is_multiple(NodeId id, int64_t bytes, int64_t& begin) const {
    const Node& n = f_[id];
    if (n.kind == Kind::kZext) return is_multiple(n.args[0], bytes, begin);
    if (n.kind == Kind::kPure && n.op == TraceOp::kAnd && f_[n.args[1]].kind == Kind::kConst)
      return f_[n.args[1]].bits % static_cast<uint64_t>(bytes) == 0;
    if (n.kind != Kind::kPhi) return false;
    bool begins = false;
    for (const NodeId arg : f_.blocks[n.index].phis[n.bits].args) {
      const int64_t step = ranges_.step_of(arg, id);
      if (step != 0 && step % bytes == 0) continue;
      if (f_[arg].kind != Kind::kConst || begins) return false;
      begin = sign_extended(f_[arg].bits, f_[arg].type);
      begins = true;
    }
    return begins;
  }

  NodeId index_of(const Address& address, int64_t low) {
    NodeId sum = kNoNode;
    for (const Address::Term& term : address.terms) {
      const Node n = f_[term.index];
      const bool is_widened = n.kind == Kind::kZext || n.kind == Kind::kSext;
      const bool of_word = is_widened && f_[n.args[0]].type == Type::kI32;
      const NodeId index = of_word ? n.args[0] : factory_.convert(term.index, Type::kI32);
      const NodeId factor = factory_.constant(Type::kI32, static_cast<uint64_t>(term.factor));
      const NodeId part = factory_.pure(TraceOp::kMul, Type::kI32, index, factor);
      sum = sum == kNoNode ? part : factory_.pure(TraceOp::kAdd, Type::kI32, sum, part);
    }
    if (low == 0) return sum;
    return factory_.pure(TraceOp::kSub, Type::kI32, sum,
                         factory_.constant(Type::kI32, static_cast<uint64_t>(low)));
  }

  NodeId choice(Type type, NodeId index, std::vector<uint64_t> elements) {
    if (elements.size() <= kFewElements) return of_two(type, index, elements);
    if (type != Type::kI64) return lookup(type, index, std::move(elements));
    const bool is_narrow = std::all_of(elements.begin(), elements.end(), [](uint64_t bits) {
      return sign_extended(bits, Type::kI32) == static_cast<int64_t>(bits);
    });
    if (!is_narrow) return kNoNode;  // traces have no tables of 64-bit integers
    return factory_.convert(lookup(Type::kI32, index, std::move(elements)), Type::kI64, true);
  }

  NodeId of_two(Type type, NodeId index, const std::vector<uint64_t>& elements) {
    if (elements.size() == 1) return factory_.constant(type, elements[0]);
    const Type of_index = f_[index].type;
    const NodeId is_set = factory_.compare(Predicate::kNe, index, factory_.constant(of_index, 0));
    return factory_.select(is_set, factory_.constant(type, elements.back()),
                           factory_.constant(type, elements.front()));
  }

  NodeId lookup(Type type, NodeId index, std::vector<uint64_t> elements) {
    Node node{.kind = Kind::kPure,
              .op = TraceOp::kLookup,
              .type = type,
              .args = {index, kNoNode, kNoNode}};
    const ConstantTable table{type, std::move(elements)};
    const auto known = std::find(f_.tables.begin(), f_.tables.end(), table);
    node.bits = static_cast<uint64_t>(known - f_.tables.begin());
    if (known == f_.tables.end()) f_.tables.push_back(table);
    return factory_.add(node);
  }

  Function& f_;
  NodeFactory factory_;
  ValueRanges ranges_;
  const Image& image_;
};

}  // namespace

void resolve_tables(Function& function, const Image& image) { Tables(function, image).run(); }

}  // namespace nrd::lift
