// SPDX-License-Identifier: MIT
// src/ops/epilogue.cpp: writes the signature and the graph of a product with steps behind it.
#include "ops/epilogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace nrd {
namespace {

constexpr size_t kMostSteps = 16;
constexpr std::string_view kProducts[] = {"gemm", "gemm_prepacked"};
constexpr std::string_view kOwnSteps =
    "scale, column_scale, row_scale, alpha, bias, residual, beta";

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('+', at), text.size());
    words.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

// Collects what the steps ask for, then writes the operator.
class Builder {
 public:
  explicit Builder(std::string_view name) : name_(name) {}

  Expected<Op> build() {
    const std::vector<std::string> words = split(name_);
    if (std::find(std::begin(kProducts), std::end(kProducts), words[0]) == std::end(kProducts))
      return refuse("product", words[0], "gemm, gemm_prepacked");
    if (words.size() > kMostSteps + 1)
      return refuse("steps", fmt::format("{} steps", words.size() - 1),
                    fmt::format("at most {}", kMostSteps));
    add(fmt::format("{}(a, b)", words[0]));
    for (size_t i = 1; i < words.size(); i++) NRD_TRY(step(words[i]));
    return finish(words[0] == "gemm_prepacked");
  }

 private:
  Error refuse(std::string argument, const std::string& got, std::string allowed) const {
    return make_error({.code = ErrorCode::kUnknownName,
                       .op = std::string(name_),
                       .argument = std::move(argument),
                       .got = "'" + got + "'",
                       .allowed = std::move(allowed)});
  }

  Expected<void> step(const std::string& word) {
    if (word == "scale") {
      NRD_TRY(operand("scale", ""));
      add("vec_mul(v, rows(spread(scale, v), v))");
      return {};
    }
    if (word == "column_scale") {
      NRD_TRY(operand("scale", "n"));
      add("vec_mul(v, rows(scale, v))");
      return {};
    }
    if (word == "row_scale") {
      NRD_TRY(operand("row_scale", "m"));
      add("scale_rows(v, row_scale)");
      return {};
    }
    if (word == "bias") {
      NRD_TRY(operand("bias", "n"));
      add("vec_add(v, rows(bias, v))");
      return {};
    }
    if (word == "residual") {
      NRD_TRY(operand("residual", "m,n"));
      add("vec_add(v, residual)");
      return {};
    }
    if (word == "alpha") {
      NRD_TRY(number({"alpha", 1, "what the product is multiplied with"}));
      add("vec_scale(v, scale=$alpha)");
      return {};
    }
    if (word == "beta") {
      NRD_TRY(operand("residual", "m,n"));
      NRD_TRY(number({"beta", 1, "what the residual is multiplied with"}));
      add("vec_axpy(residual, v, a=$beta)");
      return {};
    }
    return elementwise(word);
  }

  Expected<void> elementwise(const std::string& word) {
    Expected<const Op*> op = is_epilogue_name(word) ? nullptr : find_op(word);
    const bool is_one = op && *op && is_elementwise_step(**op, 0);
    const bool is_two = op && *op && !is_one && is_elementwise_step(**op, 1);
    if (!is_one && !is_two)
      return refuse("step", word,
                    std::string(kOwnSteps) + ", or an operator of one or two values to one");
    std::string call = word + "(v";
    if (is_two) {
      const std::string other = others_ == 0 ? "with" : fmt::format("with{}", others_ + 1);
      others_++;
      NRD_TRY(operand(other, "m,n"));
      call += ", " + other;
    }
    for (const NumberAttribute& n : (*op)->numbers) {
      NRD_TRY(number(n));
      call += fmt::format(", {}=${}", n.name, n.name);
    }
    add(call + ")");
    return {};
  }

  void add(std::string call) { graph_.push_back(std::move(call)); }

  Expected<void> operand(const std::string& name, const std::string& axes) {
    const std::string text = fmt::format(" {}[{}]", name, axes);
    if (operands_.find(" " + name + "[") != operands_.npos)
      return refuse("step", "a second one with the operand " + name, "each operand once");
    operands_ += text;
    return {};
  }

  Expected<void> number(NumberAttribute attribute) {
    for (const NumberAttribute& known : numbers_)
      if (known.name == attribute.name)
        return refuse("step", "a second one with the attribute " + attribute.name,
                      "each attribute once");
    numbers_.push_back(std::move(attribute));
    return {};
  }

  Op finish(bool is_prepacked) {
    Op op;
    op.name = name_;
    op.group = "matrix";
    op.summary = "c[m,n] = a[m,k] b[k,n], then " + std::string(name_.substr(name_.find('+') + 1));
    op.numbers = numbers_;
    std::string text;
    for (size_t i = 0; i < graph_.size(); i++)
      text += fmt::format("  {} = {}\n", i + 1 == graph_.size() ? "c" : "v", graph_[i]);
    op.variants = {{.when = "",
                    .signature = "a[m,k] b[k,n]" + operands_ + " -> c[m,n] ; core n*,k",
                    .builds = {},
                    .graph = text,
                    .types = ""}};
    op.flops = 2;
    op.tolerance = {.f32 = 1e-4};
    if (operands_.find(" residual[") != operands_.npos) {
      op.in_place = InPlace::kYes;
      op.in_place_input = "residual";
    }
    if (is_prepacked) op.constant = "b";
    op.shape = "m=128,n=256,k=256";
    return op;
  }

  std::string_view name_;
  std::string operands_;
  std::vector<NumberAttribute> numbers_;
  std::vector<std::string> graph_;
  int others_ = 0;
};

}  // namespace

bool is_epilogue_name(std::string_view name) { return name.find('+') != std::string_view::npos; }

Expected<Op> make_product_with_epilogue(std::string_view name) { return Builder(name).build(); }

bool is_elementwise_step(const Op& op, int operands) {
  if (op.composite()) return false;
  const Signature& s = signatures(op).front();
  if (s.inputs != 1 + operands || s.operands.size() != static_cast<size_t>(s.inputs) + 1)
    return false;
  if (s.core.size() != 1 || !s.axes[static_cast<size_t>(s.core[0])].separable) return false;
  return std::all_of(s.operands.begin(), s.operands.end(), [&](const OperandSpec& operand) {
    return operand.axes.size() == 1 && operand.axes[0].axis == s.core[0] &&
           operand.axes[0].block == 1 && !operand.optional && !operand.read &&
           operand.dtypes == s.operands[0].dtypes;
  });
}

}  // namespace nrd
