// SPDX-License-Identifier: MIT
// src/workbench/bench.cpp: checks first, then slices A B A B, then ratios.
#include "workbench/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "base/interrupt.h"
#include "workbench/bench_device.h"
#include "workbench/bench_rows.h"

namespace nrd {
namespace {

constexpr int kFewestRounds = 3;

// One backend's part in the run: its worker (started when first needed, again after a death) and
// the reason when it has none.
class Contender {
 public:
  Contender(KernelRegistry& registry, std::string name, const WorkerOptions& options)
      : registry_(registry), name_(std::move(name)), options_(options) {}

  const std::string& name() const { return name_; }
  Worker* worker() { return worker_.get(); }

  bool has_kernel(const Op& op) const {
    Expected<Backend*> backend = registry_.find_backend(name_);
    return backend && (*backend)->load() && !(*backend)->kernels(op).empty();
  }

  Expected<Worker*> ready() {
    if (worker_ && worker_->alive()) return worker_.get();
    worker_.reset();
    if (unavailable_) return *unavailable_;
    Expected<Backend*> backend = registry_.find_backend(name_);
    if (!backend) return backend.error();
    Expected<std::unique_ptr<Worker>> started = Worker::start(registry_, **backend, options_);
    if (!started) {
      unavailable_ = started.error();
      return started.error();
    }
    worker_ = std::move(*started);
    return worker_.get();
  }

 private:
  KernelRegistry& registry_;
  std::string name_;
  const WorkerOptions& options_;
  std::unique_ptr<Worker> worker_;
  std::optional<Error> unavailable_;
};

struct Entry {
  Contender* contender = nullptr;
  Row row;
  std::vector<double> samples;
  bool timing = false;
  bool cut = false;  // the run was stopped in its middle
};

class CaseRun {
 public:
  CaseRun(const BenchOptions& options, const Case& c, Roofline& roofline)
      : options_(options), case_(c), roofline_(roofline) {}

  std::vector<Row> run(std::vector<Contender>& contenders) {
    for (Contender& contender : contenders) {
      if (options_.only_capable && !contender.has_kernel(*case_.desc.op)) continue;
      Entry entry{.contender = &contender, .row = make_row(case_, contender.name()), .samples = {}};
      prepare(entry);
      if (entry.cut) break;
      entries_.push_back(std::move(entry));
    }
    if (options_.time) time_all();
    std::vector<Row> rows;
    for (Entry& entry : entries_) rows.push_back(finish(entry));
    return rows;
  }

 private:
  void end(Entry& entry, const Error& error) {
    entry.timing = false;
    entry.cut = interrupted();
    if (entry.cut) return;
    end_row(entry.row, error, !entry.contender->worker());
  }

  void prepare(Entry& entry) {
    Expected<Worker*> worker = entry.contender->ready();
    if (!worker) return end(entry, worker.error());
    const CheckPlan plan{options_.distributions_of(case_), {}};
    const Expected<Checked> checked = check_row(entry.row, **worker, plan, case_, references_);
    if (!checked) return end(entry, checked.error());
    entry.cut = *checked == Checked::kStopped || (*checked == Checked::kEnded && interrupted());
    // Wrong is not slow: a user wants to see how fast the wrong one is, flagged as such.
    entry.timing = *checked == Checked::kRight ||
                   (*checked == Checked::kWrong && plan.distributions.size() == 1);
    if (!entry.timing || !options_.time || plan.distributions.back() == case_.spec.distribution)
      return;
    Expected<nlohmann::json> loaded =
        (*worker)->request({{"do", "load"}, {"case", to_json(case_.spec)}});
    if (!loaded) end(entry, loaded.error());
  }

  void time_all() {
    for (int round = 0; round < options_.rounds; round++) {
      for (Entry& entry : entries_) {
        if (interrupted()) return;
        if (!entry.timing || over_budget(entry, round)) continue;
        for (Entry& other : entries_)
          if (other.contender != entry.contender && other.contender->worker())
            wait_until_idle(other.contender->worker()->pid());
        time_slice(entry, round);
      }
    }
  }

