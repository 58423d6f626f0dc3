// SPDX-License-Identifier: MIT
// src/workbench/check.cpp: the comparison, element by element.
#include "workbench/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/convert.h"

namespace nrd {
namespace {

// Tensor cores keep 13 bits of what they add up. What is bounded is the relative L2 error of such
// products, more where sums stay in the tensor cores to the end; an element where large terms
// cancel within 128 of k may be off by some more than that.
constexpr double kFastAccumulation = 2e-2, kCancelling = 4;

std::string_view accumulation(const Desc& desc) {
  for (size_t i = 0; i < desc.choices.size(); i++)
    if (desc.op->choices[i].name == "accumulate") return desc.choices[i];
  return "";
}

// Of an element, and of the relative L2 error of a whole output.
double tolerance(const Desc& desc) {
  const std::string_view how = accumulation(desc);
  if (how == "fast") return kFastAccumulation;
  return (how == "precise" ? kCancelling : 1) * desc.op->tolerance.f32;
}
double l2_tolerance(const Desc& desc) {
  const std::string_view how = accumulation(desc);
  if (how == "fast") return kFastAccumulation;
  return (how == "precise" ? 1 : 10) * desc.op->tolerance.f32;
}

struct Element {
  double got, reference, low, high, row_largest;
};

class Comparison {
 public:
  Comparison(const Case& c, const Reference& reference)
      : case_(c), exact_(reference.exact), tolerance_(tolerance(c.desc)) {}

  void add_output(const ReferenceOutput& ref, const Output& output) {
    const DType dtype = case_.desc.operands[ref.operand].dtype;
    const int64_t cols = ref.sizes.empty() ? 1 : std::max<int64_t>(1, ref.sizes.back());
    double largest = 0;
    for (size_t i = 0; i < ref.value.size(); i++) {
      if (static_cast<int64_t>(i) % cols == 0) largest = row_largest(ref, i, cols);
      Element e{value(output, ref.positions[i], dtype), ref.value[i], ref.low[i], ref.high[i],
                std::max(1.0, largest)};
      add_element(ref, e, dtype, ref.positions[i], ref.f32.empty() ? nullptr : &ref.f32[i]);
    }
    add_l2(dtype, ref);
  }

  Verdict verdict() {
    if (!ulps_.empty()) {
      verdict_.ulp_p99 = ulp_percentile(99);
      verdict_.ulp_p50 = ulp_percentile(50);
    }
    verdict_.ok = verdict_.reason.empty();
    return verdict_;
  }

 private:
  float ulp_percentile(size_t percent) {
    const auto at = ulps_.begin() + static_cast<int64_t>(ulps_.size() * percent / 100);
    std::nth_element(ulps_.begin(), at, ulps_.end());
    return *at;
  }

  static double row_largest(const ReferenceOutput& ref, size_t begin, int64_t cols) {
    double largest = 0;
    for (size_t i = begin; i < std::min(ref.value.size(), begin + static_cast<size_t>(cols)); i++)
      if (std::isfinite(ref.value[i])) largest = std::max(largest, std::fabs(ref.value[i]));
    return largest;
  }

  static double value(const Output& output, int64_t position, DType dtype) {
    uint64_t code = 0;
    const size_t bytes = byte_size(dtype);
    std::memcpy(&code, output.data.data() + static_cast<size_t>(position) * bytes, bytes);
    return decode(code, dtype);
  }

  double allowance(const Element& e, DType dtype) const {
    if (exact_) return 0;
    double allowed = tolerance_ * e.row_largest;
    // 1.001: the reference may itself sit a hair beside a tie.
    if (dtype != DType::kF32) allowed += 0.5005 * unit_at(e.reference, dtype);
    return allowed;
  }

  bool passes(const Element& e, DType dtype, double allowed) const {
    if (std::isnan(e.reference)) return std::isnan(e.got);
    if (std::isnan(e.got)) return !info(dtype).has_inf && std::fabs(e.reference) > info(dtype).max;
    if (std::isinf(e.reference)) return e.got == e.reference;
    if (std::isinf(e.got))  // right where the value leaves the dtype's (or f32's) range
      return e.got * e.reference > 0 && std::fabs(e.reference) + allowed >=
                                            std::min(info(dtype).max, 3.4028235e38) * (1 - 1e-3);
    if (exact_) return e.got == e.reference && std::signbit(e.got) == std::signbit(e.reference);
    return e.got >= e.low - allowed && e.got <= e.high + allowed;
  }

