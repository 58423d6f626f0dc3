// SPDX-License-Identifier: MIT
// tests/cuda/op_case.h: one operator on one target: inputs, launch, and the result against the
// catalogue's reference.
//
//   OpCase c{.op = "rms_norm", .sizes = {{"rows", 3}, {"cols", 769}}, .dtypes = "bf16"};
//   c.layouts["x"] = {.row_padding = 5, .misalignment = 2};
//   EXPECT_TRUE(is_right(target(), c));
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "target.h"
#include "workbench/check.h"

namespace nrd::cuda {

// How an operand lies in memory; the default is contiguous (of a product's right side:
// K-contiguous).
struct Layout {
  int64_t step = 1;              // from element to element of what was innermost
  int64_t row_padding = 0;       // elements that no one owns behind each row
  bool transposed = false;       // the last two axes change places in memory
  size_t misalignment = 0;       // bytes
  std::vector<int64_t> strides;  // of every axis, instead of the first three
};

struct OpCase {
  std::string op;
  std::map<std::string, int64_t, std::less<>> sizes;
  std::string dtypes = "f32";  // one for all floats, or "bf16,f32->bf16"
  Attributes attributes = {};
  std::vector<std::string> optional = {};  // optional operands that are given
  Distribution distribution = Distribution::kNormal;
  uint64_t seed = 1;
  std::map<std::string, Layout, std::less<>> layouts = {};
  std::string in_place = {};        // the input whose memory is that of the first output
  std::string implementation = {};  // by name; otherwise the first that accepts
  bool batch_invariant = false;
  const Implementation* own = nullptr;  // one that implementations() does not list
  // Inputs by name, element by element in logical order, where the distribution does not do.
  std::map<std::string, std::vector<double>, std::less<>> values = {};

  std::string text() const;
};

struct OpRun {
  Case c;  // contiguous; `values` are not in its reference
  RunOutputs outputs;
  std::string implementation, note;
  size_t workspace_bytes = 0;
};

// Runs twice on differently poisoned outputs and workspaces. An error if nothing accepts, if the
// launch fails, if the two runs differ in a bit, if an input was changed or a guard band written.
Expected<OpRun> run_op(const TestTarget& target, const OpCase& c);

// run_op() and the reference of the catalogue with its tolerance; exact operators bit for bit.
::testing::AssertionResult is_right(const TestTarget& target, const OpCase& c);
// is_right(), and on an emulated target the same bits under that many seeds.
::testing::AssertionResult is_right_in_any_order(const TestTarget& target, const OpCase& c,
                                                 int seeds = 6);
// Both cases give the same outputs, bit for bit.
::testing::AssertionResult gives_same_bits(const TestTarget& target, const OpCase& a,
                                           const OpCase& b);
// Nothing accepts the case, and the reasons contain this text.
::testing::AssertionResult is_refused(const TestTarget& target, const OpCase& c,
                                      const std::string& text);

// The values of an output, in logical order.
std::vector<double> output_values(const OpRun& run, std::string_view name);

}  // namespace nrd::cuda
