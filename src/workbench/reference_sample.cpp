// SPDX-License-Identifier: MIT
// src/workbench/reference_sample.cpp
#include "workbench/reference_sample.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/threads.h"
#include "workbench/data.h"
#include "workbench/reference.h"

namespace nrd {
namespace {

// Random indices of an axis when several are sampled: 64 x 64 outputs of a product.
constexpr int64_t kRandomPerAxis = 64;
constexpr int64_t kRandomOutputs = 4096;
// Kernels tile by this or a multiple, or by less than the first power of two that is looked at.
constexpr int64_t kTile = 64;
constexpr int64_t kMostEdges = 512;

uint64_t draw(uint64_t seed, uint64_t i) {
  uint64_t x = (seed + 1) * 0x9e3779b97f4a7c15ull + i * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 29)) * 0x94d049bb133111ebull;
  return x ^ (x >> 32);
}

AxisSample whole_axis(int64_t size) {
  AxisSample s(static_cast<size_t>(size));
  std::iota(s.begin(), s.end(), 0);
  return s;
}

// The first and last elements, both sides of tile edges, and random ones.
AxisSample sample_axis(int64_t size, int64_t random, int64_t edges, uint64_t seed) {
  std::set<int64_t> chosen = {0, 1, size - 2, size - 1};
  for (int64_t tile = 8; tile < size; tile *= 2) {
    chosen.insert({tile - 1, tile});
    chosen.insert(size / tile * tile - 1);  // the last whole tile and the tail behind it
    if (size % tile) chosen.insert(size / tile * tile);
  }
  const int64_t step = kTile * std::max<int64_t>(1, size / kTile * 2 / edges);
  for (int64_t edge = step; edge < size; edge += step) chosen.insert({edge - 1, edge});
  const auto wanted = std::min<int64_t>(size, static_cast<int64_t>(chosen.size()) + random);
  for (uint64_t i = 0; static_cast<int64_t>(chosen.size()) < wanted; i++)
    chosen.insert(static_cast<int64_t>(draw(seed, i) % static_cast<uint64_t>(size)));
  return {chosen.begin(), chosen.end()};
}

// Elements of an axis that share an entry of some operand (a scale): only whole blocks are drawn.
int64_t block_of(const Signature& s, int axis) {
  int64_t block = 1;
  for (const OperandSpec& operand : s.operands)
    for (const AxisRef& ref : operand.axes)
      if (ref.axis == axis) block = std::max<int64_t>(block, ref.block);
  return block;
}

// The first, the last two and two random blocks.
AxisSample sample_blocks(int64_t size, int64_t block, uint64_t seed) {
  const int64_t count = (size + block - 1) / block;
  std::set<int64_t> chosen = {0, std::max<int64_t>(0, count - 2), count - 1};
  for (uint64_t i = 0; i < 2; i++)
    chosen.insert(static_cast<int64_t>(draw(seed, i) % static_cast<uint64_t>(count)));
  AxisSample sample;
  for (int64_t b : chosen)
    for (int64_t i = b * block; i < std::min(size, (b + 1) * block); i++) sample.push_back(i);
  return sample;
}

bool can_sample(const Signature& s, int axis) {
  const Axis& a = s.axes[static_cast<size_t>(axis)];
  if (!a.separable || a.numerator >= 0) return false;
  for (const Axis& other : s.axes)
    if (other.numerator == axis || other.denominator == axis) return false;
  for (const OperandSpec& operand : s.operands)
    for (const AxisRef& ref : operand.axes)
      if (ref.axis == axis && ref.block > 1 && ref.block != block_of(s, axis)) return false;
  return true;
}

// More outputs than this are sampled on a device, whose cases are large and cheap, down to about
// half as many: hundreds of millions would take minutes on the CPU.
constexpr double kFullCheckDeviceOutputs = 1 << 22;
constexpr double kSampledDeviceOutputs = 1 << 21;
constexpr int64_t kFewestOfAxis = 16;

