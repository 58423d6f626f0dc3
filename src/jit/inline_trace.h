// SPDX-License-Identifier: MIT
// src/jit/inline_trace.h: an elementwise trace as instructions on given vectors, inside a program
// that somebody else writes (a product's epilogue).
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "jit/ir.h"
#include "trace/trace.h"

namespace nrd::jit {

// What can be inlined: one loop, every access at its counter, one output, f32 throughout, and no
// arguments but `arrays` that are read, numbers, and as many integers as there are rounding types.
// The error says what is in the way.
Expected<void> check_inline(const OpTrace& trace, size_t arrays, size_t integers = 0);

// Analysed once, written as often as there are vectors. The trace must have passed check_inline,
// and the builder's program must have f32 lanes.
class InlineTrace {
 public:
  InlineTrace(Builder& b, const OpTrace& trace, std::vector<int> integers = {});
  ~InlineTrace();
  // A vector per array and then one per number, each in the order of the parameters. The error:
  // there is no vector form.
  Expected<V> write(std::span<const V> inputs);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace nrd::jit