  bool over_budget(const Entry& entry, int round) const {
    double spent = 0;
    for (double us : entry.row.slices_us) spent += std::max(us * 1e-6, options_.slice_ms * 1e-3);
    return round >= kFewestRounds && spent > options_.case_seconds;
  }

  void time_slice(Entry& entry, int round) {
    // Every backend has its turn on every core; with more threads than one they take them all.
    const CoreTurn turn(case_.spec.threads == 1 ? entry.contender->worker()->pid() : 0, round);
    Expected<nlohmann::json> slice =
        entry.contender->worker()->request({{"do", "slice"}, {"ms", options_.slice_ms}});
    if (!slice) return end(entry, slice.error());
    entry.row.slices_us.push_back(slice->at("median"));
    for (double sample : slice->at("samples")) entry.samples.push_back(sample);
    entry.row.prepare_us = slice->at("prepare_us").get<double>();
    entry.row.workspace_bytes = slice->at("workspace_bytes").get<double>();
    entry.row.peak_bytes = slice->at("peak_bytes").get<double>();
    entry.row.note = slice->value("note", "");
  }

  Row finish(Entry& entry) {
    Row& row = entry.row;
    if (!entry.samples.empty()) {
      row.median_us = median(row.slices_us);
      row.p10_us = percentile(entry.samples, 0.10);
      row.p90_us = percentile(entry.samples, 0.90);
    }
    roofline_.judge(row, case_);
    const bool stopped = options_.time && row.outcome == Outcome::kPass && interrupted();
    if ((!row.slices_us.empty() || stopped) &&
        static_cast<int>(row.slices_us.size()) < options_.rounds)
      row.flags.push_back(fmt::format("{} of {} slices", row.slices_us.size(), options_.rounds));
    return row;
  }

  const BenchOptions& options_;
  const Case& case_;
  Roofline& roofline_;
  std::vector<Entry> entries_;
  References references_;
};

}  // namespace

Results run_bench(KernelRegistry& registry, const BenchOptions& options, Roofline& roofline) {
  using Clock = std::chrono::steady_clock;
  Results results;
  results.cases = options.cases.size();
  std::vector<Contender> contenders;
  for (const std::string& name : options.backends)
    contenders.emplace_back(registry, name, options.worker);
  const std::string baseline = options.baseline.empty() && !options.backends.empty()
                                   ? options.backends.front()
                                   : options.baseline;
  DeviceBench devices(registry, options, roofline);
  const auto start = Clock::now();
  // How far the run is: by its cases, or by its time where that ends it earlier.
  auto progress = [&](size_t i) {
    const double by_cases = static_cast<double>(i) / static_cast<double>(options.cases.size());
    if (options.seconds <= 0) return by_cases;
    return std::max(by_cases,
                    std::chrono::duration<double>(Clock::now() - start).count() / options.seconds);
  };
  for (size_t i = 0; i < options.cases.size() && !interrupted(); i++) {
    if (options.seconds > 0 && progress(i) >= 1) {
      results.cases = results.cases_done;  // what was asked is done
      break;
    }
    Expected<Case> c = make_case(options.cases[i]);
    std::vector<Row> rows;
    if (!c) {
      rows = error_rows(options, options.cases[i], c.error());
    } else {
      if (options.progress) options.progress(c->text(), progress(i));
      rows = c->on_device() ? devices.run(*c) : CaseRun(options, *c, roofline).run(contenders);
    }
    const bool on_device = c && c->on_device();
    const std::string subject = options.subject.empty() && on_device ? "cuda" : options.subject;
    if (subject.empty())
      add_ratios(results, rows, baseline);
    else
      add_ratios_of(results, rows, subject, baseline);
    std::move(rows.begin(), rows.end(), std::back_inserter(results.rows));
    results.cases_done += !interrupted();
    if (options.on_rows) options.on_rows(results);
  }
  if (options.progress) options.progress("", 1);
  return results;
}

}  // namespace nrd
