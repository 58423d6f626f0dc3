// SPDX-License-Identifier: MIT
// src/trace/assumption.h: what a function assumes of its integers: "n >= 1, n % 2 == 0".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace nrd {

// One condition on the integers of a function, which are counted as its parameters list them.
struct Assumption {
  enum class Kind : uint8_t {
    kAtLeast,    // a >= c
    kAtMost,     // a <= c
    kRemainder,  // a % c == r
    kDivides,    // a % b == 0, where b is no 0
    kNotLess,    // a >= b
    kGreater,    // a > b
    kEqual,      // a == b
  };
  Kind kind = Kind::kAtLeast;
  uint8_t a = 0, b = 0;
  int64_t c = 0, r = 0;
  bool operator==(const Assumption&) const = default;
};

// Sizes are taken to be no larger where they are counted with data.
constexpr int64_t kLargestSize = int64_t{1} << 20;

// All of them hold in every call that the function can stand.
struct Assumptions {
  std::vector<Assumption> list;
  std::vector<std::string> names;  // of the integers
  // Of each integer: whether it may be negative too. Where nothing is said none may.
  std::vector<bool> negative = {};

  bool takes_negative(size_t integer) const {
    return integer < negative.size() && negative[integer];
  }
  bool empty() const { return list.empty(); }
  bool hold(std::span<const int64_t> integers) const;
  std::string text() const;  // "n >= 1, n % 2 == 0"; empty where there is none
};

// The error names the first one that does not hold. No integers more or less than names.
Expected<void> check_assumptions(const Assumptions& assumptions, std::span<const int64_t> integers,
                                 std::string_view op);

// Integers that a function was tried with, and whether it got through.
struct Tried {
  std::vector<int64_t> integers;
  bool defined = false;
};

// A few conditions that hold wherever the function was defined (but perhaps where an integer is 0
// and there was nothing to do), one of which fails wherever it was not. Nothing where no such list
// of simple conditions exists.
std::optional<std::vector<Assumption>> infer_assumptions(std::span<const Tried> tried);

}  // namespace nrd
