// SPDX-License-Identifier: MIT
// src/trace/bounds.h: between which numbers the integers of a trace lie when its sizes are known.
//
// Integers are linear forms over loop counters and what is no sum (quotients, minima, loads). A
// form is bounded by replacing, innermost first, each counter by 0 or its extent - 1, whichever is
// farther; conditions that hold where the value is used tighten that. Arithmetic that may wrap in
// its type is bounded by the type alone. Bounds are never too narrow.
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "trace/linear_form.h"
#include "trace/trace.h"

namespace nrd {

// Beyond these nothing is known: no array is that long, and sums of a few such do not overflow.
constexpr int64_t kUnboundedLow = -(int64_t{1} << 60), kUnboundedHigh = int64_t{1} << 60;

struct Range {
  int64_t low = kUnboundedLow, high = kUnboundedHigh;
  bool is_number() const { return low == high; }
  bool is_within(int64_t least, int64_t most) const { return low >= least && high <= most; }
};

inline int64_t limited(__int128 v) {
  return static_cast<int64_t>(std::clamp<__int128>(v, kUnboundedLow, kUnboundedHigh));
}
inline Range unite(Range a, Range b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

struct FloatRange {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool nan = true;  // may be one
};

// What the elements of a pointer parameter lie in; of its dtype's values unless said.
struct LoadedRange {
  std::optional<Range> integers;
  std::optional<FloatRange> floats;
};

class Bounds {
 public:
  // `sizes`: of the size parameters, in order. `loaded`: by pointer, in order; may be empty.
  Bounds(const OpTrace& trace, std::span<const int64_t> sizes,
         std::span<const LoadedRange> loaded = {});

  // Of an integer value wherever its loops run; or only where `guard` (bool) holds and the loops
  // around `scope` run at all (low > high: nowhere).
  Range range(ValueId id);
  Range range_where(ValueId id, ValueId guard, std::span<const uint16_t> scope);
  FloatRange float_range(ValueId id);

 private:
  using Guards = std::vector<LinearForm>;  // each is >= 0

  // bounds.cpp: forms, and ranges of what is no sum
  const LinearForm& form(ValueId id);
  LinearForm make_form(ValueId id);
  std::optional<LinearForm> sum_form(const Value& v);
  LinearForm kept(const std::optional<LinearForm>& form, ValueId id);
  Range atom_range(ValueId id);
  Range make_range(const Value& v);
  Range load_range(const Value& v);
  Range select_range(const Value& v);
  Range counter_range(const Value& v);

  // bounds_carried.cpp: values that loops carry
  Range carried_range(const Value& v);
  std::optional<Range> increment(ValueId id, ValueId base, int depth);
  std::optional<Range> payloads(ValueId id, ValueId base, int depth);
  FloatRange float_select(const Value& v);

  // bounds_form.cpp: the elimination
  Range range(const LinearForm& form, const Guards& guards);
  int64_t upper(const LinearForm& form, const Guards& guards);
  int64_t upper_alone(const LinearForm& form, const Guards& guards);
  int64_t upper_of_choice(const LinearForm& form, LinearForm::Term term, const Guards& guards);
  int64_t upper_of_quotient(const LinearForm& form, LinearForm::Term term, const Guards& guards);
  int64_t upper_replaced(const LinearForm& form, ValueId atom, const LinearForm& by,
                         const Guards& guards);
  bool never(const Guards& guards);
  LinearForm::Term next_to_replace(const LinearForm& form) const;
  void add_guards(ValueId condition, bool holds, Guards& guards);
  void add_comparison(Predicate p, ValueId a, ValueId b, Guards& guards);

  const OpTrace& trace_;
  std::span<const int64_t> sizes_;
  std::span<const LoadedRange> loaded_;
  std::vector<size_t> rank_;          // of a parameter among those of its kind
  std::vector<uint32_t> loop_of_iv_;  // by ValueId; kNoLoop where it is no counter
  std::vector<int> depth_of_loop_;
  std::vector<std::optional<LinearForm>> forms_;
  std::vector<std::optional<Range>> ranges_;
  int left_ = 0;  // steps that the elimination may still take; then ranges of atoms answer
};

}  // namespace nrd
