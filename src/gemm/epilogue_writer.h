// SPDX-License-Identifier: MIT
// src/gemm/epilogue_writer.h: the steps of an epilogue as instructions, row by row.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "gemm/epilogue.h"
#include "jit/inline_trace.h"
#include "jit/ir.h"

namespace nrd::gemm {

class EpilogueWriter {
 public:
  // The operands' memory is an array of OperandMemory at `offset` of the block. The epilogue must
  // have passed check_epilogue.
  EpilogueWriter(jit::Builder& b, const Epilogue& epilogue, size_t offset);

  // All steps on the columns from `column` on; with `tail` only its lanes are read.
  Expected<jit::V> write(int column, const jit::Tail* tail, jit::V value);
  void next_row();

 private:
  struct Address {
    jit::G at, row, column;  // of the present row; the strides where they are needed
  };
  jit::V load(int number, int column, const jit::Tail* tail);

  jit::Builder& b_;
  const Epilogue& epilogue_;
  std::array<Address, kEpilogueOperands> addresses_;
  std::vector<std::unique_ptr<jit::InlineTrace>> traces_;  // of each step, or null
};

}  // namespace nrd::gemm
