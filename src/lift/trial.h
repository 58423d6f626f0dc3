// SPDX-License-Identifier: MIT
// src/lift/trial.h: one sample, run in the three forms that a proof compares: the code step by step
// (function_machine.h), its trace, and the function itself.
#pragma once

#include "lift/call.h"
#include "lift/function_machine.h"
#include "trace/interpret.h"
#include "trace/sample.h"

namespace nrd::lift {

// Memory of a run, made from a sample. Behind each operand there is more, which must stay as it is:
// a function that was lifted wrongly and goes further is found out, not killed.
struct Copies {
  std::vector<std::vector<char>> memory;
  std::vector<void*> pointers;

  explicit Copies(const Sample& sample);
  // The output lies on the input.
  Copies(const Sample& sample, size_t input, size_t output);
  Copies(Copies&&) = default;  // pointers stay valid; those of a copy would not
  Copies& operator=(Copies&&) = default;
  const char* data(size_t pointer) const { return static_cast<const char*>(pointers[pointer]); }
  size_t bytes(size_t pointer) const { return memory[pointer].size(); }
};

class Trial {
 public:
  Trial(const OpTrace& trace, const LiftRequest& request, FunctionMachine& machine)
      : trace_(trace), request_(request), machine_(machine) {}

  FunctionRun follow(const Sample& sample, Copies& copies, int64_t most_steps);
  TraceRun interpret(const Sample& sample, Copies& copies, int64_t most_steps, int nan_sign = 0);
  void call(const Sample& sample, Copies& copies);

  // Every element must be equal, bit for bit (any NaN equals any NaN): "out[3]", or empty.
  // What a NaN's sign decides (copysign, bits) is nobody's promise: compilers exchange the operands
  // of a sum, and which NaN comes out hangs on that. Such elements may differ.
  std::string difference(const Sample& sample, const Copies& traced, const Copies& other);

 private:
  FunctionRun follow_once(const CallWords& call, const Copies& copies, const Sample& sample,
                          int64_t most_steps);
  void store_result(uint64_t result, Copies& copies) const;
  template <class Each>
  void for_each_element(const Sample& sample, Copies& copies, const Each& each);

  const OpTrace& trace_;
  const LiftRequest& request_;
  FunctionMachine& machine_;
};

}  // namespace nrd::lift
