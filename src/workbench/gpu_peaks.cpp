// SPDX-License-Identifier: MIT
// src/workbench/gpu_peaks.cpp: the roofline of a GPU.
#include "workbench/gpu_peaks.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace nrd {
namespace {

// Below this a kernel is mostly its start: neither memory nor arithmetic explains its time.
constexpr double kLatencyUs = 3;

bool is_fp8(DType dtype) { return dtype == DType::kF8E4M3 || dtype == DType::kF8E5M2; }
bool is_half(DType dtype) { return dtype == DType::kF16 || dtype == DType::kBF16; }

bool is_product(const Desc& desc) {
  return desc.op->group == "matrix" || desc.op->name == "fp8_gemm" || desc.op->name == "gated_mlp";
}

// Which of the three rates bounds an operator, by its dtypes.
double rate_of(const Desc& desc, double fp8, double half, double f32) {
  if (!is_product(desc)) return f32;
  if (desc.op->name == "fp8_gemm") return fp8;
  const DType weight = desc.operands[1].dtype;
  return is_fp8(weight) ? fp8 : is_half(weight) ? half : f32;
}

// The stream of the nearest size that is not smaller, else the largest.
double stream_rate(const std::vector<StreamPoint>& points, double bytes) {
  double rate = 0, size = 0;
  for (const StreamPoint& p : points) {
    const bool nearer = size < bytes ? p.bytes > size : p.bytes >= bytes && p.bytes < size;
    if (rate == 0 || nearer) rate = p.gbps, size = p.bytes;
  }
  return rate;
}

double number(const nlohmann::json& json, const char* key) {
  auto found = json.find(key);
  return found != json.end() && found->is_number() ? found->get<double>() : 0;
}

nlohmann::json points(const std::vector<StreamPoint>& list) {
  nlohmann::json json = nlohmann::json::array();
  for (const StreamPoint& p : list) json.push_back({{"bytes", p.bytes}, {"gbps", p.gbps}});
  return json;
}

std::vector<StreamPoint> points(const nlohmann::json& json) {
  std::vector<StreamPoint> list;
  for (const nlohmann::json& p : json) list.push_back({p.at("bytes"), p.at("gbps")});
  return list;
}

nlohmann::json or_null(double value) {
  return value > 0 ? nlohmann::json(value) : nlohmann::json(nullptr);
}

// GFLOP/s of a rate at a clock in MHz.
double gflops_at(const GpuFacts& facts, double per_cycle, double mhz) {
  return per_cycle * facts.multiprocessors * mhz * 1e-3;
}

}  // namespace

// From NVIDIA's architecture papers: operations are multiplications and additions, so two a
// multiply-add.
TensorRates tensor_rates(int major, int minor) {
  if (major == 8 && minor == 0) return {.fp8 = 0, .half = 2048, .f32 = 128};
  if (major == 8 && minor == 9) return {.fp8 = 2048, .half = 1024, .f32 = 256};
  if (major == 8) return {.fp8 = 0, .half = 1024, .f32 = 256};
  if (major == 9) return {.fp8 = 8192, .half = 4096, .f32 = 256};
  if (major == 10) return {.fp8 = 16384, .half = 8192, .f32 = 256};
  if (major == 12) return {.fp8 = 2048, .half = 1024, .f32 = 256};
  return {};
}

nlohmann::json to_json(const GpuRoofs& roofs) {
  const GpuFacts& f = roofs.facts;
  const TensorRates rates = tensor_rates(f.major, f.minor);
  return {{"name", f.name},
          {"compute_capability", fmt::format("{}.{}", f.major, f.minor)},
          {"multiprocessors", f.multiprocessors},
          {"max_sm_mhz", or_null(f.max_sm_mhz)},
          {"l2_bytes", f.l2_bytes},
          {"power_limit_watts", roofs.power_limit_watts ? nlohmann::json(*roofs.power_limit_watts)
                                                        : nlohmann::json(nullptr)},
          {"driver", roofs.driver},
          {"runtime", roofs.runtime},
          {"clocks", roofs.clocks},
          {"nominal",
           {{"memory_gbps", f.memory_gbps},
            {"fp8_gflops", or_null(gflops_at(f, rates.fp8, f.max_sm_mhz))},
            {"half_gflops", or_null(gflops_at(f, rates.half, f.max_sm_mhz))},
            {"f32_gflops", or_null(gflops_at(f, rates.f32, f.max_sm_mhz))}}},
          {"measured",
           {{"copy", points(roofs.copy)},
            {"read", points(roofs.read)},
            {"fp8_gflops", or_null(roofs.fp8_gflops)},
            {"half_gflops", or_null(roofs.half_gflops)},
            {"product", roofs.product}}}};
}

