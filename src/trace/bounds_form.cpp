// SPDX-License-Identifier: MIT
// src/trace/bounds_form.cpp: the largest value of a linear form, by elimination.
#include <algorithm>

#include "trace/bounds.h"
#include "trace/liveness.h"
#include "trace/op_info.h"

namespace nrd {
namespace {

int64_t limited_product(int64_t a, int64_t b) { return limited(static_cast<__int128>(a) * b); }

int64_t limited_sum(int64_t a, int64_t b) {
  return std::clamp(a + b, kUnboundedLow, kUnboundedHigh);
}

}  // namespace

Range Bounds::range(const LinearForm& form, const Guards& guards) {
  if (form.is_number() && guards.empty()) return {form.constant, form.constant};
  const std::optional<LinearForm> negated = scale(form, -1);
  if (!negated) return {};
  return {-upper(*negated, guards), upper(form, guards)};
}

// A condition L >= 0 may be added any number of times: form <= form + a * L for every a >= 0. Those
// that make a term vanish are worth trying.
int64_t Bounds::upper(const LinearForm& form, const Guards& guards) {
  int64_t best = upper_alone(form, guards);
  for (size_t g = 0; g < guards.size() && left_ > 0; g++)
    for (const LinearForm::Term& term : guards[g].terms) {
      const int64_t mine = form.factor_of(term.atom);
      if (mine == 0 || (mine > 0) == (term.factor > 0) || mine % term.factor != 0) continue;
      const std::optional<LinearForm> sum = add(form, guards[g], -(mine / term.factor));
      if (!sum) continue;
      left_--;
      Guards others = guards;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(g));
      best = std::min(best, upper(*sum, others));
    }
  return best;
}

// Quotients first, so that remainders of the same division are still there; counters last, the
// innermost before those its extent may depend on.
LinearForm::Term Bounds::next_to_replace(const LinearForm& form) const {
  auto order = [&](ValueId id) {
    const TraceOp op = trace_[id].op;
    if (op == TraceOp::kDivFloor || op == TraceOp::kShr || op == TraceOp::kSar) return 1 << 20;
    if (op != TraceOp::kIv) return 1 << 19;
    return depth_of_loop_[loop_of_iv_[id]];
  };
  return *std::max_element(form.terms.begin(), form.terms.end(), [&](const auto& a, const auto& b) {
    return order(a.atom) < order(b.atom);
  });
}

int64_t Bounds::upper_replaced(const LinearForm& form, ValueId atom, const LinearForm& by,
                               const Guards& guards) {
  const std::optional<LinearForm> replaced = substitute(form, atom, by);
  return replaced ? upper_alone(*replaced, guards) : kUnboundedHigh;
}

int64_t Bounds::upper_alone(const LinearForm& form, const Guards& guards) {
  if (form.is_number()) return std::clamp(form.constant, kUnboundedLow, kUnboundedHigh);
  if (left_ <= 0) {  // each atom for itself
    int64_t sum = std::clamp(form.constant, kUnboundedLow, kUnboundedHigh);
    for (const LinearForm::Term& term : form.terms) {
      const Range r = atom_range(term.atom);
      sum = limited_sum(sum, limited_product(term.factor, term.factor > 0 ? r.high : r.low));
    }
    return sum;
  }
  left_--;
  const LinearForm::Term term = next_to_replace(form);
  const Value& v = trace_[term.atom];
  if (v.op == TraceOp::kIv) {
    const LinearForm& extent = this->form(trace_.loops[v.index].extent);
    const std::optional<LinearForm> last = add(extent, LinearForm::number(-1));
    if (term.factor < 0) return upper_replaced(form, term.atom, LinearForm::number(0), guards);
    return last ? upper_replaced(form, term.atom, *last, guards) : kUnboundedHigh;
  }
  const Range r = atom_range(term.atom);
  const int64_t end = term.factor > 0 ? r.high : r.low;
  int64_t best = kUnboundedHigh;
  if (end > kUnboundedLow && end < kUnboundedHigh)
    best = upper_replaced(form, term.atom, LinearForm::number(end), guards);
  best = std::min(best, upper_of_choice(form, term, guards));
  return std::min(best, upper_of_quotient(form, term, guards));
}

// Whether some condition cannot hold.
bool Bounds::never(const Guards& guards) {
  return std::any_of(guards.begin(), guards.end(),
                     [&](const LinearForm& f) { return upper_alone(f, {}) < 0; });
}

// A minimum, maximum or select is one of its two values; a conversion that changes nothing here is
// its operand.
int64_t Bounds::upper_of_choice(const LinearForm& form, LinearForm::Term term,
                                const Guards& guards) {
  const Value& v = trace_[term.atom];
  auto with = [&](ValueId by, const Guards& g) {
    const std::optional<LinearForm> replaced = substitute(form, term.atom, this->form(by));
    return replaced ? upper(*replaced, g) : kUnboundedHigh;
  };
  if (v.op == TraceOp::kMin || v.op == TraceOp::kMax) {
    const int64_t a = with(v.args[0], guards), b = with(v.args[1], guards);
    return (v.op == TraceOp::kMin) == (term.factor > 0) ? std::min(a, b) : std::max(a, b);
  }
  if (v.op == TraceOp::kSelect) {
    int64_t most = kUnboundedLow;
    for (const bool holds : {true, false}) {
      Guards g = guards;
      add_guards(v.args[0], holds, g);
      const bool never = std::any_of(
          g.begin(), g.end(), [](const LinearForm& f) { return f.is_number() && f.constant < 0; });
      if (!never) most = std::max(most, with(v.args[holds ? 1 : 2], g));
    }
    return most;
  }
  if (v.op == TraceOp::kUToI64 && range(this->form(v.args[0]), guards).low >= 0)
    return with(v.args[0], guards);
  return kUnboundedHigh;
}

