// SPDX-License-Identifier: MIT
// src/cuda/launch/fp8_gemm_problem.cpp
#include "cuda/launch/fp8_gemm_problem.h"

namespace nrd::cuda {
namespace {

// Steps of an operand along the leading axes of the Desc: 0 where it is broadcast.
std::vector<int64_t> leading_steps(const Desc& desc, const OperandDesc& operand, int named) {
  const int extra = operand.sizes.size() - named;
  std::vector<int64_t> steps;
  for (int d = 0; d < desc.leading.size(); d++) {
    const int own = d - (desc.leading.size() - extra);
    steps.push_back(own >= 0 && operand.sizes[own] != 1 ? operand.strides[own] : 0);
  }
  return steps;
}

ProblemOperand read(const Desc& desc, std::string_view name) {
  ProblemOperand out;
  out.leading.assign(static_cast<size_t>(desc.leading.size()), 0);
  const int index = desc.signature().find_operand(name);
  if (index < 0 || !desc.operands[static_cast<size_t>(index)].present) return out;
  const OperandDesc& operand = desc.operands[static_cast<size_t>(index)];
  const int named =
      static_cast<int>(desc.signature().operands[static_cast<size_t>(index)].axes.size());
  const int rank = operand.sizes.size();
  out.index = index;
  out.dtype = operand.dtype;
  out.outer = named == 2 ? operand.strides[rank - 2] : 0;
  out.inner = named >= 1 ? operand.strides[rank - 1] : 0;
  out.leading = leading_steps(desc, operand, named);
  return out;
}

Fp8Grain read_grain(const Desc& desc) {
  const std::string_view word = desc.choice("scales");
  if (word == "tensor") return Fp8Grain::kTensor;
  return word == "block" ? Fp8Grain::kBlock : Fp8Grain::kRowColumn;
}

int64_t axis(const Desc& desc, std::string_view name) {
  return desc.axes[static_cast<size_t>(desc.signature().find_axis(name))];
}

// The last leading axis, of `size`, becomes rows: the step between rows afterwards, if there is
// one. A single row has none of its own.
bool folds(ProblemOperand& operand, int64_t m) {
  const int64_t step = operand.leading.back();
  if (m != 1 && step != operand.outer * m) return false;
  if (m == 1) operand.outer = step;
  return true;
}

bool fold_last_axis(Fp8GemmProblem& p) {
  const int64_t size = p.leading.back();
  Fp8GemmProblem folded = p;
  const auto fixed = [](const ProblemOperand& operand) { return operand.leading.back() == 0; };
  if (size != 1) {
    // A scale for the whole of a belongs to one product.
    if (p.grain == Fp8Grain::kTensor && !p.a_scale.present()) return false;
    if (!fixed(p.b) || !fixed(p.b_scale) || !fixed(p.bias)) return false;
    if (!folds(folded.a, p.m) || !folds(folded.c, p.m)) return false;
    const bool scales_of_rows = p.grain != Fp8Grain::kTensor && p.a_scale.present();
    if (scales_of_rows ? !folds(folded.a_scale, p.m) : !fixed(p.a_scale)) return false;
    folded.m *= size;
  }
  folded.leading.pop_back();
  for (ProblemOperand* operand :
       {&folded.a, &folded.b, &folded.a_scale, &folded.b_scale, &folded.bias, &folded.c})
    operand->leading.pop_back();
  p = std::move(folded);
  return true;
}

}  // namespace

int64_t Fp8GemmProblem::products() const {
  int64_t count = 1;
  for (int64_t size : leading) count *= size;
  return count;
}

int64_t Fp8GemmProblem::offset(const ProblemOperand& operand, int64_t product) const {
  int64_t steps = 0;
  for (size_t d = leading.size(); d-- > 0;) {
    steps += product % leading[d] * operand.leading[d];
    product /= leading[d];
  }
  return steps;
}

Fp8GemmProblem read_fp8_gemm(const Desc& desc) {
  Fp8GemmProblem p;
  p.m = axis(desc, "m");
  p.n = axis(desc, "n");
  p.k = axis(desc, "k");
  p.grain = read_grain(desc);
  p.fast = desc.choice("accumulate") == "fast";
  p.batch_invariant = desc.batch_invariant;
  p.leading.assign(desc.leading.begin(), desc.leading.end());
  p.a = read(desc, "a");
  p.b = read(desc, "b");
  std::swap(p.b.outer, p.b.inner);  // its axes are k, n
  p.a_scale = read(desc, "a_scale");
  p.b_scale = read(desc, "b_scale");
  // [m] and [n] step by rows of their side; [k/128, n/128] lists k first.
  if (p.grain == Fp8Grain::kRowColumn) {
    std::swap(p.a_scale.outer, p.a_scale.inner);
    std::swap(p.b_scale.outer, p.b_scale.inner);
  } else if (p.grain == Fp8Grain::kBlock) {
    std::swap(p.b_scale.outer, p.b_scale.inner);
  }
  p.bias = read(desc, "bias");
  p.c = read(desc, "c");
  while (!p.leading.empty() && fold_last_axis(p)) {
  }
  return p;
}

}  // namespace nrd::cuda
