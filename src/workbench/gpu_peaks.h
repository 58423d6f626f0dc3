// SPDX-License-Identifier: MIT
// src/workbench/gpu_peaks.h: what a GPU should reach, and what it reached in this run.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ops/desc.h"
#include "workbench/result.h"

namespace nrd {

// Dense operations a cycle and multiprocessor; 0 where the hardware has none.
struct TensorRates {
  double fp8 = 0;
  double half = 0;  // f16 and bf16, sums in f32
  double f32 = 0;   // the ordinary cores
};
TensorRates tensor_rates(int major, int minor);

struct GpuFacts {
  std::string name;
  int major = 0, minor = 0;
  int multiprocessors = 0;
  double max_sm_mhz = 0;   // 0 = unknown
  double memory_gbps = 0;  // bus width x clock
  double l2_bytes = 0;
};

// GB/s of a kernel over that many bytes, of a stream that lies in memory and not in the L2.
struct StreamPoint {
  double bytes = 0;
  double gbps = 0;
};

struct GpuRoofs {
  GpuFacts facts;
  std::optional<double> power_limit_watts;
  std::string driver, runtime, clocks;     // clocks: why they are not logged, empty when they are
  std::vector<StreamPoint> copy, read;     // copy: bytes read + written
  double fp8_gflops = 0, half_gflops = 0;  // one large product each; 0 = not measured
  std::string product;                     // by whom and how large
};

nlohmann::json to_json(const GpuRoofs& roofs);
GpuRoofs gpu_roofs_from_json(const nlohmann::json& json);

// Fills gflops, gbps, percentages, bound and flags of a row that was timed on the device.
void judge_on_device(Row& row, const Desc& desc, const GpuRoofs& roofs);

}  // namespace nrd
