// SPDX-License-Identifier: MIT
// src/workbench/bench.cpp: checks first, then slices A B A B, then ratios.
#include "workbench/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

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
};

Row make_row(const Case& c, const std::string& backend) {
  Row row;
  row.op = c.desc.op->name;
  row.shape = c.desc.shape_text();
  row.dtype = c.desc.dtype_text();
  row.options = c.options_text();
  row.backend = backend;
  row.threads = c.spec.threads;
  row.cache = word(c.spec.cache);
  return row;
}

class CaseRun {
 public:
  CaseRun(const BenchOptions& options, const Case& c, Roofline& roofline)
      : options_(options), case_(c), roofline_(roofline) {}

  std::vector<Row> run(std::vector<Contender>& contenders) {
    for (Contender& contender : contenders) {
      if (options_.only_capable && !contender.has_kernel(*case_.desc.op)) continue;
      Entry entry{.contender = &contender, .row = make_row(case_, contender.name()), .samples = {}};
      prepare(entry);
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
    // Not able to is a skip, with its reason; anything else is an error.
    const bool refused =
        error.code == ErrorCode::kUnsupported || error.code == ErrorCode::kUnsupportedDtype;
    const bool absent = error.code == ErrorCode::kEnvironment && !entry.contender->worker();
    entry.row.outcome = refused || absent ? Outcome::kSkipped : Outcome::kError;
    entry.row.reason = error.message();
  }

  void prepare(Entry& entry) {
    Expected<Worker*> worker = entry.contender->ready();
    if (!worker) return end(entry, worker.error());
    for (Distribution distribution : options_.distributions) {
      CaseSpec spec = case_.spec;
      spec.distribution = distribution;
      Expected<nlohmann::json> loaded =
          (*worker)->request({{"do", "load"}, {"case", to_json(spec)}});
      if (!loaded) return end(entry, loaded.error());
      entry.row.kernel = loaded->value("kernel", "");
      entry.row.numerics = loaded->value("numerics", "");
      entry.row.isa = loaded->value("isa", "");
      if (!check(entry, **worker, spec)) return;
    }
    entry.row.outcome = Outcome::kPass;
    entry.timing = true;
    if (options_.distributions.back() != Distribution::kNormal && options_.time) {
      Expected<nlohmann::json> loaded =
          (*worker)->request({{"do", "load"}, {"case", to_json(case_.spec)}});
      if (!loaded) end(entry, loaded.error());
    }
  }

  // The reference is the same for every backend: computed once a distribution.
  Expected<Reference>& reference(const Case& c) {
    auto found = references_.find(c.spec.distribution);
    if (found == references_.end())
      found = references_.emplace(c.spec.distribution, make_reference(c, available_cores())).first;
    return found->second;
  }

  bool check(Entry& entry, Worker& worker, const CaseSpec& spec) {
    Expected<Case> c = make_case(spec);
    if (!c) return end(entry, c.error()), false;
    // The worker goes first: a case that does not fit into memory ends there.
    Expected<nlohmann::json> ran = worker.request({{"do", "outputs"}});
    if (!ran) return end(entry, ran.error()), false;
    Expected<Reference>& expected = reference(*c);
    if (!expected) return end(entry, expected.error()), false;
    Expected<std::vector<Output>> outputs = worker.outputs(*ran);
    if (!outputs) return end(entry, outputs.error()), false;
    RunOutputs all{.outputs = std::move(*outputs), .unwritten = ran->value("unwritten", "")};
    Verdict verdict = check_outputs(*c, all, *expected);
    // The figures shown are those of the first distribution, or of the one that failed.
    if (!entry.row.accuracy || !verdict.ok) entry.row.accuracy = verdict;
    if (verdict.ok) {
      if (expected->sampled) entry.row.flags = {"checked on a sample of the outputs"};
      return true;
    }
    entry.row.outcome = Outcome::kFail;
    entry.row.reason = options_.distributions.size() > 1
                           ? fmt::format("on {} data: {}", word(spec.distribution), verdict.reason)
                           : verdict.reason;
    // Wrong is not slow: a user wants to see how fast the wrong one is, flagged as such.
    entry.timing = verdict.ok || options_.distributions.size() == 1;
    return false;
  }

  void time_all() {
    for (int round = 0; round < options_.rounds; round++) {
      for (Entry& entry : entries_) {
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
    if (!row.slices_us.empty() && static_cast<int>(row.slices_us.size()) < options_.rounds)
      row.flags.push_back(fmt::format("{} of {} slices", row.slices_us.size(), options_.rounds));
    return row;
  }

  const BenchOptions& options_;
  const Case& case_;
  Roofline& roofline_;
  std::vector<Entry> entries_;
  std::map<Distribution, Expected<Reference>> references_;
};

void add_ratios(Results& results, const std::vector<Row>& rows, const std::string& baseline) {
  const Row* base = nullptr;
  for (const Row& row : rows)
    if (row.backend == baseline && row.median_us) base = &row;
  if (!base) return;
  for (const Row& row : rows)
    if (&row != base && row.median_us)
      results.ratios.push_back(
          {row.case_text(), row.backend, baseline, paired_ratio(row.slices_us, base->slices_us)});
}

// A request that is wrong in itself is one error row a backend, so that JSON tells the whole.
std::vector<Row> error_rows(const BenchOptions& options, const CaseSpec& spec, const Error& error) {
  std::vector<Row> rows;
  for (const std::string& backend : options.backends) {
    Row row;
    row.op = spec.op;
    for (const auto& [key, size] : spec.request.sizes)
      row.shape += fmt::format("{}{}={}", row.shape.empty() ? "" : ",", key, size);
    row.dtype = spec.request.dtypes;
    row.backend = backend;
    row.threads = spec.threads;
    row.cache = word(spec.cache);
    row.reason = error.message();
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

Results run_bench(KernelRegistry& registry, const BenchOptions& options, Roofline& roofline) {
  Results results;
  std::vector<Contender> contenders;
  for (const std::string& name : options.backends)
    contenders.emplace_back(registry, name, options.worker);
  const std::string baseline = options.baseline.empty() && !options.backends.empty()
                                   ? options.backends.front()
                                   : options.baseline;
  for (size_t i = 0; i < options.cases.size(); i++) {
    Expected<Case> c = make_case(options.cases[i]);
    std::vector<Row> rows;
    if (!c) {
      rows = error_rows(options, options.cases[i], c.error());
    } else {
      if (options.progress)
        options.progress(c->text(),
                         static_cast<double>(i) / static_cast<double>(options.cases.size()));
      rows = CaseRun(options, *c, roofline).run(contenders);
    }
    add_ratios(results, rows, baseline);
    std::move(rows.begin(), rows.end(), std::back_inserter(results.rows));
  }
  if (options.progress) options.progress("", 1);
  return results;
}

}  // namespace nrd