  void add_element(const ReferenceOutput& ref, const Element& e, DType dtype, int64_t position,
                   const double* f32) {
    const double allowed = allowance(e, dtype);
    if (std::isfinite(e.got) && std::isfinite(e.reference)) {
      const double nearest = std::clamp(e.got, e.low, e.high);
      const double error = std::fabs(e.got - nearest);
      verdict_.max_abs = std::max(verdict_.max_abs, error);
      if (std::fabs(e.reference) > 1e-3 * e.row_largest || std::fabs(e.reference) > 1e-3)
        verdict_.max_rel = std::max(verdict_.max_rel, error / std::fabs(e.reference));
      error2_ += error * error;
      norm2_ += e.reference * e.reference;
      ulps_.push_back(static_cast<float>(error / unit_at(e.reference, dtype)));
    }
    if (passes(e, dtype, allowed)) return;
    if (f32 && passes({e.got, *f32, *f32, *f32, e.row_largest}, dtype, allowed)) return;
    if (!verdict_.first_bad.empty()) return;
    verdict_.first_bad = fmt::format("{}[{}]: got {:.9g}, expected {:.9g} within {:.3g}",
                                     case_.desc.signature().operands[ref.operand].name, position,
                                     e.got, e.reference, allowed);
    verdict_.reason = "wrong at " + verdict_.first_bad;
  }

  void add_l2(DType dtype, const ReferenceOutput& ref) {
    const double n = static_cast<double>(std::max<size_t>(1, ref.value.size()));
    const double rms = std::sqrt(norm2_ / n);
    const double l2 = norm2_ > 0 ? std::sqrt(error2_ / norm2_) : (error2_ > 0 ? HUGE_VAL : 0);
    verdict_.l2_rel = std::max(verdict_.l2_rel, l2);
    error2_ = norm2_ = 0;
    if (exact_ || case_.desc.op->tolerance.cancels) return;
    if (rms < 16 * info(dtype).min_normal) return;  // subnormals have no relative error
    const double limit = l2_tolerance(case_.desc) + std::ldexp(1.0, -info(dtype).mantissa_bits);
    if (l2 <= limit || !verdict_.reason.empty()) return;
    verdict_.reason = fmt::format("relative L2 error {:.3g} of {} is over {:.3g}", l2,
                                  case_.desc.signature().operands[ref.operand].name, limit);
  }

  const Case& case_;
  const bool exact_;
  const double tolerance_;
  Verdict verdict_;
  std::vector<float> ulps_;
  double error2_ = 0, norm2_ = 0;
};

bool is_normal(Distribution d) { return d == Distribution::kNormal || d == Distribution::kFull; }

}  // namespace

double unit_at(double x, DType dtype) {
  const DTypeInfo& d = info(dtype);
  if (!d.is_float) return 1;
  if (!std::isfinite(x)) return 0;
  const double magnitude = std::max(std::fabs(x), d.min_normal);
  return std::ldexp(1.0, std::ilogb(magnitude) - d.mantissa_bits);
}

Verdict check_outputs(const Case& c, const RunOutputs& outputs, const Reference& reference) {
  if (!outputs.unwritten.empty() || !outputs.damaged.empty()) {
    Verdict v;
    v.reason = outputs.damaged.empty() ? "did not write " + outputs.unwritten
                                       : "wrote beside its outputs: " + outputs.damaged;
    v.first_bad = outputs.damaged.empty() ? outputs.unwritten : outputs.damaged;
    return v;
  }
  Comparison comparison(c, reference);
  for (const ReferenceOutput& ref : reference.outputs)
    for (const Output& output : outputs.outputs)
      if (output.operand == ref.operand) comparison.add_output(ref, output);
  Verdict v = comparison.verdict();
  if (!reference.sampled || !v.ok || !is_normal(c.spec.distribution)) return v;
  const std::optional<Projection> projection =
      project_product(c, outputs.outputs.front().data, tolerance(c.desc));
  if (!projection) return v;
  v.finds = projection->finds;
  if (projection->off > 1) {
    v.ok = false;
    v.reason = fmt::format("a random projection of the whole is off by {:.3g} times its allowance",
                           projection->off);
  }
  return v;
}

}  // namespace nrd
