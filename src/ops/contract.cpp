// SPDX-License-Identifier: MIT
// src/ops/contract.cpp: extents against shapes, and the search for values that are allowed.
#include "ops/contract.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace nrd {
namespace {

std::vector<uint16_t> pointer_params(const OpTrace& trace) {
  std::vector<uint16_t> list;
  for (uint16_t p = 0; p < trace.params.size(); p++)
    if (trace.params[p].kind == TraceParamKind::kPointer) list.push_back(p);
  return list;
}

// Finite floats and integers in one order, so that ranges of either are searched alike.
int64_t key_of(double value, bool floats) {
  if (!floats) return static_cast<int64_t>(value);
  const auto bits = std::bit_cast<int32_t>(static_cast<float>(value));
  return bits >= 0 ? bits : -int64_t{bits & 0x7fffffff};
}
double value_of(int64_t key, bool floats) {
  if (!floats) return static_cast<double>(key);
  const auto magnitude = std::bit_cast<float>(static_cast<int32_t>(key < 0 ? -key : key));
  return key < 0 ? -magnitude : magnitude;
}

class Check {
 public:
  Check(const Contract& contract, const Desc& desc) : trace_(*contract.trace), desc_(desc) {
    for (const int axis : desc.signature().core)
      sizes_.push_back(desc.axes[static_cast<size_t>(axis)]);
    loaded_.resize(pointer_params(trace_).size());
  }

  // The operand that is too short, or -1.
  int too_short() {
    touched_ = extents(trace_, sizes_, loaded_);
    for (size_t i = 0; i < touched_.size(); i++)
      if (!touched_[i].fits(core_elements(desc_, i))) return static_cast<int>(i);
    return -1;
  }

  Error error(size_t operand) const {
    const Extent& e = touched_[operand];
    const bool below = e.first < 0;
    const std::string access = access_text(trace_, below ? e.lowest : e.highest);
    std::string sizes;
    for (const int axis : desc_.signature().core)
      sizes += fmt::format("{}{}={}", sizes.empty() ? "" : ", ",
                           desc_.signature().axes[static_cast<size_t>(axis)].name,
                           desc_.axes[static_cast<size_t>(axis)]);
    const bool open = below ? e.first <= kUnboundedLow : e.end >= kUnboundedHigh;
    const std::string reach =
        open ? fmt::format("{} cannot be bounded", access)
             : fmt::format("{} reaches element {}", access, below ? e.first : e.end - 1);
    return make_error({.code = ErrorCode::kShapeMismatch,
                       .op = desc_.op->name,
                       .argument = desc_.signature().operands[operand].name,
                       .got = fmt::format("{} elements", core_elements(desc_, operand)),
                       .allowed = below || open ? "" : fmt::format("at least {}", e.end),
                       .hint = sizes.empty() ? reach : fmt::format("{} with {}", reach, sizes)});
  }

  // The widest ranges of loaded values, around 0 or 1, with which every operand is long enough.
  bool find_values(std::vector<ValueCheck>& checks) {
    const std::vector<bool> sources = index_sources(trace_);
    const std::vector<uint16_t> params = pointer_params(trace_);
    std::vector<size_t> list;
    for (size_t i = 0; i < sources.size(); i++) {
      const TraceParam& p = trace_.params[params[i]];
      if (sources[i] && !p.written && p.dtype != DType::kF64) list.push_back(i);
    }
    for (const double seed : {0.0, 1.0}) {
      for (const size_t i : list) set(i, seed, seed);
      if (list.empty() || too_short() >= 0) continue;
      for (const size_t i : list) checks.push_back(widest(i, seed));
      return true;
    }
    return false;
  }

 private:
  bool is_real(size_t i) const {
    return trace_.params[pointer_params(trace_)[i]].dtype == DType::kF32;
  }