GpuRoofs gpu_roofs_from_json(const nlohmann::json& json) {
  GpuRoofs roofs;
  GpuFacts& f = roofs.facts;
  f.name = json.value("name", "");
  const std::string capability = json.value("compute_capability", "0.0");
  f.major = std::atoi(capability.c_str());
  f.minor = std::atoi(capability.c_str() + std::min(capability.size(), capability.find('.') + 1));
  f.multiprocessors = json.value("multiprocessors", 0);
  f.max_sm_mhz = number(json, "max_sm_mhz");
  f.l2_bytes = number(json, "l2_bytes");
  if (const double watts = number(json, "power_limit_watts"); watts > 0)
    roofs.power_limit_watts = watts;
  roofs.driver = json.value("driver", "");
  roofs.runtime = json.value("runtime", "");
  roofs.clocks = json.value("clocks", "");
  f.memory_gbps = number(json.at("nominal"), "memory_gbps");
  const nlohmann::json& measured = json.at("measured");
  roofs.copy = points(measured.at("copy"));
  roofs.read = points(measured.at("read"));
  roofs.fp8_gflops = number(measured, "fp8_gflops");
  roofs.half_gflops = number(measured, "half_gflops");
  roofs.product = measured.value("product", "");
  return roofs;
}

void judge_on_device(Row& row, const Desc& desc, const GpuRoofs& roofs) {
  const Cost work = cost(desc);
  row.flops = work.flops;
  row.bytes = work.bytes();
  if (!row.median_us || *row.median_us <= 0) return;
  const double us = *row.median_us;
  row.gflops = work.flops / us * 1e-3;
  row.gbps = work.bytes() / us * 1e-3;

  const GpuFacts& f = roofs.facts;
  const TensorRates rates = tensor_rates(f.major, f.minor);
  const double per_cycle = rate_of(desc, rates.fp8, rates.half, rates.f32);
  const double nominal_rate = gflops_at(f, per_cycle, f.max_sm_mhz);
  const double product = rate_of(desc, roofs.fp8_gflops, roofs.half_gflops, 0);
  const double measured_rate = product > 0 ? product : nominal_rate;
  const bool writes = work.bytes_written > 0.1 * work.bytes();
  const double stream = stream_rate(writes ? roofs.copy : roofs.read, work.bytes());
  auto floor_us = [&](double rate, double bandwidth) {
    return std::max(rate > 0 ? work.flops / rate * 1e-3 : 0,
                    bandwidth > 0 ? work.bytes() / bandwidth * 1e-3 : 0);
  };
  const double measured = floor_us(measured_rate, stream);
  const double nominal = floor_us(nominal_rate, f.memory_gbps);
  const bool compute = measured_rate > 0 && work.flops / measured_rate * 1e-3 >= measured;
  row.bound = measured < kLatencyUs ? "latency" : compute ? "compute" : "memory";
  if (measured > 0 && (stream > 0 || product > 0)) row.percent_of_roofline = 100 * measured / us;
  if (nominal > 0) row.percent_of_nominal = 100 * nominal / us;
  if (row.bound == "compute" && row.sm_mhz && per_cycle > 0)
    row.percent_of_clock_peak = 100 * *row.gflops / gflops_at(f, per_cycle, *row.sm_mhz);

  if (row.percent_of_roofline.value_or(0) > 100)
    row.flags.push_back("over 100 % of the measured roofline");
  if (row.percent_of_nominal.value_or(0) > 100) row.flags.push_back(kOverNominal);
  if (row.throttled.value_or(false))
    row.flags.push_back("the clock was held down by power or heat");
}

}  // namespace nrd