double outputs_of(const Desc& desc) {
  double count = 0;
  for (size_t i = static_cast<size_t>(desc.signature().inputs); i < desc.operands.size(); i++) {
    double elements = desc.operands[i].present ? 1 : 0;
    for (int64_t size : desc.operands[i].sizes) elements *= static_cast<double>(size);
    count += elements;
  }
  return count;
}

// Random indices of an axis, and edges of tiles.
struct SampleSizes {
  int64_t random, edges;
};

SampleSizes sample_sizes(const Case& c, const std::vector<bool>& cut) {
  const auto axes_cut = std::count(cut.begin(), cut.end(), true);
  if (!c.on_device()) return {axes_cut > 1 ? kRandomPerAxis : kRandomOutputs, kMostEdges};
  double left = kSampledDeviceOutputs / outputs_of(c.desc);
  for (size_t i = 0; i < cut.size(); i++)
    if (cut[i]) left *= static_cast<double>(c.desc.axes[i]);
  const auto of_axis = static_cast<int64_t>(std::pow(left, 1.0 / static_cast<double>(axes_cut)));
  return {std::clamp(of_axis / 2, kFewestOfAxis, kRandomPerAxis),
          std::clamp(of_axis / 2, kFewestOfAxis, kMostEdges)};
}

// One scale for a whole tensor follows from its largest element alone: rows with that one among
// them have the whole's scale, and are quantised like it. The axis of the rows, or -1.
int axis_beside_largest(const Case& c) {
  const Distribution d = c.spec.distribution;
  const bool one_scale =
      c.desc.op->name == "fp8_quantize" && c.desc.choice("granularity") == "tensor";
  const bool finite = d == Distribution::kNormal || d == Distribution::kFull;
  return c.on_device() && one_scale && finite ? c.desc.signature().find_axis("rows") : -1;
}

// The row of a matrix, its first operand, that holds the largest magnitude.
int64_t row_of_largest(const Case& c, int threads) {
  const OperandValues values(c, 0);
  const int64_t rows = c.desc.operands[0].sizes[0], cols = c.desc.operands[0].sizes[1];
  std::vector<double> largest(static_cast<size_t>(rows), 0.0);
  parallel_for({.threads = threads}, rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; row++) {
      double most = 0;
      for (int64_t i = row * cols; i < (row + 1) * cols; i++)
        most = std::max(most, std::fabs(values[static_cast<uint64_t>(i)]));
      largest[static_cast<size_t>(row)] = most;
    }
  });
  return std::max_element(largest.begin(), largest.end()) - largest.begin();
}

}  // namespace

bool is_sampled(const Case& c) {
  return cost(c.desc).flops > kFullCheckFlops ||
         (c.on_device() && outputs_of(c.desc) > kFullCheckDeviceOutputs);
}

std::vector<AxisSample> choose_samples(const Case& c, bool sampled, int round, int threads) {
  const Signature& s = c.desc.signature();
  const int beside_largest = axis_beside_largest(c);
  std::vector<bool> cut;
  for (size_t i = 0; i < s.axes.size(); i++) {
    const int axis = static_cast<int>(i);
    cut.push_back(sampled && c.desc.axes[i] > kRandomPerAxis &&
                  (can_sample(s, axis) || axis == beside_largest));
  }
  std::vector<AxisSample> samples;
  for (size_t i = 0; i < s.axes.size(); i++) {
    if (!cut[i]) {
      samples.push_back(whole_axis(c.desc.axes[i]));
      continue;
    }
    const uint64_t seed = c.spec.seed * 64 + i + 1000 * static_cast<uint64_t>(round);
    const auto [random, edges] = sample_sizes(c, cut);
    const int64_t block = block_of(s, static_cast<int>(i));
    samples.push_back(block > 1 ? sample_blocks(c.desc.axes[i], block, seed)
                                : sample_axis(c.desc.axes[i], random, edges, seed));
    if (static_cast<int>(i) != beside_largest) continue;
    const int64_t row = row_of_largest(c, threads);
    const auto place = std::lower_bound(samples[i].begin(), samples[i].end(), row);
    if (place == samples[i].end() || *place != row) samples[i].insert(place, row);
  }
  return samples;
}

}  // namespace nrd
