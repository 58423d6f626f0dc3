// SPDX-License-Identifier: MIT
// tests/workbench/device_test.cpp: cases on a device, without one: checks, races, ratios, failures.
#include <gtest/gtest.h>

#include <atomic>
#include <nlohmann/json.hpp>

#include "tests/workbench/host_device.h"
#include "workbench/bench.h"
#include "workbench/device_profile.h"
#include "workbench/environment.h"

namespace nrd {
namespace {

size_t count(const Desc& desc) { return static_cast<size_t>(desc.axes[0]); }

Expected<void> relu(const Desc& desc, void* const* pointers) {
  const auto* x = static_cast<const float*>(pointers[0]);
  auto* out = static_cast<float*>(pointers[1]);
  for (size_t i = 0; i < count(desc); i++) out[i] = x[i] > 0 ? x[i] : 0;
  return {};
}

class OnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    set_device_runtime(&device_);
    DeviceQueue::set_maker(HostQueue::make);
    HostQueue::can_record = true;
    registry_.replace(std::make_unique<FunctionBackend>("cuda", relu));
    ours_copy_ = std::make_unique<FunctionBackend>(
        "roof", [](const Desc&, void* const*) -> Expected<void> { return {}; }, false);
    options_.worker.in_process = true;
    options_.rounds = 3;
    options_.slice_ms = 0.5;
    options_.backends = {"cuda"};
  }
  void TearDown() override {
    set_device_runtime(nullptr);
    DeviceQueue::set_maker(nullptr);
  }

  void add(std::string name, FunctionBackend::Run run) {
    ASSERT_TRUE(registry_.add(std::make_unique<FunctionBackend>(name, std::move(run))));
    options_.backends.push_back(std::move(name));
  }
  CaseSpec spec(const char* op = "relu", int64_t n = 1000) {
    CaseSpec spec;
    spec.op = op;
    spec.request.sizes["n"] = n;
    spec.device = {DeviceKind::kCuda, 0};
    spec.cache = CacheState::kCold;
    spec.regime = Regime::kBackToBack;
    return spec;
  }
  Results run(std::vector<CaseSpec> cases) {
    options_.cases = std::move(cases);
    return run_bench(registry_, options_, roofline_);
  }

  HostDevice device_;
  KernelRegistry registry_{*Machine::host()};
  Roofline roofline_{registry_.machine(), 0.01};
  BenchOptions options_;
  std::unique_ptr<FunctionBackend> ours_copy_;
};

TEST_F(OnDevice, ARaceIsCheckedTimedAndCompared) {
  add("cublaslt2", relu);
  ASSERT_TRUE(registry_.add(std::move(ours_copy_)));
  options_.backends.push_back("roof");
  const Results results = run({spec()});
  ASSERT_EQ(results.rows.size(), 3u);
  for (const Row& row : results.rows) {
    EXPECT_EQ(row.outcome, Outcome::kPass) << row.reason;
    EXPECT_EQ(row.slices_us.size(), 3u);
    EXPECT_EQ(row.device, "cuda:0");
    EXPECT_EQ(row.regime, "back_to_back");
    EXPECT_EQ(row.sm_mhz, 1500);
    EXPECT_EQ(row.watts, 600);
    EXPECT_NE(row.timing.find("a graph of"), std::string::npos) << row.timing;
  }
  EXPECT_TRUE(results.rows[0].max_abs);
  EXPECT_FALSE(results.rows[2].max_abs) << "a roof computes nothing";
  ASSERT_EQ(results.ratios.size(), 2u);
  EXPECT_EQ(results.ratios[0].backend, "cuda");
  EXPECT_EQ(results.ratios[1].against, "roof");
  EXPECT_EQ(results.ratios[0].case_text, "relu n=1000 f32 cuda:0 cold back_to_back");
  EXPECT_EQ(device_.live(), 0);
}

TEST_F(OnDevice, BothRegimesShareOneCheck) {
  int checked = 0;
  add("counted", [&](const Desc& desc, void* const* p) {
    checked++;
    return relu(desc, p);
  });
  options_.time = false;
  CaseSpec gapped = spec();
  gapped.regime = Regime::kGapped;
  const Results results = run({spec(), gapped});
  ASSERT_EQ(results.rows.size(), 4u);
  EXPECT_EQ(results.rows[3].outcome, Outcome::kPass);
  EXPECT_TRUE(results.rows[3].max_abs);
  EXPECT_EQ(checked, 2) << "two poisoned runs, of the first regime";
}

