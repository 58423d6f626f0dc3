// SPDX-License-Identifier: MIT
// tests/workbench/worker_test.cpp: a worker that dies is one failed row, and only that.
#include "workbench/worker.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "workbench/bench.h"

namespace nrd {
namespace {

struct Bench {
  KernelRegistry registry{*Machine::host()};
  BenchOptions options;
  Bench() {
    EXPECT_TRUE(registry.add_plugin(MISBEHAVING_PLUGIN));
    options.worker.program = NEREID_PROGRAM;
    options.worker.plugins = {MISBEHAVING_PLUGIN};
    options.worker.timeout_s = 20;
    options.time = false;
  }
  void add(const char* op, const char* shape) {
    CaseSpec spec;
    spec.op = op;
    spec.request.sizes = parse_shapes(shape)->front();
    options.cases.push_back(spec);
  }
  Results run() {
    Roofline roofline(registry.machine(), 0.1);
    return run_bench(registry, options, roofline);
  }
};

TEST(Workers, EveryDeathIsOneRowWithItsReason) {
  Bench s;
  s.options.backends = {"misbehaving", "cpu"};
  const std::pair<const char*, const char*> deaths[] = {{"exp", "SIGSEGV"},
                                                        {"tanh", "SIGILL"},
                                                        {"silu", "7"},
                                                        {"gelu", "thrown by the plug-in"},
                                                        {"gelu_tanh", "status 3"},
                                                        {"relu", "SIGSEGV"}};
  for (const auto& [op, reason] : deaths) s.add(op, "n=100");
  const Results results = s.run();
  ASSERT_EQ(results.rows.size(), 12u);
  for (size_t i = 0; i < 6; i++) {
    const Row &bad = results.rows[2 * i], &good = results.rows[2 * i + 1];
    EXPECT_EQ(bad.outcome, Outcome::kError) << bad.op;
    EXPECT_NE(bad.reason.find(deaths[i].second), std::string::npos) << bad.op << ": " << bad.reason;
    EXPECT_EQ(good.outcome, Outcome::kPass) << good.op << ": " << good.reason;
  }
  EXPECT_FALSE(results.all_ok());
}

TEST(Workers, AHangEndsAtTheTimeout) {
  Bench s;
  s.options.backends = {"misbehaving"};
  s.options.worker.timeout_s = 2;
  s.add("sigmoid", "n=100");
  const Results results = s.run();
  EXPECT_EQ(results.rows[0].outcome, Outcome::kError);
  EXPECT_NE(results.rows[0].reason.find("no answer within 2 s"), std::string::npos)
      << results.rows[0].reason;
}

TEST(Workers, WrongAndRefusedAreToldApart) {
  Bench s;
  s.options.backends = {"misbehaving"};
  s.add("softmax", "rows=4,cols=8");
  s.add("vec_sum", "n=8");
  s.add("rms_norm", "rows=4,cols=8");
  const Results results = s.run();
  EXPECT_EQ(results.rows[0].outcome, Outcome::kFail);
  EXPECT_EQ(results.rows[1].outcome, Outcome::kSkipped);
  EXPECT_NE(results.rows[1].reason.find("refuses everything"), std::string::npos);
  EXPECT_EQ(results.rows[2].outcome, Outcome::kSkipped);  // it has no such kernel
}

TEST(Workers, InProcessAndWorkerGiveTheSameOutputs) {
  Bench s;
  s.options.backends = {"cpu"};
  s.add("rms_norm", "rows=5,cols=33");
  const Results apart = s.run();
  s.options.worker.in_process = true;
  const Results inside = s.run();
  ASSERT_EQ(apart.rows[0].outcome, Outcome::kPass) << apart.rows[0].reason;
  EXPECT_EQ(apart.rows[0].max_abs, inside.rows[0].max_abs);
  EXPECT_EQ(apart.rows[0].l2_rel, inside.rows[0].l2_rel);
}

TEST(Workers, TimedRowsHaveSlicesAndARatio) {
  Bench s;
  s.options.backends = {"cpu", "scalar"};
  s.options.baseline = "scalar";
  s.options.time = true;
  s.options.rounds = 3;
  s.options.slice_ms = 2;
  s.add("vec_add", "n=1000");
  for (CacheState cache : {CacheState::kWarm, CacheState::kCold}) {
    s.options.cases[0].cache = cache;
    const Results results = s.run();
    ASSERT_EQ(results.rows.size(), 2u);
    for (const Row& row : results.rows) {
      EXPECT_EQ(row.outcome, Outcome::kPass) << row.reason;
      EXPECT_EQ(row.slices_us.size(), 3u);
      EXPECT_GT(*row.median_us, 0);
      EXPECT_LE(*row.p10_us, *row.p90_us);
      EXPECT_GT(*row.peak_bytes, 0);
    }
    ASSERT_EQ(results.ratios.size(), 1u);
    EXPECT_EQ(results.ratios[0].against, "scalar");
    EXPECT_LE(results.ratios[0].ratio.low, results.ratios[0].ratio.high);
  }
}

TEST(Workers, ABadCaseIsAnErrorRowForEachBackend) {
  Bench s;
  s.options.backends = {"cpu", "scalar"};
  s.add("rope", "tokens=1,heads=1,head_dim=7");
  const Results results = s.run();
  ASSERT_EQ(results.rows.size(), 2u);
  for (const Row& row : results.rows) {
    EXPECT_EQ(row.outcome, Outcome::kError);
    EXPECT_NE(row.reason.find("even"), std::string::npos) << row.reason;
  }
}

}  // namespace
}  // namespace nrd
