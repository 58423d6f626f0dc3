// SPDX-License-Identifier: MIT
// src/gemm/epilogue_writer.cpp: see epilogue_writer.h.
#include "gemm/epilogue_writer.h"

#include <cstddef>

namespace nrd::gemm {
namespace {

using jit::G;
using jit::Op;
using jit::V;

constexpr jit::Lane kF32 = jit::Lane::kF32;

bool has_rows(const Operand& operand) {
  return operand.shape == OperandShape::kRows || operand.shape == OperandShape::kMatrix;
}

bool has_columns(const Operand& operand) {
  return operand.shape == OperandShape::kColumns || operand.shape == OperandShape::kMatrix;
}

}  // namespace

EpilogueWriter::EpilogueWriter(jit::Builder& b, const Epilogue& epilogue, size_t offset)
    : b_(b), epilogue_(epilogue) {
  for (size_t i = 0; i < epilogue.operands.size(); i++) {
    const Operand& operand = epilogue.operands[i];
    const auto word = [&](size_t member) {
      const size_t at = offset + i * sizeof(OperandMemory) + member;
      return b.gload({b.block(), {}, 1, static_cast<int64_t>(at)});
    };
    addresses_[i].at = word(offsetof(OperandMemory, data));
    if (has_rows(operand)) addresses_[i].row = word(offsetof(OperandMemory, row));
    if (!operand.is_contiguous) addresses_[i].column = word(offsetof(OperandMemory, column));
  }
  for (const Step& step : epilogue.steps) {
    const bool has_trace = step.kind == StepKind::kApply;
    traces_.push_back(has_trace ? std::make_unique<jit::InlineTrace>(b, *step.trace, step.integers)
                                : nullptr);
  }
}

void EpilogueWriter::next_row() {
  for (const Address& address : addresses_) {
    if (address.row.valid()) b_.gop(Op::kGAdd, address.at, address.row, address.at);
  }
}

V EpilogueWriter::load(int number, int column, const jit::Tail* tail) {
  const Operand& operand = epilogue_.operands[static_cast<size_t>(number)];
  const Address& address = addresses_[static_cast<size_t>(number)];
  if (!has_columns(operand)) return b_.broadcast(operand.dtype, kF32, {address.at, {}, 1, 0});
  if (operand.is_contiguous) {
    const int64_t at = static_cast<int64_t>(byte_size(operand.dtype)) * column;
    return b_.load(operand.dtype, kF32, {address.at, {}, 1, at}, tail);
  }
  const G offset = b_.gop(Op::kGMul, address.column, column);
  return b_.load_strided(operand.dtype, kF32, {address.at, offset, 1, 0}, address.column, tail);
}

Expected<V> EpilogueWriter::write(int column, const jit::Tail* tail, V value) {
  for (size_t i = 0; i < epilogue_.steps.size(); i++) {
    const Step& step = epilogue_.steps[i];
    const auto operand = [&](int number) { return load(number, column, tail); };
    switch (step.kind) {
      case StepKind::kMultiply: value = b_.op2(Op::kMul, kF32, value, operand(step.x)); break;
      case StepKind::kAdd: value = b_.op2(Op::kAdd, kF32, value, operand(step.x)); break;
      case StepKind::kApply: {
        std::vector<V> inputs;
        for (int input : step.inputs)
          inputs.push_back(input == Step::kValue ? value : operand(input));
        Expected<V> result = traces_[i]->write(inputs);
        if (!result) return result.error();
        value = *result;
        break;
      }
    }
  }
  return value;
}

}  // namespace nrd::gemm
