// SPDX-License-Identifier: MIT
// src/workbench/case.cpp: building cases, and their form in messages.
#include "workbench/case.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "base/device.h"
#include "base/env.h"

namespace nrd {
namespace {

constexpr std::array kDistributions = {Distribution::kNormal,   Distribution::kWide,
                                       Distribution::kOutliers, Distribution::kDenormal,
                                       Distribution::kSpecial,  Distribution::kConstant};

// The weight of a product: an operand b[k,n], which users hold as [N,K].
int product_weight(const Desc& desc) {
  const Signature& s = desc.signature();
  int b = s.find_operand("b");
  if (b < 0 || s.operands[static_cast<size_t>(b)].axes.size() != 2) return -1;
  const auto& axes = s.operands[static_cast<size_t>(b)].axes;
  bool kn = s.axes[static_cast<size_t>(axes[0].axis)].name == "k" &&
            s.axes[static_cast<size_t>(axes[1].axis)].name == "n";
  return kn ? b : -1;
}

Error unknown(std::string_view what, std::string_view got, std::string allowed) {
  return make_error({.code = ErrorCode::kUnknownName,
                     .argument = std::string(what),
                     .got = fmt::format("'{}'", got),
                     .allowed = std::move(allowed)});
}

}  // namespace

std::string_view word(CacheState cache) { return cache == CacheState::kWarm ? "warm" : "cold"; }

std::string_view word(Distribution d) {
  switch (d) {
    case Distribution::kNormal: return "normal";
    case Distribution::kWide: return "wide";
    case Distribution::kOutliers: return "outliers";
    case Distribution::kDenormal: return "denormal";
    case Distribution::kSpecial: return "special";
    case Distribution::kConstant: return "constant";
    case Distribution::kFull: return "full";
  }
  return "normal";
}

std::string_view word(Regime regime) {
  switch (regime) {
    case Regime::kEager: return "eager";
    case Regime::kBackToBack: return "back_to_back";
    case Regime::kGapped: return "gapped";
  }
  return "eager";
}

Expected<Regime> parse_regime(std::string_view text) {
  for (Regime regime : {Regime::kEager, Regime::kBackToBack, Regime::kGapped})
    if (word(regime) == text) return regime;
  return unknown("regime", text, "eager (on the CPU), back_to_back, gapped");
}

Expected<Distribution> parse_distribution(std::string_view text) {
  std::string words;
  for (Distribution d : kDistributions) {
    if (word(d) == text) return d;
    words += std::string(word(d)) + ", ";
  }
  if (word(Distribution::kFull) == text) return Distribution::kFull;
  return unknown("data", text, words + std::string(word(Distribution::kFull)));
}

std::span<const Distribution> all_distributions() { return kDistributions; }

std::string Case::options_text() const {
  std::string text = desc.options_text();
  if (spec.b_kn) text += text.empty() ? "b=kn" : ",b=kn";
  return text;
}

std::string Case::text() const {
  return case_text({desc.op->name, desc.shape_text(), desc.dtype_text(), options_text(),
                    to_string(spec.device), std::to_string(spec.threads), word(spec.cache),
                    word(spec.regime)});
}

std::string case_text(const CaseWords& w) {
  const bool on_cpu = w.device.empty() || w.device == "cpu";
  const std::string threads = w.threads.empty() ? "" : fmt::format("threads={}", w.threads);
  std::string text;
  for (std::string_view part :
       {w.op, w.shape, w.dtype, w.options, on_cpu ? std::string_view(threads) : w.device, w.cache,
        on_cpu ? std::string_view() : w.regime}) {
    if (part.empty()) continue;
    if (!text.empty()) text += ' ';
    text += part;
  }
  return text;
}

Expected<Case> make_case(const CaseSpec& spec) {
  Expected<const Op*> op = find_op(spec.op);
  if (!op) return op.error();
  Expected<Desc> desc = bind_case(**op, spec.request);
  if (!desc) return desc.error();
  if (spec.threads < 1 || spec.threads > kMostThreads)
    return make_error({.code = ErrorCode::kInvalidArgument,
                       .op = spec.op,
                       .argument = "threads",
                       .got = fmt::format("{}", spec.threads),
                       .allowed = fmt::format("1 to {}", kMostThreads)});
  if ((spec.device.kind == DeviceKind::kCpu) != (spec.regime == Regime::kEager))
    return make_error({.code = ErrorCode::kInvalidArgument,
                       .op = spec.op,
                       .argument = "regime",
                       .got = fmt::format("{} on {}", word(spec.regime), to_string(spec.device)),
                       .allowed = "eager on the CPU, back_to_back or gapped on a device"});
  Case c{spec, std::move(*desc)};
  c.desc.device = spec.device;
  const int b = product_weight(c.desc);
  if (b < 0 && spec.b_kn)
    return make_error({.code = ErrorCode::kUnknownName,
                       .op = spec.op,
                       .argument = "option 'b'",
                       .hint = "only products have a layout of b"});
  if (b >= 0 && !spec.b_kn) {
    OperandDesc& weight = c.desc.operands[static_cast<size_t>(b)];
    weight.strides = Dims{1, weight.sizes[0]};
  }
  // On a device calls queue up: that weights do not change lets a kernel fetch them early.
  if (b >= 0 && c.on_device()) c.desc.operands[static_cast<size_t>(b)].constant = true;
  return c;
}

nlohmann::json to_json(const CaseSpec& spec) {
  nlohmann::json attributes = nlohmann::json::object();
  for (const auto& [name, value] : spec.request.attributes) {
    if (const double* number = std::get_if<double>(&value))
      attributes[name] = *number;
    else
      attributes[name] = std::get<std::string>(value);
  }
  return {{"op", spec.op},
          {"sizes", spec.request.sizes},
          {"dtypes", spec.request.dtypes},
          {"attributes", attributes},
          {"optional", spec.request.optional},
          {"batch_invariant", spec.request.batch_invariant},
          {"b_kn", spec.b_kn},
          {"device", to_string(spec.device)},
          {"threads", spec.threads},
          {"cold", spec.cache == CacheState::kCold},
          {"regime", word(spec.regime)},
          {"distribution", static_cast<int>(spec.distribution)},
          {"seed", spec.seed}};
}

CaseSpec case_spec_from_json(const nlohmann::json& json) {
  CaseSpec spec;
  spec.op = json.at("op");
  for (const auto& [key, size] : json.at("sizes").items()) spec.request.sizes[key] = size;
  spec.request.dtypes = json.at("dtypes");
  for (const auto& [name, value] : json.at("attributes").items()) {
    if (value.is_number())
      spec.request.attributes[name] = value.get<double>();
    else
      spec.request.attributes[name] = value.get<std::string>();
  }
  spec.request.optional = json.at("optional").get<std::vector<std::string>>();
  spec.request.batch_invariant = json.value("batch_invariant", false);
  spec.b_kn = json.at("b_kn");
  if (Expected<Device> device = parse_device(json.at("device").get<std::string>()))
    spec.device = *device;
  spec.threads = json.at("threads");
  spec.cache = json.at("cold").get<bool>() ? CacheState::kCold : CacheState::kWarm;
  if (Expected<Regime> regime = parse_regime(json.at("regime").get<std::string>()))
    spec.regime = *regime;
  spec.distribution = static_cast<Distribution>(json.at("distribution").get<int>());
  spec.seed = json.at("seed");
  return spec;
}

}  // namespace nrd
