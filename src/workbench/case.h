// SPDX-License-Identifier: MIT
// src/workbench/case.h: one case: what is computed, on which data, and how it is measured.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ops/desc.h"

namespace nrd {

enum class CacheState { kWarm, kCold };

// How calls follow each other. eager: on the CPU, one after the other. On a device: back_to_back,
// one behind the other without a gap, where heat and power limit the clock; gapped, each behind a
// pause in which the L2 is flushed.
enum class Regime { kEager, kBackToBack, kGapped };

// normal: about N(0, 1). wide: magnitudes 2^-12 to 2^12. outliers: normal, one value in 256 is
// 64 times larger. denormal: subnormal in f32. special: normal with NaN, Inf and zeros strewn in.
// constant: one value per operand. full: N(0, 1) with its tails, and operands that are 8-bit floats
// scaled so that they fill their format, as quantised weights do; for timing, as the power that a
// product takes depends on its data.
enum class Distribution { kNormal, kWide, kOutliers, kDenormal, kSpecial, kConstant, kFull };
std::string_view word(CacheState cache);
std::string_view word(Regime regime);
Expected<Regime> parse_regime(std::string_view text);
std::string_view word(Distribution distribution);
std::span<const Distribution> all_distributions();  // those of `check`: all but full
Expected<Distribution> parse_distribution(std::string_view text);

// As the command line and the protocol between supervisor and worker spell it.
struct CaseSpec {
  std::string op;
  CaseRequest request;
  bool b_kn = false;  // --opt b=kn: B of a product stored row by row and not K-contiguous
  int64_t pad = 0;    // --opt pad=16: rows of inputs lie 16 elements further apart than they need
  Device device;
  int threads = 1;
  CacheState cache = CacheState::kWarm;
  Regime regime = Regime::kEager;
  Distribution distribution = Distribution::kNormal;
  uint64_t seed = 1;
};

struct Case {
  CaseSpec spec;
  Desc desc;

  std::string options_text() const;  // of the Desc, and the layout where it is not the default
  std::string text() const;          // case_text of it
  bool on_device() const { return desc.device.kind != DeviceKind::kCpu; }
};

// What tells a case from others. Rows, ratios, reports and comparisons spell it by this alone:
// "gemm m=16,n=64,k=64 f32 threads=1 warm", on a device "... f32 cuda:0 cold gapped".
struct CaseWords {
  std::string_view op, shape, dtype, options, device, threads, cache, regime;
};
std::string case_text(const CaseWords& words);

Expected<Case> make_case(const CaseSpec& spec);

nlohmann::json to_json(const CaseSpec& spec);
CaseSpec case_spec_from_json(const nlohmann::json& json);

// "m=1,16;n=64..512:*2;k=4096" -> every combination. Lists with commas, ranges with first..last
// and a step (:+64 or :*2, *2 unless said); keys are parted by semicolons, or by commas where
// the next part begins with a key.
Expected<std::vector<std::map<std::string, int64_t, std::less<>>>> parse_shapes(
    std::string_view text);

// "cast=before_weight,eps=1e-6,+bias,b=kn,pad=16,batch_invariant=yes" into a spec; each once.
Expected<void> apply_options(CaseSpec& spec, std::string_view text);

// "m=1..64;n=256..16384;k=512,4096": where sizes may lie, both ends included. A size alone is a
// range of one; a list is a choice of ranges.
struct SizeRange {
  int64_t low = 1, high = 1;
};
using SizeRanges = std::map<std::string, std::vector<SizeRange>, std::less<>>;
Expected<SizeRanges> parse_ranges(std::string_view text);

// The command line that measures the case again: "nereid bench gemm --shape 'm=1;n=2;k=3' ...".
std::string bench_command(const CaseSpec& spec, const std::vector<std::string>& backends);

}  // namespace nrd