TEST_F(OnDevice, GappedCallsStandAlone) {
  HostQueue::flushes = 0;
  CaseSpec gapped = spec();
  gapped.regime = Regime::kGapped;
  const Results results = run({gapped});
  EXPECT_EQ(results.rows[0].timing, "events around 1 launch, a flush of the L2 before it");
  EXPECT_GT(HostQueue::flushes, 3);
}

TEST_F(OnDevice, WhatCannotBeRecordedIsLaunched) {
  HostQueue::can_record = false;
  const Results results = run({spec()});
  EXPECT_EQ(results.rows[0].outcome, Outcome::kPass);
  EXPECT_NE(results.rows[0].timing.find("no graph: got a call that waits"), std::string::npos)
      << results.rows[0].timing;
}

TEST_F(OnDevice, AStoreBesideAnOutputFails) {
  add("beside", [](const Desc& desc, void* const* p) {
    static_cast<float*>(p[1])[count(desc)] = 1;
    return relu(desc, p);
  });
  options_.time = false;
  const Results results = run({spec()});
  EXPECT_EQ(results.rows[1].outcome, Outcome::kFail);
  EXPECT_EQ(results.rows[1].reason, "wrote beside its outputs: out: 4 bytes behind its end");
}

TEST_F(OnDevice, WhatIsNotWrittenFails) {
  add("lazy", [](const Desc& desc, void* const* p) -> Expected<void> {
    Expected<void> done = relu(desc, p);
    static_cast<uint32_t*>(p[1])[7] = 0xA5A5A5A5;
    return done;
  });
  options_.time = false;
  EXPECT_EQ(run({spec()}).rows[1].outcome, Outcome::kFail);
}

TEST_F(OnDevice, AFailureEndsItsRowAndTheOthersGoOn) {
  int calls = 0;
  add("breaks", [&](const Desc& desc, void* const* p) -> Expected<void> {
    if (++calls > 2)  // after its check
      return make_error({.code = ErrorCode::kEnvironment, .got = "an illegal memory access"});
    return relu(desc, p);
  });
  const Results results = run({spec()});
  EXPECT_EQ(results.rows[1].outcome, Outcome::kError);
  EXPECT_NE(results.rows[1].reason.find("illegal memory access"), std::string::npos);
  EXPECT_EQ(results.rows[0].outcome, Outcome::kPass);
  EXPECT_EQ(results.rows[0].slices_us.size(), 3u);
}

TEST_F(OnDevice, RefusalsAndOtherDevicesAreSkipped) {
  options_.backends = {"cuda", "cpu"};
  options_.time = false;
  const Results results = run({spec("gelu")});
  EXPECT_EQ(results.rows[0].outcome, Outcome::kSkipped) << results.rows[0].reason;
  EXPECT_EQ(results.rows[1].outcome, Outcome::kSkipped) << results.rows[1].reason;
}

TEST_F(OnDevice, TheEnvironmentHasTheRoofs) {
  ASSERT_TRUE(registry_.add(std::make_unique<FunctionBackend>(
      "copy2", [](const Desc&, void* const*) -> Expected<void> { return {}; }, false)));
  (void)run({spec()});
  nlohmann::json environment =
      describe_environment(registry_.machine(), "", nlohmann::json::array(), options_);
  describe_roofs(environment, roofline_);
  const nlohmann::json& device = environment.at("devices").at("cuda:0");
  EXPECT_EQ(device.at("name"), "NVIDIA H200");
  EXPECT_NEAR(device.at("nominal").at("fp8_gflops").get<double>(), 132 * 8192 * 1.98, 1);
  const GpuRoofs back = gpu_roofs_from_json(device);
  EXPECT_EQ(back.facts.major, 9);
  EXPECT_EQ(back.facts.multiprocessors, 132);
}