// c * (e / c) = e - e % c, with the remainder that the form has already or between 0 and c - 1.
int64_t Bounds::upper_of_quotient(const LinearForm& form, LinearForm::Term term,
                                  const Guards& guards) {
  const Value& v = trace_[term.atom];
  if (v.op != TraceOp::kDivFloor && v.op != TraceOp::kShr && v.op != TraceOp::kSar)
    return kUnboundedHigh;
  if (v.op == TraceOp::kShr && range(v.args[0]).low < 0) return kUnboundedHigh;
  const LinearForm& by = this->form(v.args[1]);
  const bool shift = v.op != TraceOp::kDivFloor;
  if (!by.is_number() || by.constant < 1 || (shift && by.constant > 40)) return kUnboundedHigh;
  const int64_t c = shift ? int64_t{1} << by.constant : by.constant;
  if (term.factor % c != 0) return kUnboundedHigh;
  const int64_t times = term.factor / c;
  std::optional<LinearForm> rest = substitute(form, term.atom, LinearForm::number(0));
  if (rest) rest = add(*rest, this->form(v.args[0]), times);
  if (!rest) return kUnboundedHigh;
  for (const LinearForm::Term& other : form.terms) {
    const Value& o = trace_[other.atom];
    const bool remainder = o.args[0] == v.args[0] &&
                           ((o.op == TraceOp::kModFloor && this->form(o.args[1]).is_number() &&
                             this->form(o.args[1]).constant == c) ||
                            (o.op == TraceOp::kAnd && this->form(o.args[1]).is_number() &&
                             this->form(o.args[1]).constant == c - 1));
    if (!remainder) continue;
    rest = add(*rest, LinearForm::of(other.atom), -times);
    return rest ? upper(*rest, guards) : kUnboundedHigh;
  }
  if (times < 0) rest = add(*rest, LinearForm::number(limited_product(-times, c - 1)));
  return rest ? upper(*rest, guards) : kUnboundedHigh;
}

// What a condition says about integers. What it says about anything else, and one of two
// alternatives, is left out.
void Bounds::add_guards(ValueId condition, bool holds, Guards& guards) {
  const Value& v = trace_[condition];
  if (v.op == TraceOp::kNot) return add_guards(v.args[0], !holds, guards);
  const bool both = v.op == (holds ? TraceOp::kAnd : TraceOp::kOr);
  if (both && v.type == TraceType::kBool) {
    add_guards(v.args[0], holds, guards);
    add_guards(v.args[1], holds, guards);
    return;
  }
  if (v.op != TraceOp::kCmp || is_float(trace_[v.args[0]].type)) return;
  if (trace_[v.args[0]].type == TraceType::kBool) return;
  add_comparison(holds ? v.predicate : negation(v.predicate), v.args[0], v.args[1], guards);
}

void Bounds::add_comparison(Predicate p, ValueId a, ValueId b, Guards& guards) {
  auto at_least = [&](ValueId high, ValueId low, int64_t distance) {  // high >= low + distance
    std::optional<LinearForm> f = add(form(high), form(low), -1);
    if (f) f = add(*f, LinearForm::number(-distance));
    if (f) guards.push_back(*f);
  };
  // An unsigned order is the signed one between numbers that are not negative, and what is below
  // such a number is not negative either.
  auto unsigned_above = [&](ValueId high, ValueId low, int64_t distance) {
    if (range(high).low < 0) return;
    at_least(high, low, distance);
    if (range(low).low < 0) guards.push_back(form(low));
  };
  switch (p) {
    case Predicate::kEq: at_least(a, b, 0), at_least(b, a, 0); break;
    case Predicate::kNe: {
      const std::optional<LinearForm> difference = add(form(a), form(b), -1);
      if (!difference) break;
      const Range r = range(*difference, {});
      if (r.low == 0) at_least(a, b, 1);
      if (r.high == 0) at_least(b, a, 1);
      break;
    }
    case Predicate::kLt: at_least(b, a, 1); break;
    case Predicate::kLe: at_least(b, a, 0); break;
    case Predicate::kGt: at_least(a, b, 1); break;
    case Predicate::kGe: at_least(a, b, 0); break;
    case Predicate::kB: unsigned_above(b, a, 1); break;
    case Predicate::kBe: unsigned_above(b, a, 0); break;
    case Predicate::kA: unsigned_above(a, b, 1); break;
    case Predicate::kAe: unsigned_above(a, b, 0); break;
    default: break;
  }
}

}  // namespace nrd
