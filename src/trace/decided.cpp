// SPDX-License-Identifier: MIT
// src/trace/decided.cpp: ranges along the arms of selects.
#include "trace/decided.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "trace/op_info.h"

namespace nrd {
namespace {

constexpr int kMostSelects = 8;  // on the way to a leaf

class Decider {
 public:
  Decider(std::span<const Value> values, Predicate predicate, double limit)
      : values_(values), predicate_(predicate), limit_(limit) {}

  std::optional<bool> decide(ValueId x) {
    const Value& v = values_[x];
    if (v.op == TraceOp::kSelect && facts_.size() < kMostSelects) {
      const std::optional<bool> yes = on_arm(v, true), no = on_arm(v, false);
      return yes == no ? yes : std::nullopt;
    }
    const Range range = range_of(x);
    if (predicate_ == Predicate::kOrd) return range.may_be_nan ? std::nullopt : std::optional(true);
    if (range.high < limit_) return false;
    if (range.low >= limit_ && !range.may_be_nan) return true;
    return std::nullopt;
  }

  double number(const Value& v) const {
    if (v.type == TraceType::kF64) return std::bit_cast<double>(v.bits);
    return std::bit_cast<float>(static_cast<uint32_t>(v.bits));
  }

 private:
  struct Fact {
    Predicate predicate;
    ValueId a, b;
  };
  struct Range {
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
    bool may_be_nan = true;
  };

  std::optional<bool> on_arm(const Value& select, bool holds) {
    const Value& test = values_[select.args[0]];
    if (test.op != TraceOp::kCmp) return std::nullopt;
    const Predicate known = holds ? test.predicate : negation(test.predicate);
    facts_.push_back({known, test.args[0], test.args[1]});
    const std::optional<bool> outcome = decide(select.args[holds ? 1 : 2]);
    facts_.pop_back();
    return outcome;
  }

  Range range_of(ValueId x) const {
    Range range;
    const Value& v = values_[x];
    if (v.op == TraceOp::kConst) return {number(v), number(v), std::isnan(number(v))};
    for (const Fact& fact : facts_) {
      if (fact.a != x) continue;
      if (fact.predicate == Predicate::kOrd && fact.b == x) range.may_be_nan = false;
      if (values_[fact.b].op != TraceOp::kConst) continue;
      const double c = number(values_[fact.b]);
      switch (fact.predicate) {
        case Predicate::kOlt:
        case Predicate::kOle: range.may_be_nan = false; [[fallthrough]];
        case Predicate::kUlt:
        case Predicate::kUle: range.high = std::min(range.high, c); break;
        case Predicate::kOgt:
        case Predicate::kOge: range.may_be_nan = false; [[fallthrough]];
        case Predicate::kUgt:
        case Predicate::kUge: range.low = std::max(range.low, c); break;
        default: break;
      }
    }
    return range;
  }

  std::span<const Value> values_;
  Predicate predicate_;
  double limit_;
  std::vector<Fact> facts_;
};

}  // namespace

std::optional<bool> decided(std::span<const Value> values, const Value& comparison) {
  if (comparison.op != TraceOp::kCmp || !is_float(values[comparison.args[0]].type)) {
    return std::nullopt;
  }
  const Value& limit = values[comparison.args[1]];
  const bool asks_order =
      comparison.predicate == Predicate::kOrd && comparison.args[0] == comparison.args[1];
  const bool asks_limit = comparison.predicate == Predicate::kOge && limit.op == TraceOp::kConst;
  if (!asks_order && !asks_limit) return std::nullopt;
  Decider decider(values, comparison.predicate, 0);
  if (asks_limit) decider = {values, comparison.predicate, decider.number(limit)};
  return decider.decide(comparison.args[0]);
}

}  // namespace nrd
