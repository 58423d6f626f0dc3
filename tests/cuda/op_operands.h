// SPDX-License-Identifier: MIT
// tests/cuda/op_operands.h: the operands of a case in memory of a target.
#pragma once

#include "op_case.h"

namespace nrd::cuda {

// An error that names the case.
Error failure(const OpCase& c, std::string what);

class Operands {
 public:
  // `own` is the case with its layouts.
  Operands(const OpCase& c, const TestTarget& target, const Case& own);
  std::vector<void*> pointers() const;
  // Inputs as they were, outputs poisoned.
  void reset(unsigned char poison);
  // The outputs, contiguous. An error where a guard band, an input or, between the elements of an
  // output, the poison was written over.
  Expected<std::vector<Output>> collect(unsigned char poison) const;

 private:
  void fill(size_t operand);
  Expected<Output> gather(size_t operand, unsigned char poison) const;

  const OpCase& c_;
  const Case& own_;
  std::vector<DeviceBuffer> buffers_;
  std::vector<std::vector<char>> host_;
  size_t shared_ = 0;  // the input whose memory is that of the first output
};

}  // namespace nrd::cuda