  void set(size_t i, double low, double high) {
    if (is_real(i))
      loaded_[i].floats = FloatRange{low, high, false};
    else
      loaded_[i].integers = Range{static_cast<int64_t>(low), static_cast<int64_t>(high)};
  }

  ValueCheck widest(size_t i, double seed) {
    const bool floats = is_real(i);
    const DType dtype = trace_.params[pointer_params(trace_)[i]].dtype;
    double least = -0x1p31, most = 0x1p31 - 1;
    if (dtype == DType::kU8) least = 0, most = 255;
    if (dtype == DType::kI8) least = -128, most = 127;
    if (floats) least = -std::numeric_limits<float>::max(), most = -least;
    // Whatever lies inside a range that is allowed is allowed: halving finds the ends.
    auto search = [&](double farthest, auto allowed) {
      int64_t good = key_of(seed, floats), bad = key_of(farthest, floats);
      if (allowed(farthest)) return farthest;
      while (std::abs(bad - good) > 1) {
        const int64_t middle = good + (bad - good) / 2;
        (allowed(value_of(middle, floats)) ? good : bad) = middle;
      }
      return value_of(good, floats);
    };
    auto fits = [&](double low, double high) {
      set(i, low, high);
      return too_short() < 0;
    };
    ValueCheck check{.operand = i};
    check.high = search(most, [&](double high) { return fits(seed, high); });
    check.low = search(least, [&](double low) { return fits(low, check.high); });
    set(i, check.low, check.high);
    return check;
  }

  const OpTrace& trace_;
  const Desc& desc_;
  std::vector<int64_t> sizes_;
  std::vector<LoadedRange> loaded_;
  std::vector<Extent> touched_;
};

Expected<void> check_integers(const Contract& contract, const Desc& desc) {
  const Signature& s = desc.signature();
  for (size_t i = 0; i < contract.integers.size() && i < s.core.size(); i++) {
    const IntegerParam& p = contract.integers[i];
    const int64_t value = desc.axes[static_cast<size_t>(s.core[i])];
    if (value >= p.least && value <= p.most) continue;
    return make_error({.code = ErrorCode::kShapeMismatch,
                       .op = desc.op->name,
                       .argument = s.axes[static_cast<size_t>(s.core[i])].name,
                       .got = fmt::format("{}", value),
                       .allowed = fmt::format("{} to {}", p.least, p.most),
                       .hint = fmt::format("it is of type {} in the function", p.c_type)});
  }
  return {};
}

Expected<void> check_assumed(const Contract& contract, const Desc& desc) {
  std::vector<int64_t> integers;
  for (const int axis : desc.signature().core)
    integers.push_back(desc.axes[static_cast<size_t>(axis)]);
  return check_assumptions(contract.assumptions, integers, desc.op->name);
}

}  // namespace

int64_t core_elements(const Desc& desc, size_t operand) {
  const Signature& s = desc.signature();
  int64_t count = 1;
  for (const AxisRef& ref : s.operands[operand].axes)
    if (s.axes[static_cast<size_t>(ref.axis)].core) count *= size_of(ref, desc.axes);
  return count;
}

std::string assumptions_text(const Variant& variant) {
  const bool user = variant.builds && variant.builds->contract;
  return user ? variant.builds->contract->assumptions.text() : "";
}

Expected<void> check_contract(const Contract& contract, const Desc& desc,
                              std::vector<ValueCheck>* checks) {
  NRD_TRY(check_integers(contract, desc));
  if (!contract.trace) return {};
  for (const int64_t size : desc.leading)
    if (size == 0) return {};  // nothing runs
  NRD_TRY(check_assumed(contract, desc));
  Check check(contract, desc);
  const int operand = check.too_short();
  if (operand < 0) return {};
  const Error error = check.error(static_cast<size_t>(operand));
  std::vector<ValueCheck> found;
  if (!check.find_values(found)) return error;
  if (checks) *checks = std::move(found);
  return {};
}

}  // namespace nrd
