// SPDX-License-Identifier: MIT
// src/gemm/epilogue.h: what happens to an accumulator between its last multiply-add and its store.
//
// An epilogue is a value: steps in order, the operands they take, the output's dtype. It is part of
// the code (and of its key); the operands' memory comes with each call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/error.h"
#include "trace/trace.h"

namespace nrd::gemm {

constexpr int kEpilogueOperands = 6;

enum class OperandShape : uint8_t {
  kNumber,   // one value
  kRows,     // one a row of C
  kColumns,  // one a column of C: a bias
  kMatrix,   // one an element of C: a residual
};

struct Operand {
  OperandShape shape = OperandShape::kNumber;
  DType dtype = DType::kF32;
  bool is_contiguous = true;  // along columns
};

enum class StepKind : uint8_t {
  kMultiply,  // v * x
  kAdd,       // v + x
  kApply,     // trace(inputs)
};

struct Step {
  static constexpr int kValue = -1;  // v itself, among the inputs

  StepKind kind = StepKind::kAdd;
  int x = -1;  // an operand by its number
  // Of kApply. The trace lives as long as the process; its arrays in order, then its numbers.
  const OpTrace* trace = nullptr;
  std::vector<int> inputs;
  std::vector<int> integers;  // rounding types
};

struct Epilogue {
  std::vector<Operand> operands;
  std::vector<Step> steps;
  DType out = DType::kF32;
  bool is_contiguous = true;  // C along columns

  // The usual steps. Those with an operand return its number.
  int multiply(Operand x);
  int add(Operand x);
  void apply(const OpTrace& trace);
  int add_operand(Operand operand);  // for a step that names it; its number

  bool reads_matrix() const;
  // Whether it is written once, in a loop over the rows of a tile in memory, and not for each
  // accumulator: the tile's way through L1 costs less than the code.
  bool is_long() const;
  std::string key() const;  // equal where the code is
};

// The error says what cannot be emitted: a trace that is no elementwise function of one or two
// values, too many operands, a dtype that does not widen to f32.
Expected<void> check_epilogue(const Epilogue& epilogue);

// An operand's memory: its first element, and the bytes from row to row and from column to column
// (0 where it has none).
struct OperandMemory {
  const void* data = nullptr;
  int64_t row = 0, column = 0;
};

}  // namespace nrd::gemm
