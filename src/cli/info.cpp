// SPDX-License-Identifier: MIT
// src/cli/info.cpp: nereid info: the machine, the build, the settings.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "base/env.h"
#include "cli/report.h"
#include "cli/session.h"
#include "compiler/parts.h"
#include "dispatch/devices.h"
#include "version.h"
#include "workbench/environment.h"

namespace nrd::cli {
namespace {

using nlohmann::json;

struct InfoFlags {
  bool peaks = false;
  std::string threads = "1";
  JsonOption json;
};

json settings() {
  json list = json::array();
  for (const EnvVariable& v : env_variables()) {
    const std::optional<std::string> value = env(v.name);
    list.push_back({{"name", v.name},
                    {"value", value ? json(*value) : json(nullptr)},
                    {"meaning", v.meaning}});
  }
  return list;
}

json facts(const Machine& machine) {
  const DeviceProfile& p = machine.profile;
  json caches = json::array();
  for (const CacheLevel& c : p.caches)
    if (c.bytes > 0) caches.push_back({{"name", c.name}, {"bytes", c.bytes}});
  return {{"schema", 1},
          {"nereid_version", kVersion},
          {"git", kGitRevision},
          {"compiler", kCompiler},
          {"build_type", kBuildType},
          {"cpu", p.cpu},
          {"microarchitecture", p.microarchitecture},
          {"isa", machine.isa.to_string()},
          {"isa_level", best_level(machine.isa).word},
          {"cores", p.cores},
          {"caches", caches},
          {"nominal_ghz", p.nominal_ghz},
          {"nominal_f32_gflops_per_core", p.nominal.f32_fma},
          {"nominal_dram_gbps", p.nominal_dram_gbps},
          {"jit", describe_compiler(machine.isa)},
          {"devices", describe_devices()},
          {"measured", json::array()},
          {"environment", settings()}};
}

std::string size_text(double bytes) {
  return bytes >= 1 << 20 ? fmt::format("{:g} MiB", bytes / (1 << 20))
                          : fmt::format("{:g} KiB", bytes / 1024);
}

std::string word_of(const json& object, const char* key) { return object[key].get<std::string>(); }

void show_machine(const json& info) {
  std::string caches;
  for (const json& c : info["caches"])
    caches += fmt::format("{}{} {}", caches.empty() ? "" : ", ", word_of(c, "name"),
                          size_text(c["bytes"]));
  std::cout << fmt::format(
      "nereid {}   {}, {}\ncpu     {} ({})\nisa     {}   level {}\ncores   {} for this "
      "process\ncaches  {}\n",
      word_of(info, "nereid_version"), word_of(info, "compiler"), word_of(info, "build_type"),
      word_of(info, "cpu"), word_of(info, "microarchitecture"), word_of(info, "isa"),
      word_of(info, "isa_level"), info["cores"].get<int>(), caches);
  std::cout << fmt::format(
      "nominal {:.0f} GFLOP/s f32 a core at {:.2f} GHz, {:.0f} GB/s a socket\n",
      info["nominal_f32_gflops_per_core"].get<double>(), info["nominal_ghz"].get<double>(),
      info["nominal_dram_gbps"].get<double>());
  for (const json& line : info["jit"]) std::cout << "jit     " << line.get<std::string>() << "\n";
  for (const json& line : info["devices"])
    std::cout << "device  " << line.get<std::string>() << "\n";
}

void show_peaks(const json& peaks) {
  const int threads = peaks["threads"];
  std::cout << fmt::format("measured, {} thread{}\n", threads, threads > 1 ? "s" : "");
  const std::tuple<const char*, const char*, const char*> rates[] = {
      {"ghz", "clock", "GHz"},
      {"f32_gflops", "f32 FMA", "GFLOP/s"},
      {"bf16_dot_gflops", "bf16 dot", "GFLOP/s"},
      {"int8_gops", "int8 dot", "Gop/s"},
      {"amx_bf16_gflops", "AMX bf16", "GFLOP/s"},
      {"amx_int8_gops", "AMX int8", "Gop/s"}};
  for (const auto& [key, name, unit] : rates)
    if (const double rate = peaks[key]; rate > 0)
      std::cout << fmt::format("  {:<8} {:8.1f} {}\n", name, rate, unit);
  for (const json& s : peaks["streams"])
    std::cout << fmt::format("  {:<8} {:8.1f} GB/s read {:8.1f} copy {:8.1f} copy, non-temporal\n",
                             word_of(s, "level"), s["read"].get<double>(), s["copy"].get<double>(),
                             s["copy_nt"].get<double>());
}

void show_settings(const json& list) {
  std::cout << "environment\n";
  for (const json& v : list)
    std::cout << fmt::format("  {:<20} {}{}\n", word_of(v, "name"),
                             v["value"].is_null() ? "" : "= " + word_of(v, "value") + "   ",
                             word_of(v, "meaning"));
}

void run(Session& session, InfoFlags& flags) {
  const std::vector<int> counts = thread_counts(flags.threads);
  const Machine& machine = session.registry().machine();
  json info = facts(machine);
  if (!flags.json.replaces_text()) show_machine(info);
  for (int n : counts) {
    if (!flags.peaks) break;
    info["measured"].push_back(describe_peaks(measure_peaks(machine.profile, n, 3.0)));
    if (!flags.json.replaces_text()) show_peaks(info["measured"].back());
  }
  if (!flags.json.replaces_text()) show_settings(info["environment"]);
  flags.json.write(info);
}

}  // namespace

void add_info(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("info", "this machine, this build, the settings");
  auto flags = std::make_shared<InfoFlags>();
  verb->add_flag("--peaks", flags->peaks, "measure arithmetic and memory peaks (seconds)");
  verb->add_option("--threads", flags->threads, "for --peaks: a list, e.g. 1,2")
      ->capture_default_str();
  flags->json.add_to(*verb);
  verb->callback([&session, flags, verb] {
    flags->json.open(*verb);
    run(session, *flags);
  });
}

}  // namespace nrd::cli
