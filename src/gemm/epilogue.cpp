// SPDX-License-Identifier: MIT
// src/gemm/epilogue.cpp: epilogues as values.
#include "gemm/epilogue.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "jit/inline_trace.h"
#include "trace/text.h"

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

}  // namespace

int Epilogue::add_operand(Operand operand) {
  operands.push_back(operand);
  return static_cast<int>(operands.size()) - 1;
}

int Epilogue::multiply(Operand x) {
  const int number = add_operand(x);
  steps.push_back({.kind = StepKind::kMultiply, .x = number});
  return number;
}

int Epilogue::add(Operand x) {
  const int number = add_operand(x);
  steps.push_back({.kind = StepKind::kAdd, .x = number});
  return number;
}

void Epilogue::apply(const OpTrace& trace) {
  steps.push_back({.kind = StepKind::kApply, .trace = &trace, .inputs = {Step::kValue}});
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

std::string Epilogue::key() const {
  std::string text = fmt::format("{}{}", word(out), is_contiguous ? "" : "s");
  for (const Operand& o : operands) {
    text += fmt::format(",{}{}{}", static_cast<int>(o.shape), word(o.dtype),
                        o.is_contiguous ? "" : "s");
  }
  for (const Step& s : steps) {
    text += fmt::format(";{} {} {} {}", static_cast<int>(s.kind), s.x, fmt::join(s.inputs, ","),
                        fmt::join(s.integers, ","));
    if (s.trace) text += " " + trace_text(*s.trace);
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
      const auto is_array = [](const TraceParam& p) { return p.read; };
      const auto& params = step.trace->params;
      const auto arrays =
          static_cast<size_t>(std::count_if(params.begin(), params.end(), is_array));
      NRD_TRY(jit::check_inline(*step.trace, arrays, step.integers.size()));
    }
  }
  return {};
}

}  // namespace nrd::gemm
