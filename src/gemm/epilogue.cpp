// SPDX-License-Identifier: MIT
// src/gemm/epilogue.cpp: epilogues as values.
#include "gemm/epilogue.h"

#include <fmt/format.h>

#include "jit/inline_trace.h"

namespace nrd::gemm {
namespace {

bool widens(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16;
}

Error refuse(std::string argument, std::string got, std::string allowed) {
  return make_error({.code = ErrorCode::kUnsupported,
                     .op = "gemm",
                     .argument = std::move(argument),
                     .got = std::move(got),
                     .allowed = std::move(allowed)});
}

int add_operand(Epilogue& epilogue, Operand operand) {
  epilogue.operands.push_back(operand);
  return static_cast<int>(epilogue.operands.size()) - 1;
}

}  // namespace

int Epilogue::multiply(Operand x) {
  const int number = add_operand(*this, x);
  steps.push_back({StepKind::kMultiply, number});
  return number;
}

int Epilogue::add(Operand x) {
  const int number = add_operand(*this, x);
  steps.push_back({StepKind::kAdd, number});
  return number;
}

int Epilogue::add_scaled(Operand matrix) {
  const int number = add_operand(*this, matrix);
  steps.push_back({StepKind::kAddProduct, number, add_operand(*this, {})});
  return number;
}

void Epilogue::apply(const OpTrace& trace) { steps.push_back({StepKind::kApply, -1, -1, &trace}); }

int Epilogue::apply(const OpTrace& trace, Operand second) {
  const int number = add_operand(*this, second);
  steps.push_back({StepKind::kApply, number, -1, &trace});
  return number;
}

bool Epilogue::reads_matrix() const {
  for (const Operand& operand : operands) {
    if (operand.shape == OperandShape::kMatrix) return true;
  }
  return false;
}

bool Epilogue::is_long() const {
  constexpr size_t kMostValues = 12;  // of a trace that is worth copying: relu, a clamp
  size_t values = 0;
  for (const Step& step : steps) values += step.trace != nullptr ? step.trace->values.size() : 0;
  return values > kMostValues;
}

// A trace's address stands for it: both live as long as the process.
std::string Epilogue::key() const {
  std::string text = fmt::format("{}{}", word(out), is_contiguous ? "" : "s");
  for (const Operand& o : operands) {
    text += fmt::format(",{}{}{}", static_cast<int>(o.shape), word(o.dtype),
                        o.is_contiguous ? "" : "s");
  }
  for (const Step& s : steps) {
    text += fmt::format(";{} {} {} {}", static_cast<int>(s.kind), s.x, s.y, fmt::ptr(s.trace));
  }
  return text;
}

Expected<void> check_epilogue(const Epilogue& epilogue) {
  if (epilogue.operands.size() > kEpilogueOperands) {
    return refuse("epilogue", fmt::format("{} operands", epilogue.operands.size()),
                  fmt::format("at most {}", kEpilogueOperands));
  }
  const bool is_plain = epilogue.steps.empty() && epilogue.out == DType::kI32;
  if (!widens(epilogue.out) && !is_plain)
    return refuse("c", std::string(word(epilogue.out)), "f32, f16, bf16");
  for (const Operand& operand : epilogue.operands) {
    if (widens(operand.dtype)) continue;
    return refuse("epilogue", std::string(word(operand.dtype)), "f32, f16, bf16");
  }
  for (const Step& step : epilogue.steps) {
    if (step.kind == StepKind::kApply) {
      NRD_TRY(jit::check_inline(*step.trace, step.x < 0 ? 1 : 2));
    }
  }
  return {};
}

}  // namespace nrd::gemm
