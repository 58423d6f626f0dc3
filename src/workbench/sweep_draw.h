// SPDX-License-Identifier: MIT
// src/workbench/sweep_draw.h: random cases of operators; a pure function of a seed.
#pragma once

#include <string>
#include <vector>

#include "workbench/case.h"

namespace nrd {

// Where cases may lie.
struct SweepSpace {
  std::vector<const Op*> ops;  // the i-th case is of the i-th of these, round and round
  // Narrow the bounds that follow from a signature. A key that an operator lacks says nothing of
  // it.
  SizeRanges sizes;
  std::vector<std::string> dtypes;  // empty: every word that the operator takes, and mixed ones
  std::vector<int> threads = {1};
  std::vector<CacheState> caches = {CacheState::kWarm};
  std::vector<Regime> regimes = {Regime::kEager};
  // Device, seed and data of every case; options that it names are drawn no more.
  CaseSpec base;
  // What a case may cost at most: together these bound its sizes.
  double most_bytes = 64e6, most_flops = 1e9;
};

// How a size was drawn. Each is as likely, where its axis leaves the choice.
enum class SizeKind {
  kAny,       // log-uniform within its bounds
  kOdd,       // one of these, made odd
  kMultiple,  // one of these, rounded to a multiple of 8, 16, 32, 64 or 128
  kModel,     // a size that models have: 768, 2880, 4096, 11008 ...
};
// Pure in `bits`. Within [low, high]; even where `even`.
int64_t draw_size(SizeKind kind, uint64_t bits, int64_t low, int64_t high, bool even);

// `count` different cases that bind, fewer where the space has no more. The first n of them do not
// depend on `count`. Operators without a case are left out; where all are, the error says why.
Expected<std::vector<CaseSpec>> draw_cases(const SweepSpace& space, size_t count);

}  // namespace nrd
