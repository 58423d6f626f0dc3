// SPDX-License-Identifier: MIT
// src/machine/isa.cpp: feature words, levels, caps. What the CPU has is read in isa_detect.cpp.
#include "machine/isa.h"

#include <array>
#include <cstddef>
#include <utility>

#include "base/env.h"

namespace nrd {
namespace {

constexpr size_t kFeatures = static_cast<size_t>(Feature::kCount);
static_assert(kFeatures <= 32, "IsaSet holds 32 bits");

// The word of each feature and the weakest level (index into kLevels) that may use it.
struct FeatureRow {
  Feature feature;
  std::string_view word;
  int level;
};

// On aarch64 one level exists, and code built for it has NEON only: a cap at baseline must leave
// nothing else, so the extensions belong to no level (kNoLevel) and survive only without a cap.
constexpr int kNoLevel = 99;

constexpr std::array<FeatureRow, kFeatures> kRows = {{
    {Feature::kAvx2, "avx2", 1},
    {Feature::kFma, "fma", 1},
    {Feature::kF16c, "f16c", 1},
    {Feature::kAvxVnni, "avx_vnni", 1},
    {Feature::kAvx512, "avx512", 2},
    {Feature::kAvx512Vnni, "avx512_vnni", 2},
    {Feature::kAvx512Bf16, "avx512_bf16", 2},
    {Feature::kAvx512Fp16, "avx512_fp16", 2},
    {Feature::kAmxTile, "amx_tile", 3},
    {Feature::kAmxInt8, "amx_int8", 3},
    {Feature::kAmxBf16, "amx_bf16", 3},
    {Feature::kNeon, "neon", 0},
    {Feature::kDotprod, "dotprod", kNoLevel},
    {Feature::kFp16, "fp16", kNoLevel},
    {Feature::kBf16, "bf16", kNoLevel},
    {Feature::kI8mm, "i8mm", kNoLevel},
    {Feature::kSve, "sve", kNoLevel},
}};

constexpr bool rows_are_in_order() {
  for (size_t i = 0; i < kFeatures; ++i) {
    if (kRows[i].feature != static_cast<Feature>(i)) return false;
  }
  return true;
}
static_assert(rows_are_in_order(), "kRows is indexed by Feature");

#if defined(__x86_64__)
constexpr IsaSet kAvx2Set = IsaSet().with(Feature::kAvx2).with(Feature::kFma).with(Feature::kF16c);
constexpr IsaSet kAvx512Set = kAvx2Set.with(Feature::kAvx512);
constexpr IsaSet kAmxSet =
    kAvx512Set.with(Feature::kAmxTile).with(Feature::kAmxInt8).with(Feature::kAmxBf16);
constexpr std::array<IsaLevel, 4> kLevels = {
    {{"baseline", IsaSet()}, {"avx2", kAvx2Set}, {"avx512", kAvx512Set}, {"amx", kAmxSet}}};
#else
constexpr std::array<IsaLevel, 1> kLevels = {{{"baseline", IsaSet().with(Feature::kNeon)}}};
#endif

// Everything that a level and those below it may use.
constexpr IsaSet features_up_to(int level) {
  IsaSet out;
  for (const FeatureRow& row : kRows) {
    if (row.level <= level) out = out.with(row.feature);
  }
  return out;
}

// The level words that `isa` can run, for the text of an error.
std::string words_within(IsaSet isa) {
  std::string out;
  for (const IsaLevel& level : kLevels) {
    if (!isa.contains(level.required)) continue;
    if (!out.empty()) out += ' ';
    out += level.word;
  }
  return out;
}

Error level_error(ErrorCode code, std::string_view argument, std::string_view word, IsaSet detected,
                  std::string hint) {
  return make_error({.code = code,
                     .op = "isa",
                     .argument = std::string(argument),
                     .got = '"' + std::string(word) + '"',
                     .allowed = words_within(detected),
                     .hint = std::move(hint)});
}

Expected<IsaSet> cap(IsaSet detected, std::string_view word, std::string_view argument) {
  for (size_t i = 0; i < kLevels.size(); ++i) {
    const IsaLevel& level = kLevels[i];
    if (level.word != word) continue;
    if (detected.contains(level.required)) return detected & features_up_to(static_cast<int>(i));
    return level_error(
        ErrorCode::kUnsupported, argument, word, detected,
        "it needs " + level.required.to_string() + "; this machine has " + detected.to_string());
  }
  return level_error(ErrorCode::kUnknownName, argument, word, detected,
                     "not an ISA level; listed are those of this machine");
}

}  // namespace

std::string_view feature_word(Feature feature) {
  const auto index = static_cast<size_t>(feature);
  return index < kFeatures ? kRows[index].word : std::string_view("unknown");
}

std::string IsaSet::to_string() const {
  std::string out;
  for (const FeatureRow& row : kRows) {
    if (!has(row.feature)) continue;
    if (!out.empty()) out += ' ';
    out += row.word;
  }
  return out.empty() ? "baseline" : out;
}

std::span<const IsaLevel> isa_levels() { return kLevels; }

const IsaLevel& best_level(IsaSet isa) {
  const IsaLevel* best = &kLevels.front();
  for (const IsaLevel& level : kLevels) {
    if (isa.contains(level.required)) best = &level;
  }
  return *best;
}

Expected<IsaSet> cap_isa(IsaSet detected, std::string_view level_word) {
  return cap(detected, level_word, "level");
}

Expected<IsaSet> isa_from_environment() {
  const std::optional<std::string> word = env("NEREID_ISA");
  if (!word || word->empty()) return detect_isa();
  return cap(detect_isa(), *word, "NEREID_ISA");
}

}  // namespace nrd
