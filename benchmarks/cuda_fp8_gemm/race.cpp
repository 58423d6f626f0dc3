// SPDX-License-Identifier: MIT
// benchmarks/cuda_fp8_gemm/race.cpp
#include "race.h"

#include <algorithm>
#include <cmath>

#include "cuda/launch/memory.h"

namespace nrd::bench {
namespace {

// One runner, ready to be timed.
class Lane {
 public:
  Lane(Runner& runner, const RaceOptions& options) : runner_(runner), options_(options) {}

  Expected<void> prepare(cuda::Stream stream) {
    for (int i = 0; i < 3; i++) NRD_TRY(runner_.call(i, stream));
    NRD_TRY(cuda::wait_for(stream));
    if (options_.calls_a_graph > 0) {
      auto graph = cuda::RecordedCalls::record([this](cuda::Stream s) -> Expected<void> {
        for (int i = 0; i < options_.calls_a_graph; i++) NRD_TRY(runner_.call(i, s));
        return {};
      });
      if (!graph) return graph.error();
      graph_ = std::move(*graph);
    }
    return calibrate(stream);
  }

  Expected<void> slice(cuda::Stream stream) {
    Expected<double> us =
        options_.calls_a_graph > 0 ? in_a_row(repeats_, stream) : one_by_one(repeats_, stream);
    if (!us) return us.error();
    runner_.slices.push_back(*us);
    return {};
  }

 private:
  Expected<void> calibrate(cuda::Stream stream) {
    Expected<double> us = options_.calls_a_graph > 0 ? in_a_row(1, stream) : one_by_one(3, stream);
    if (!us) return us.error();
    const double calls = std::max(1, options_.calls_a_graph);
    repeats_ = std::clamp(static_cast<int>(options_.slice_ms * 1000 / (*us * calls)), 1, 100000);
    return {};
  }

  Expected<double> in_a_row(int repeats, cuda::Stream stream) {
    Expected<cuda::Event> first = cuda::Event::create(), last = cuda::Event::create();
    if (!first) return first.error();
    if (!last) return last.error();
    NRD_TRY(graph_.launch(stream));  // what waits in the queue hides the time of launching
    NRD_TRY(first->record(stream));
    for (int i = 0; i < repeats; i++) NRD_TRY(graph_.launch(stream));
    NRD_TRY(last->record(stream));
    if (options_.nvml) runner_.readings.add(options_.nvml->read());
    NRD_TRY(last->wait());
    Expected<double> us = cuda::microseconds_between(*first, *last);
    if (!us) return us.error();
    return *us / (static_cast<double>(repeats) * options_.calls_a_graph);
  }

  Expected<double> one_by_one(int repeats, cuda::Stream stream) {
    double total = 0;
    for (int i = 0; i < repeats; i++) {
      Expected<cuda::Event> first = cuda::Event::create(), last = cuda::Event::create();
      if (!first) return first.error();
      if (!last) return last.error();
      if (options_.between) NRD_TRY(options_.between(stream));
      NRD_TRY(first->record(stream));
      NRD_TRY(runner_.call(i, stream));
      NRD_TRY(last->record(stream));
      if (options_.nvml && i == repeats / 2) runner_.readings.add(options_.nvml->read());
      NRD_TRY(last->wait());
      Expected<double> us = cuda::microseconds_between(*first, *last);
      if (!us) return us.error();
      total += *us;
    }
    return total / repeats;
  }

  Runner& runner_;
  const RaceOptions& options_;
  cuda::RecordedCalls graph_;
  int repeats_ = 1;
};

}  // namespace

void race(std::vector<Runner>& runners, const RaceOptions& options, cuda::Stream stream) {
  std::vector<Lane> lanes;
  lanes.reserve(runners.size());
  auto attempt = [](Runner& runner, auto&& step) {
    if (!runner.error.empty()) return;
    if (Expected<void> done = step(); !done) runner.error = done.error().message();
  };
  for (Runner& runner : runners) {
    runner.slices.clear();
    runner.readings = {};
    Lane& lane = lanes.emplace_back(runner, options);
    attempt(runner, [&] { return lane.prepare(stream); });
  }
  for (int round = 0; round < options.rounds; round++)
    for (size_t i = 0; i < runners.size(); i++)
      attempt(runners[i], [&] { return lanes[i].slice(stream); });
}

double median(std::vector<double> values) {
  if (values.empty()) return NAN;
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

double ratio(const Runner& runner, const Runner& of) {
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(runner.slices.size(), of.slices.size()); i++)
    ratios.push_back(of.slices[i] / runner.slices[i]);
  return median(ratios);
}

}  // namespace nrd::bench