TEST(ColdSets, LieBeyondTheL2) {
  CaseSpec spec;
  spec.op = "relu";
  spec.device = {DeviceKind::kCuda, 0};
  spec.regime = Regime::kBackToBack;
  auto sets = [&](int64_t n, double l2) {
    spec.request.sizes["n"] = n;
    return cold_device_sets(*make_case(spec), l2);
  };
  constexpr double kL2 = 60 << 20;
  EXPECT_EQ(sets(1 << 29, kL2), 2) << "as many as memory holds";
  EXPECT_EQ(sets(1 << 27, kL2), 4) << "never less than four";
  EXPECT_GE(sets(1 << 10, kL2) * double{8 << 10}, 64e6);
}

TEST(GpuPeaks, JudgeRows) {
  GpuRoofs roofs;
  roofs.facts = {.name = "NVIDIA H200",
                 .major = 9,
                 .minor = 0,
                 .multiprocessors = 132,
                 .max_sm_mhz = 1980,
                 .memory_gbps = 4800,
                 .l2_bytes = 60 << 20};
  roofs.copy = {{256e6, 4000}, {2e9, 4250}};
  roofs.read = {{256e6, 4100}, {2e9, 4500}};
  roofs.fp8_gflops = 1.3e6;
  CaseSpec spec;
  spec.op = "fp8_gemm";
  spec.request.sizes = {{"m", 4096}, {"n", 4096}, {"k", 4096}};
  spec.request.dtypes = "bf16";
  Row product;
  product.median_us = 100;
  product.sm_mhz = 1500;
  judge_on_device(product, make_case(spec)->desc, roofs);
  EXPECT_EQ(product.bound, "compute");
  EXPECT_NEAR(*product.gflops, 1374389.5, 1);
  EXPECT_NEAR(*product.percent_of_nominal, 100 * 1374389.5 / (132 * 8192 * 1.98), 0.1);
  EXPECT_NEAR(*product.percent_of_clock_peak, 100 * 1374389.5 / (132 * 8192 * 1.5), 0.1);
  EXPECT_GT(*product.percent_of_roofline, 100);
  EXPECT_EQ(product.flags.size(), 1u);

  spec = CaseSpec{};
  spec.op = "relu";
  spec.request.sizes["n"] = 1 << 25;  // 256 MiB in all
  Row stream;
  stream.median_us = 80;
  judge_on_device(stream, make_case(spec)->desc, roofs);
  EXPECT_EQ(stream.bound, "memory");
  EXPECT_NEAR(*stream.percent_of_roofline, 100 * (268435456 / 80.0 * 1e-3) / 4250, 0.1);
  EXPECT_FALSE(stream.percent_of_clock_peak);
}

TEST(Nvml, AbsentIsAReason) {
  const Expected<std::unique_ptr<Nvml>> opened = Nvml::open("0000:00:00.0", "libno-such-nvml.so.1");
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message().find("libno-such-nvml.so.1"), std::string::npos);
  GpuReadings none;
  none.add(GpuReading{});
  EXPECT_FALSE(none.mean().sm_mhz);
  GpuReadings some;
  some.add({.sm_mhz = 1000, .watts = 100, .throttled = false});
  some.add({.sm_mhz = 2000, .watts = {}, .throttled = true});
  EXPECT_EQ(some.mean().sm_mhz, 1500);
  EXPECT_EQ(some.mean().watts, 100);
  EXPECT_EQ(some.mean().throttled, true);
}

class CountingNvml final : public Nvml {
 public:
  GpuReading read() const override {
    reads++;
    return {.sm_mhz = 1000, .watts = {}, .throttled = {}};
  }
  GpuLimits limits() const override { return {}; }
  mutable std::atomic<int> reads{0};
};

TEST(Nvml, IsReadWhileASliceRuns) {
  using namespace std::chrono_literals;
  CountingNvml nvml;
  ClockLog log(nvml);
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(nvml.reads, 0) << "nothing is read in between";
  log.start();
  for (int i = 0; i < 1000 && nvml.reads < 3; i++) std::this_thread::sleep_for(1ms);
  const GpuReadings readings = log.stop();
  EXPECT_GE(nvml.reads, 3);
  EXPECT_EQ(readings.mean().sm_mhz, 1000);
  EXPECT_FALSE(readings.mean().watts);
}

}  // namespace
}  // namespace nrd
