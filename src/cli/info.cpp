// SPDX-License-Identifier: MIT
// src/cli/info.cpp: nereid info: the machine, the build, the settings.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "base/env.h"
#include "cli/session.h"
#include "compiler/parts.h"
#include "dispatch/devices.h"
#include "version.h"
#include "workbench/environment.h"

namespace nrd::cli {
namespace {

std::string size_text(int64_t bytes) {
  if (bytes >= 1 << 20) return fmt::format("{:g} MiB", static_cast<double>(bytes) / (1 << 20));
  return fmt::format("{:g} KiB", static_cast<double>(bytes) / 1024);
}

void show_machine(const Machine& machine) {
  const DeviceProfile& p = machine.profile;
  std::string caches;
  for (const CacheLevel& c : p.caches)
    if (c.bytes > 0)
      caches += fmt::format("{}{} {}", caches.empty() ? "" : ", ", c.name, size_text(c.bytes));
  std::cout << fmt::format(
      "nereid {}   {}, {}\ncpu     {} ({})\nisa     {}   level {}\ncores   {} for this "
      "process\ncaches  {}\n",
      kVersion, kCompiler, kBuildType, p.cpu, p.microarchitecture, machine.isa.to_string(),
      best_level(machine.isa).word, p.cores, caches);
  std::cout << fmt::format(
      "nominal {:.0f} GFLOP/s f32 a core at {:.2f} GHz, {:.0f} GB/s a socket\n", p.nominal.f32_fma,
      p.nominal_ghz, p.nominal_dram_gbps);
}

void show_compiler(const Machine& machine) {
  for (const std::string& line : describe_compiler(machine.isa))
    std::cout << "jit     " << line << "\n";
}

void show_devices() {
  for (const std::string& line : describe_devices()) std::cout << "device  " << line << "\n";
}

void show_peaks(const Machine& machine, const std::vector<int>& threads) {
  for (int n : threads) {
    const MeasuredPeaks p = measure_peaks(machine.profile, n, 3.0);
    std::cout << fmt::format("measured, {} thread{}\n  f32 FMA  {:8.1f} GFLOP/s\n", n,
                             n > 1 ? "s" : "", p.arithmetic.f32_fma);
    if (p.arithmetic.bf16_dot > 0)
      std::cout << fmt::format("  bf16 dot {:8.1f} GFLOP/s\n", p.arithmetic.bf16_dot);
    if (p.arithmetic.int8_dot > 0)
      std::cout << fmt::format("  int8 dot {:8.1f} Gop/s\n", p.arithmetic.int8_dot);
    if (p.arithmetic.amx_bf16 > 0)
      std::cout << fmt::format("  AMX bf16 {:8.1f} GFLOP/s\n  AMX int8 {:8.1f} Gop/s\n",
                               p.arithmetic.amx_bf16, p.arithmetic.amx_int8);
    for (const StreamRates& s : p.streams)
      std::cout << fmt::format(
          "  {:<8} {:8.1f} GB/s read {:8.1f} copy {:8.1f} copy, non-temporal\n", s.level, s.read,
          s.copy, s.copy_nt);
  }
}

void show_settings() {
  for (const EnvVariable& v : env_variables()) {
    std::optional<std::string> value = env(v.name);
    std::cout << fmt::format("  {:<20} {}{}\n", v.name, value ? "= " + *value + "   " : "",
                             v.meaning);
  }
}

}  // namespace

void add_info(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("info", "this machine, this build, the settings");
  auto peaks = std::make_shared<bool>(false);
  auto threads = std::make_shared<std::string>("1");
  verb->add_flag("--peaks", *peaks, "measure arithmetic and memory peaks (seconds)");
  verb->add_option("--threads", *threads, "for --peaks: a list, e.g. 1,2")->capture_default_str();
  verb->callback([&session, peaks, threads] {
    const std::vector<int> counts = thread_counts(*threads);
    const Machine& machine = session.registry().machine();
    show_machine(machine);
    show_compiler(machine);
    show_devices();
    if (*peaks) show_peaks(machine, counts);
    std::cout << "environment\n";
    show_settings();
  });
}

}  // namespace nrd::cli
