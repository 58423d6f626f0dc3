// SPDX-License-Identifier: MIT
// tests/compiler/lower_run.h: runs lowered traces, as code or in the interpreter, and holds what
// they store against the trace in double with its bounds.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "jit/code.h"
#include "jit/lower.h"
#include "trace/sample.h"
#include "workbench/memory.h"

namespace nrd::jit {

// An ISA: what this CPU has runs as code, the others in the interpreter.
struct Machine {
  Target target;
  bool is_native = false;
};
const std::vector<Machine>& machines();  // avx512, avx2, neon
std::vector<Machine> native_machines();

class Runnable {
 public:
  Runnable(Program program, const Machine& machine);  // fails the test where it cannot be made
  void run(const ArgumentBlock& block) const { run(block.data(), block.pointers()); }
  void run(const void* block, void* const* pointers = nullptr) const;

 private:
  Program program_;
  std::shared_ptr<const Code> code_;  // none: interpreted
};

// Every f32 pointer in `dtype`, every int parameter that dtype's number.
Binding binding_in(const OpTrace& trace, DType dtype);

// The pointers of a trace in their storage dtypes, each against an inaccessible page.
class Operands {
 public:
  Operands(const OpTrace& trace, const Sample& sample, const Binding& binding);
  void share(size_t input, size_t output);  // from now on one memory, holding the input
  void fill(ArgumentBlock& block) const;
  const void* data(size_t i) const { return buffers_[same_[i]].data(); }
  std::vector<char> stored() const;  // the outputs' bytes
  // What the trace may store there, by its bounds.
  ::testing::AssertionResult fits(const OpTrace& trace, const Sample& sample) const;

 private:
  std::vector<const TraceParam*> params_;
  std::vector<DType> dtypes_;
  std::vector<size_t> counts_, same_;
  std::vector<Buffer> buffers_;
  std::vector<std::vector<char>> before_;
};

// An argument block with the sample's sizes and numbers. Scratch rows are kept by `rows`.
ArgumentBlock block_for(const Lowered& lowered, const Sample& sample, const Operands& operands,
                        std::vector<std::vector<char>>& rows);

OpTrace parsed(std::string_view text);

}  // namespace nrd::jit
