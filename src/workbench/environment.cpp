// SPDX-License-Identifier: MIT
// src/workbench/environment.cpp: what a reader must know to believe or repeat a figure.
#include "workbench/environment.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/env.h"
#include "version.h"

namespace nrd {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

nlohmann::json or_null(const std::string& text) {
  return text.empty() ? nlohmann::json(nullptr) : nlohmann::json(text);
}

// "always [madvise] never" -> "madvise"
std::string bracketed(const std::string& text) {
  const size_t open = text.find('['), close = text.find(']');
  return open == text.npos || close == text.npos ? text : text.substr(open + 1, close - open - 1);
}

std::string utc_now() {
  char text[32];
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string kernel_release() {
  utsname name{};
  return uname(&name) == 0 ? fmt::format("{} {}", name.sysname, name.release) : "";
}

nlohmann::json warnings(const std::string& governor) {
  nlohmann::json list = nlohmann::json::array();
  if (!governor.empty() && governor != "performance")
    list.push_back(fmt::format("the CPU governor is '{}', not 'performance'", governor));
  const double load = std::strtod(first_line("/proc/loadavg").c_str(), nullptr);
  if (load > 0.5 * available_cores())
    list.push_back(
        fmt::format("the machine was busy: load {:.1f} on {} cores", load, available_cores()));
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (!line.starts_with("flags") || line.find(" hypervisor") == line.npos) continue;
    list.push_back("a virtual machine: neighbours share its caches and memory");
    break;
  }
  if (std::string(kBuildType) == "Debug") list.push_back("a debug build");
  return list;
}

}  // namespace

nlohmann::json describe_peaks(const MeasuredPeaks& p) {
  nlohmann::json streams = nlohmann::json::array();
  for (const StreamRates& s : p.streams)
    streams.push_back(
        {{"level", s.level}, {"read", s.read}, {"copy", s.copy}, {"copy_nt", s.copy_nt}});
  return {{"threads", p.threads},
          {"ghz", p.ghz},
          {"f32_gflops", p.arithmetic.f32_fma},
          {"bf16_dot_gflops", p.arithmetic.bf16_dot},
          {"int8_gops", p.arithmetic.int8_dot},
          {"amx_bf16_gflops", p.arithmetic.amx_bf16},
          {"amx_int8_gops", p.arithmetic.amx_int8},
          {"streams", streams}};
}

nlohmann::json describe_backends(KernelRegistry& registry, const std::vector<std::string>& names,
                                 const WorkerOptions& options) {
  nlohmann::json list = nlohmann::json::array();
  for (const std::string& name : names) {
    Expected<Backend*> backend = registry.find_backend(name);
    if (!backend) continue;
    Expected<std::unique_ptr<Worker>> worker = Worker::start(registry, **backend, options);
    nlohmann::json entry = {{"name", name},
                            {"available", static_cast<bool>(worker)},
                            {"version", nullptr},
                            {"reason", nullptr}};
    if (worker)
      entry["version"] = or_null((*worker)->version());
    else
      entry["reason"] = worker.error().message();
    list.push_back(std::move(entry));
  }
  return list;
}

void describe_roofs(nlohmann::json& environment, const Roofline& roofline) {
  nlohmann::json measured = nlohmann::json::array(), devices = nlohmann::json::object();
  for (const auto& [threads, peaks] : roofline.all()) measured.push_back(describe_peaks(peaks));
  for (const auto& [name, roofs] : roofline.devices()) devices[name] = to_json(roofs);
  environment["measured"] = std::move(measured);
  environment["devices"] = std::move(devices);
}

nlohmann::json describe_environment(const Machine& machine, const std::string& command,
                                    const nlohmann::json& backends, const BenchOptions& options) {
  const DeviceProfile& p = machine.profile;
  nlohmann::json caches = nlohmann::json::array();
  for (const CacheLevel& c : p.caches)
    if (c.bytes > 0) caches.push_back({{"name", c.name}, {"bytes", c.bytes}});
  const std::string governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  return {{"nereid_version", kVersion},
          {"git", or_null(kGitRevision)},
          {"command", command},
          {"date", utc_now()},
          {"seed", options.cases.empty() ? 1 : options.cases.front().seed},
          {"cpu", p.cpu},
          {"microarchitecture", p.microarchitecture},
          {"isa", p.isa.to_string()},
          {"isa_cap", or_null(env("NEREID_ISA").value_or(""))},
          {"cores", p.cores},
          {"caches", caches},
          {"nominal_ghz", p.nominal_ghz},
          {"nominal",
           {{"f32_gflops_per_core", p.nominal.f32_fma},
            {"bf16_dot_gflops_per_core", p.nominal.bf16_dot},
            {"int8_gops_per_core", p.nominal.int8_dot},
            {"amx_bf16_gflops_per_core", p.nominal.amx_bf16},
            {"dram_gbps", p.nominal_dram_gbps}}},
          {"measured", nlohmann::json::array()},
          {"devices", nlohmann::json::object()},
          {"governor", or_null(governor)},
          {"smt", or_null(first_line("/sys/devices/system/cpu/smt/active"))},
          {"turbo", or_null(first_line("/sys/devices/system/cpu/cpufreq/boost"))},
          {"thp", or_null(bracketed(first_line("/sys/kernel/mm/transparent_hugepage/enabled")))},
          {"kernel", kernel_release()},
          {"compiler", kCompiler},
          {"build_type", kBuildType},
          {"backends", backends},
          {"method",
           {{"slice_ms", options.slice_ms},
            {"rounds", options.rounds},
            {"warmup", "half as long as the slice, before each"},
            {"timer", "steady_clock; on a device events, as each row says"},
            {"not_slower", kNotSlower},
            {"isolation", options.worker.in_process ? "one process"
                                                    : "one process a backend; on a device one for "
                                                      "all of them"}}},
          {"warnings", warnings(governor)}};
}

}  // namespace nrd
