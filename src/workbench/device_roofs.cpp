// SPDX-License-Identifier: MIT
// src/workbench/device_roofs.cpp
#include "workbench/device_roofs.h"

#include <fmt/format.h>

#include "workbench/device_profile.h"
#include "workbench/stats.h"

namespace nrd {
namespace {

constexpr double kSliceMs = 40;
constexpr double kStreamBytes[] = {256.0 * (1 << 20), 2048.0 * (1 << 20)};
constexpr int64_t kProduct = 8192;

// The median time of a case on a backend, or nothing where it cannot be taken.
std::optional<double> time_us(const KernelRegistry& registry, const std::string& backend,
                              const CaseSpec& spec, DeviceQueue& queue) {
  Expected<Case> c = make_case(spec);
  if (!c) return std::nullopt;
  Expected<KernelChoice> choice = registry.select(backend, c->desc);
  if (!choice) return std::nullopt;
  Expected<KernelRunner> runner = KernelRunner::create(*choice, *c, MemoryMode::kTimed);
  if (!runner) return std::nullopt;
  DeviceProfiler profiler(*runner, queue, spec.regime);
  Expected<Slice> slice = profiler.slice(kSliceMs);
  if (!slice) return std::nullopt;
  return median(slice->samples_us);
}

CaseSpec case_on(const Device& device, std::string op) {
  CaseSpec spec;
  spec.op = std::move(op);
  spec.device = device;
  spec.regime = Regime::kBackToBack;
  spec.cache = CacheState::kCold;
  spec.distribution = Distribution::kFull;
  return spec;
}

std::vector<StreamPoint> measure_streams(const KernelRegistry& registry, const std::string& backend,
                                         const Device& device, DeviceQueue& queue) {
  std::vector<StreamPoint> points;
  for (double bytes : kStreamBytes) {
    CaseSpec spec = case_on(device, "relu");  // any operator of so many bytes
    spec.request.dtypes = "f32";
    spec.request.sizes["n"] = static_cast<int64_t>(bytes / 8);
    if (std::optional<double> us = time_us(registry, backend, spec, queue))
      points.push_back({bytes, bytes / *us * 1e-3});
  }
  return points;
}

struct Product {
  double gflops = 0;
  std::string backend;
};

Product measure_product(const KernelRegistry& registry, CaseSpec spec, DeviceQueue& queue) {
  spec.request.dtypes = "bf16";
  for (const char* axis : {"m", "n", "k"}) spec.request.sizes[axis] = kProduct;
  const double flops = 2.0 * kProduct * kProduct * kProduct;
  for (const char* backend : {"cublaslt", "cuda"})
    if (std::optional<double> us = time_us(registry, backend, spec, queue))
      return {flops / *us * 1e-3, backend};
  return {};
}

}  // namespace

Expected<GpuRoofs> measure_roofs(const KernelRegistry& registry, const Device& device,
                                 DeviceQueue& queue) {
  GpuRoofs roofs = queue.describe();
  roofs.copy = measure_streams(registry, "copy", device, queue);
  roofs.read = measure_streams(registry, "read", device, queue);
  CaseSpec fp8 = case_on(device, "fp8_gemm");
  fp8.request.attributes["accumulate"] = std::string("fast");
  const Product eight = measure_product(registry, fp8, queue);
  const Product sixteen = measure_product(registry, case_on(device, "gemm"), queue);
  roofs.fp8_gflops = eight.gflops;
  roofs.half_gflops = sixteen.gflops;
  roofs.product = fmt::format("{0}x{0}x{0}, back to back; 8 bits, fast, by {1}; bf16 by {2}",
                              kProduct, eight.backend.empty() ? "nobody" : eight.backend,
                              sixteen.backend.empty() ? "nobody" : sixteen.backend);
  return roofs;
}

}  // namespace nrd
