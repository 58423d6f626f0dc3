// SPDX-License-Identifier: MIT
// src/trace/assumption.cpp: candidates in order of simplicity, then the few that explain it all.
#include "trace/assumption.h"

#include <fmt/format.h>

#include <algorithm>

namespace nrd {
namespace {

using Kind = Assumption::Kind;

bool holds(const Assumption& x, std::span<const int64_t> integers) {
  const int64_t a = integers[x.a], b = integers[x.b];
  switch (x.kind) {
    case Kind::kAtLeast: return a >= x.c;
    case Kind::kAtMost: return a <= x.c;
    case Kind::kRemainder: return ((a % x.c) + x.c) % x.c == x.r;
    case Kind::kDivides: return b > 0 && a % b == 0;
    case Kind::kNotLess: return a >= b;
    case Kind::kGreater: return a > b;
    case Kind::kEqual: return a == b;
  }
  return false;
}

std::string text_of(const Assumption& x, const std::vector<std::string>& names) {
  const std::string &a = names[x.a], &b = names[x.b];
  switch (x.kind) {
    case Kind::kAtLeast: return fmt::format("{} >= {}", a, x.c);
    case Kind::kAtMost: return fmt::format("{} <= {}", a, x.c);
    case Kind::kRemainder: return fmt::format("{} % {} == {}", a, x.c, x.r);
    case Kind::kDivides: return fmt::format("{} % {} == 0", a, b);
    case Kind::kNotLess: return fmt::format("{} >= {}", a, b);
    case Kind::kGreater: return fmt::format("{} > {}", a, b);
    case Kind::kEqual: return fmt::format("{} == {}", a, b);
  }
  return {};
}

// Conditions of the lifter's rather than of the function's.
bool is_of_proof(const Assumption& x) {
  return (x.kind == Kind::kAtLeast && x.c == 0) || (x.kind == Kind::kAtMost && x.c == kLargestSize);
}

// An upper bound below this is an accident of the samples rather than what a function asks for.
constexpr int64_t kLeastUpperBound = 8;

// Simple ones first: of two that explain as much, the earlier is taken.
std::vector<Assumption> candidates(std::span<const Tried> tried) {
  const auto count = static_cast<uint8_t>(tried.front().integers.size());
  std::vector<Assumption> list;
  for (uint8_t a = 0; a < count; a++) {
    for (int64_t c = 1; c <= 40; c++) list.push_back({Kind::kAtLeast, a, 0, c, 0});
    for (const int64_t c : {2, 3, 4, 5, 6, 7, 8, 16, 32}) {
      for (int64_t r = 0; r < std::min<int64_t>(c, 8); r++)
        list.push_back({Kind::kRemainder, a, 0, c, r});
    }
    for (uint8_t b = 0; b < count; b++) {
      if (a == b) continue;
      list.push_back({Kind::kNotLess, a, b, 0, 0});
      list.push_back({Kind::kGreater, a, b, 0, 0});
      list.push_back({Kind::kDivides, a, b, 0, 0});
      if (a < b) list.push_back({Kind::kEqual, a, b, 0, 0});
    }
  }
  for (uint8_t a = 0; a < count; a++) {
    int64_t most = 0;
    for (const Tried& t : tried)
      if (t.defined) most = std::max(most, t.integers[a]);
    if (most >= kLeastUpperBound) list.push_back({Kind::kAtMost, a, 0, most, 0});
  }
  return list;
}

}  // namespace

bool Assumptions::hold(std::span<const int64_t> integers) const {
  for (size_t i = 0; i < integers.size(); i++)
    if (integers[i] < 0 && !takes_negative(i)) return false;
  return std::all_of(list.begin(), list.end(),
                     [&](const Assumption& x) { return holds(x, integers); });
}

std::string Assumptions::text() const {
  std::string all;
  for (const Assumption& x : list) all += (all.empty() ? "" : ", ") + text_of(x, names);
  return all;
}

Expected<void> check_assumptions(const Assumptions& assumptions, std::span<const int64_t> integers,
                                 std::string_view op) {
  for (const Assumption& x : assumptions.list) {
    if (holds(x, integers)) continue;
    const bool two = x.kind == Kind::kDivides || x.kind >= Kind::kNotLess;
    std::string got = fmt::format("{}", integers[x.a]);
    if (two) got += fmt::format(" with {} {}", assumptions.names[x.b], integers[x.b]);
    return make_error({.code = ErrorCode::kInvalidArgument,
                       .op = std::string(op),
                       .argument = assumptions.names[x.a],
                       .got = std::move(got),
                       .allowed = text_of(x, assumptions.names),
                       .hint = is_of_proof(x) ? "the function was proved for such values only"
                                              : "the function is not defined otherwise"});
  }
  for (size_t i = 0; i < integers.size() && i < assumptions.names.size(); i++) {
    if (integers[i] >= 0 || assumptions.takes_negative(i)) continue;
    return make_error({.code = ErrorCode::kInvalidArgument,
                       .op = std::string(op),
                       .argument = assumptions.names[i],
                       .got = fmt::format("{}", integers[i]),
                       .allowed = fmt::format("{} >= 0", assumptions.names[i]),
                       .hint = "the function was proved for such values only"});
  }
  return {};
}

namespace {

// Whether a loop over one of the integers would have nothing to do.
bool is_trivial(const Tried& t) {
  return std::find(t.integers.begin(), t.integers.end(), 0) != t.integers.end();
}

// A greedy cover: each step takes the candidate that excludes most of what is left. `strictly`:
// what is defined is never excluded; else it may be where an integer is 0.
std::optional<std::vector<Assumption>> cover(std::span<const Tried> tried, bool strictly) {
  std::vector<const Tried*> left;
  for (const Tried& t : tried)
    if (!t.defined) left.push_back(&t);
  if (left.empty()) return std::vector<Assumption>();
  if (tried.front().integers.empty()) return std::nullopt;
  std::vector<Assumption> necessary = candidates(tried);
  std::erase_if(necessary, [&](const Assumption& x) {
    return std::any_of(tried.begin(), tried.end(), [&](const Tried& t) {
      return t.defined && (strictly || !is_trivial(t)) && !holds(x, t.integers);
    });
  });
  std::vector<Assumption> chosen;
  while (!left.empty()) {
    const Assumption* best = nullptr;
    ptrdiff_t most = 0;
    for (const Assumption& x : necessary) {
      const ptrdiff_t excluded = std::count_if(
          left.begin(), left.end(), [&](const Tried* t) { return !holds(x, t->integers); });
      if (excluded > most) best = &x, most = excluded;
    }
    if (best == nullptr) return std::nullopt;
    chosen.push_back(*best);
    std::erase_if(left, [&](const Tried* t) { return !holds(*best, t->integers); });
  }
  return chosen;
}

}  // namespace

// i / m over nothing is defined for m = 0 too; that m is not 0 is the condition all the same.
std::optional<std::vector<Assumption>> infer_assumptions(std::span<const Tried> tried) {
  std::optional<std::vector<Assumption>> found = cover(tried, true);
  return found ? found : cover(tried, false);
}

}  // namespace nrd
