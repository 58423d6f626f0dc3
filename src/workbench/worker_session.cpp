// SPDX-License-Identifier: MIT
// src/workbench/worker_session.cpp: slices of one backend on the CPU.
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "workbench/session.h"
#include "workbench/stats.h"

namespace nrd {
namespace {

// Up to here every slice gets fresh memory. Where its pages lie physically makes the same code up
// to a tenth faster or slower, the same all through a process; a ratio must have seen several
// such throws. Larger operands average over many pages, and take long to fill.
constexpr size_t kRenewedBytes = size_t{4} << 20;

// The kernel counts the peak from here on.
void reset_peak_memory() { std::ofstream("/proc/self/clear_refs") << "5"; }

double peak_memory_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::strtod(line.c_str() + 6, nullptr) * 1024;
  return 0;
}

}  // namespace

nlohmann::json WorkerSession::time(const std::string& verb, const nlohmann::json& request) {
  return verb == "slice" ? slice(request) : unknown_request(verb, "slice");
}

void WorkerSession::forget() {
  profiler_.reset();
  runner_.reset();
  reset_peak_memory();
}

Expected<void> WorkerSession::renew_runner() {
  const bool cold = case_->spec.cache == CacheState::kCold;
  const int sets =
      cold ? cold_sets(*case_, last_level_cache_bytes(registry_.machine().profile)) : 1;
  Expected<KernelRunner> runner = KernelRunner::create(choice_, *case_, MemoryMode::kTimed, sets);
  if (!runner) return runner.error();
  // The old memory is given back only now, so that the new one lies elsewhere.
  runner_ = std::make_unique<KernelRunner>(std::move(*runner));
  profiler_ = std::make_unique<Profiler>(*runner_, cold);
  return {};
}

nlohmann::json WorkerSession::slice(const nlohmann::json& request) {
  const bool small = runner_ && runner_->sets() == 1 && runner_->operand_bytes() <= kRenewedBytes;
  if (!runner_ || small)
    if (Expected<void> renewed = renew_runner(); !renewed) return failed_reply(renewed.error());
  Expected<Slice> slice = profiler_->slice(request.at("ms"));
  if (!slice) return failed_reply(slice.error());
  return {{"ok", true},
          {"median", median(slice->samples_us)},
          {"samples", thinned_samples(slice->samples_us)},
          {"prepare_us", runner_->prepare_us()},
          {"workspace_bytes", runner_->workspace_bytes()},
          {"peak_bytes", peak_memory_bytes()},
          {"note", runner_->note()}};
}

}  // namespace nrd
