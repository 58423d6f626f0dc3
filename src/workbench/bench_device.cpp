// SPDX-License-Identifier: MIT
// src/workbench/bench_device.cpp: checks first, then one race in the device's worker.
#include "workbench/bench_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/device.h"
#include "base/interrupt.h"

namespace nrd {
namespace {

// A roof has nothing to check.
bool computes(const KernelRegistry& registry, const std::string& backend) {
  Expected<Backend*> found = registry.find_backend(backend);
  return !found || (*found)->computes();
}

std::optional<double> figure(const nlohmann::json& json, const char* key) {
  auto found = json.find(key);
  if (found == json.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

// A case without what changes only how it is timed.
std::string checked_key(const Case& c, const std::string& backend) {
  CaseSpec spec = c.spec;
  spec.cache = CacheState::kCold;
  spec.regime = Regime::kBackToBack;
  return backend + to_json(spec).dump();
}

}  // namespace

Expected<Worker*> DeviceBench::ready() {
  if (worker_ && worker_->alive()) return worker_.get();
  worker_.reset();
  std::vector<Backend*> backends;
  for (const std::string& name : options_.backends)
    if (Expected<Backend*> backend = registry_.find_backend(name);
        backend && (*backend)->runs_on(DeviceKind::kCuda))
      backends.push_back(*backend);
  Expected<std::unique_ptr<Worker>> started =
      Worker::start_shared(registry_, backends, options_.worker);
  if (!started) return started.error();
  worker_ = std::move(*started);
  return worker_.get();
}

std::vector<Row> DeviceBench::start_rows(const Case& c) {
  std::vector<Row> rows;
  for (const std::string& name : options_.backends) {
    Expected<Backend*> backend = registry_.find_backend(name);
    const bool capable = backend && (*backend)->runs_on(DeviceKind::kCuda) && (*backend)->load() &&
                         !(*backend)->kernels(*c.desc.op).empty();
    if (options_.only_capable && !capable) continue;
    rows.push_back(make_row(c, name));
  }
  return rows;
}

// A case that was checked in another regime is not checked again.
bool DeviceBench::reuse_check(Row& row, const Case& c) {
  auto found = checked_.find(checked_key(c, row.backend));
  if (found == checked_.end()) return false;
  const Row& known = found->second;
  const Row asked = row;
  row = known;  // it was kept before it was timed
  row.cache = asked.cache;
  row.regime = asked.regime;
  return true;
}

void DeviceBench::check(Row& row, const Case& c, References& references) {
  if (reuse_check(row, c)) return;
  Expected<Backend*> backend = registry_.find_backend(row.backend);
  if (!backend) return end_row(row, backend.error(), false);
  if (!(*backend)->runs_on(DeviceKind::kCuda))
    return end_row(row,
                   make_error({.code = ErrorCode::kUnsupported,
                               .op = c.desc.op->name,
                               .argument = "backend " + row.backend,
                               .got = to_string(c.desc.device),
                               .allowed = "cpu"}),
                   false);
  Expected<Worker*> worker = ready();
  if (!worker) return end_row(row, worker.error(), true);
  if (std::optional<Error> absent = (*worker)->absent(row.backend))
    return end_row(row, *absent, true);
  const CheckPlan plan{
      options_.distributions_of(c), {{"backend", row.backend}}, computes(registry_, row.backend)};
  const Expected<Checked> checked = check_row(row, **worker, plan, c, references);
  if (!checked) end_row(row, checked.error(), false);
  if (row.outcome == Outcome::kError) worker_.reset();  // the device may be in any state
  checked_.emplace(checked_key(c, row.backend), row);
}

void DeviceBench::measure_roofs(const Case& c) {
  const std::string device = to_string(c.desc.device);
  if (roofline_.devices().contains(device)) return;
  Expected<Worker*> worker = ready();
  if (!worker) return;
  Expected<nlohmann::json> reply = (*worker)->request({{"do", "roofs"}, {"device", device}});
  if (reply) roofline_.devices()[device] = gpu_roofs_from_json(reply->at("roofs"));
}

// One race; the names of the backends that broke it.
std::vector<std::string> DeviceBench::race_once(std::vector<Row>& rows, const Case& c) {
  std::vector<std::string> broke;
  nlohmann::json names = nlohmann::json::array();
  for (const Row& row : rows)
    if (row.outcome == Outcome::kPass || row.outcome == Outcome::kFail)
      names.push_back(row.backend);
  if (names.empty()) return broke;
  Expected<Worker*> worker = ready();
  Expected<nlohmann::json> reply = worker ? (*worker)->request({{"do", "race"},
                                                                {"case", to_json(c.spec)},
                                                                {"backends", names},
                                                                {"rounds", options_.rounds},
                                                                {"ms", options_.slice_ms},
                                                                {"seconds", options_.case_seconds}})
                                          : Expected<nlohmann::json>(worker.error());
  for (Row& row : rows) {
    if (std::find(names.begin(), names.end(), row.backend) == names.end()) continue;
    if (!reply) {
      end_row(row, reply.error(), false);
      broke.push_back(row.backend);
      continue;
    }
    const nlohmann::json& entry = reply->at("rows").at(row.backend);
    if (!entry.value("ok", false)) {
      end_row(row, error_of_reply(entry), false);
      broke.push_back(row.backend);
      continue;
    }
    row.slices_us = entry.at("slices").get<std::vector<double>>();
    row.median_us = median(row.slices_us);
    const auto samples = entry.at("samples").get<std::vector<double>>();
    row.p10_us = percentile(samples, 0.10);
    row.p90_us = percentile(samples, 0.90);
    row.prepare_us = figure(entry, "prepare_us");
    row.workspace_bytes = figure(entry, "workspace_bytes");
    row.peak_bytes = figure(entry, "peak_bytes");
    row.note = entry.value("note", "");
    row.timing = entry.value("timing", "");
    row.sm_mhz = figure(entry, "sm_mhz");
    row.watts = figure(entry, "watts");
    if (!reply->value("in_time", true))
      row.flags.push_back(fmt::format("{} of {} slices", row.slices_us.size(), options_.rounds));
    if (entry.contains("throttled") && entry["throttled"].is_boolean())
      row.throttled = entry["throttled"].get<bool>();
  }
  return broke;
}

// Whoever breaks the race is out, and the others run again in a new worker.
void DeviceBench::race(std::vector<Row>& rows, const Case& c) {
  while (!race_once(rows, c).empty()) worker_.reset();
}

void DeviceBench::finish(Row& row, const Case& c) {
  const std::string device = to_string(c.desc.device);
  auto roofs = roofline_.devices().find(device);
  judge_on_device(row, c.desc, roofs != roofline_.devices().end() ? roofs->second : GpuRoofs{});
}

std::vector<Row> DeviceBench::run(const Case& c) {
  std::vector<Row> rows = start_rows(c);
  References references;
  for (Row& row : rows)
    if (!interrupted()) check(row, c, references);
  if (options_.time && !interrupted()) {
    const bool any = std::any_of(rows.begin(), rows.end(), [](const Row& row) {
      return row.outcome == Outcome::kPass || row.outcome == Outcome::kFail;
    });
    if (any) measure_roofs(c);
    race(rows, c);
  }
  // Those that were stopped before they had a verdict.
  if (interrupted()) std::erase_if(rows, [](const Row& r) { return r.outcome == Outcome::kError; });
  for (Row& row : rows) finish(row, c);
  return rows;
}

}  // namespace nrd
