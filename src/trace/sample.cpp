// SPDX-License-Identifier: MIT
// src/trace/sample.cpp: deterministic arguments from a counter-based generator.
#include "trace/sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <span>

#include "trace/assumption.h"
#include "trace/extents.h"

namespace nrd {
namespace {

// Enough for every sample; an index whose bound is loose would ask for gigabytes.
constexpr int64_t kMostElements = int64_t{1} << 20;

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  uint64_t next() {  // splitmix64
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  int64_t below(int64_t n) { return static_cast<int64_t>(next() % static_cast<uint64_t>(n)); }
  double normal() {  // the sum of four is close enough
    return (uniform() + uniform() + uniform() + uniform() - 2.0) * 1.7;
  }

 private:
  uint64_t state_;
};

double special(Random& random) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  static constexpr double kValues[] = {0.0,  -0.0,  kInf,  -kInf, kNan, 1e-40, -1e-45,
                                       3e38, -3e38, 1e-30, -1e20, 1.0,  -1.0,  88.8,
                                       -104, 0.5,   7.0,   -7.0,  1e6,  65520, 449};
  return kValues[random.below(std::size(kValues))];
}

double draw(Random& random, Spread spread) {
  switch (spread) {
    case Spread::kNormal: return random.normal();
    case Spread::kWide: return random.normal() * std::exp((random.uniform() - 0.5) * 27.0);
    case Spread::kSpecial: return random.below(4) == 0 ? special(random) : random.normal();
  }
  return 0;
}

// `most` bounds what is drawn where it leads to an index, from `least` on; none where it does not.
struct Drawn {
  bool indexes = false;
  int64_t least = 0, most = 0;
};

void put(char* at, DType dtype, Random& random, Spread spread, const Drawn& drawn) {
  auto write = [at](auto value) { std::memcpy(at, &value, sizeof value); };
  const int64_t index = drawn.least + random.below(drawn.most - drawn.least + 1);
  const double between = std::min<double>(static_cast<double>(drawn.most),
                                          static_cast<double>(index) + random.uniform());
  switch (dtype) {
    case DType::kF64: return write(draw(random, spread));
    case DType::kI32:
      return write(static_cast<int32_t>(drawn.indexes ? index : random.below(2001) - 1000));
    case DType::kI8:
    case DType::kU8: return write(static_cast<uint8_t>(drawn.indexes ? index : random.next()));
    default: return write(static_cast<float>(drawn.indexes ? between : draw(random, spread)));
  }
}

// What each pointer holds and how many elements it needs.
struct Plan {
  std::vector<Drawn> drawn;
  std::vector<Extent> touched;

  // The pointer whose memory cannot be told or is out of all proportion, or -1.
  int unbounded() const {
    for (size_t i = 0; i < touched.size(); i++)
      if (!touched[i].fits(kMostElements)) return static_cast<int>(i);
    return -1;
  }
};

Plan plan_from(const OpTrace& trace, std::span<const int64_t> sizes, int64_t least,
               bool whole_bytes) {
  Plan plan;
  std::vector<LoadedRange> loaded;
  const std::vector<bool> sources = index_sources(trace);
  for (const TraceParam& p : trace.params) {
    if (p.kind != TraceParamKind::kPointer) continue;
    Drawn& drawn = plan.drawn.emplace_back();
    LoadedRange& range = loaded.emplace_back();
    const bool bytes = p.dtype == DType::kU8 || p.dtype == DType::kI8;
    drawn.indexes = sources[loaded.size() - 1] && !p.written && !(bytes && whole_bytes);
    if (!drawn.indexes) continue;
    drawn.least = least;
    drawn.most = least + kLoadedIntegers - 1;
    if (p.dtype == DType::kF32)
      range.floats = FloatRange{static_cast<double>(least), static_cast<double>(drawn.most), false};
    else
      range.integers = Range{least, drawn.most};
  }
  plan.touched = extents(trace, sizes, loaded);
  return plan;
}

// Indices from 0 on, or from where none is negative; bytes as they come, if that will do.
Plan make_plan(const OpTrace& trace, std::span<const int64_t> sizes) {
  Plan plan;
  for (const bool whole_bytes : {true, false})
    for (const int64_t least : {0, 1, 2, 4}) {
      plan = plan_from(trace, sizes, least, whole_bytes);
      if (plan.unbounded() < 0) return plan;
    }
  return plan;
}

size_t count_sizes(const OpTrace& trace) {
  return static_cast<size_t>(
      std::count_if(trace.params.begin(), trace.params.end(),
                    [](const TraceParam& p) { return p.kind == TraceParamKind::kSize; }));
}

}  // namespace

std::string Sample::text() const { return fmt::format("sizes {}", fmt::join(sizes, " ")); }

Expected<Sample> make_sample(const OpTrace& trace, std::vector<int64_t> sizes, Spread spread,
                             uint64_t seed) {
  Random random(seed);
  Sample sample;
  sample.sizes = std::move(sizes);
  const Plan plan = make_plan(trace, sample.sizes);
  const int unbounded = plan.unbounded();
  size_t pointer = 0;
  for (const TraceParam& p : trace.params) {
    if (p.kind == TraceParamKind::kNumber) sample.numbers.push_back(0.1 + 3.0 * random.uniform());
    if (p.kind == TraceParamKind::kInt)
      sample.ints.push_back(2 + static_cast<int>(random.below(5)));
    if (p.kind != TraceParamKind::kPointer) continue;
    const int64_t count = plan.touched[pointer].end;
    const Drawn& drawn = plan.drawn[pointer];
    if (static_cast<int>(pointer++) == unbounded)
      return make_error({.code = ErrorCode::kUnsupported,
                         .op = trace.name,
                         .argument = p.name,
                         .got = "an index that cannot be bounded by the sizes"});
    const size_t bytes = byte_size(p.dtype);
    sample.elements.push_back(count);
    std::vector<char> buffer(static_cast<size_t>(count) * bytes);
    for (size_t i = 0; i < static_cast<size_t>(count); i++)
      put(buffer.data() + i * bytes, p.dtype, random, spread, drawn);
    sample.buffers.push_back(std::move(buffer));
  }
  return sample;
}

std::vector<int64_t> integers(const OpTrace& trace, const Sample& sample) {
  std::vector<int64_t> list;
  size_t size = 0, other = 0;
  for (const TraceParam& p : trace.params) {
    if (p.kind == TraceParamKind::kSize) list.push_back(sample.sizes[size++]);
    if (p.kind == TraceParamKind::kInt) list.push_back(sample.ints[other++]);
  }
  return list;
}

std::vector<std::string> integer_names(const OpTrace& trace) {
  std::vector<std::string> names;
  for (const TraceParam& p : trace.params)
    if (p.kind == TraceParamKind::kSize || p.kind == TraceParamKind::kInt) names.push_back(p.name);
  return names;
}

InPlacePairs::InPlacePairs(const OpTrace& trace, const std::vector<Sample>& samples) {
  constexpr int64_t kTiny = 4, kEnds = 4;
  std::vector<const TraceParam*> pointers;
  for (const TraceParam& p : trace.params)
    if (p.kind == TraceParamKind::kPointer) pointers.push_back(&p);
  for (size_t out = 0; out < pointers.size(); out++)
    for (size_t in = 0; in < pointers.size(); in++) {
      const bool fits = !pointers[in]->written && pointers[out]->written &&
                        pointers[in]->dtype == pointers[out]->dtype;
      if (!fits) continue;
      possible_.push_back({in, out});
      bool alike = true, any = false;
      for (const Sample& s : samples) {
        const bool tiny =
            std::any_of(s.sizes.begin(), s.sizes.end(), [](int64_t n) { return n < kTiny; });
        any = any || !tiny;
        alike = alike && (tiny || std::abs(s.elements[in] - s.elements[out]) <= kEnds);
      }
      if (any && alike) alike_.push_back({in, out});
    }
}

std::vector<InPlacePair> InPlacePairs::of(const Sample& sample) const {
  std::vector<InPlacePair> pairs;
  for (const InPlacePair& p : possible_) {
    const bool alike = std::find(alike_.begin(), alike_.end(), p) != alike_.end();
    const int64_t in = sample.elements[p.input], out = sample.elements[p.output];
    if (in > 0 && out > 0 && (alike || in == out)) pairs.push_back(p);
  }
  return pairs;
}

Sample with_shared(Sample sample, const InPlacePair& pair) {
  std::vector<char>&in = sample.buffers[pair.input], &out = sample.buffers[pair.output];
  if (in.size() < out.size()) in.insert(in.end(), out.begin() + std::ssize(in), out.end());
  out = in;
  int64_t& count = sample.elements[pair.input];
  count = std::max(count, sample.elements[pair.output]);
  sample.elements[pair.output] = count;
  return sample;
}

std::vector<std::vector<int64_t>> small_sizes(const OpTrace& trace) {
  static constexpr int64_t kLimits[] = {0, 40, 8, 4, 2};  // by the number of sizes
  const size_t count = count_sizes(trace);
  const int64_t limit = count < std::size(kLimits) ? kLimits[count] : 1;
  std::vector<std::vector<int64_t>> list;
  std::vector<int64_t> sizes(count, 0);
  size_t digit = 0;
  while (digit < count) {  // counts in base limit + 1
    list.push_back(sizes);
    for (digit = 0; digit < count && sizes[digit] == limit; digit++) sizes[digit] = 0;
    if (digit < count) sizes[digit]++;
  }
  return list;
}

std::vector<std::vector<int64_t>> negative_integers(const OpTrace& trace) {
  const size_t count = count_sizes(trace);
  std::vector<std::vector<int64_t>> list;
  for (const int64_t others : {1, 2, 5, 16}) {
    if (std::pow(others, static_cast<double>(count) - 1) > kProofPoints) break;
    for (size_t i = 0; i < count; i++)
      for (const int64_t value : {-1, -2, -3, -7, -64}) {
        list.emplace_back(count, others)[i] = value;
        for (size_t k = 0; k < i && others == 2; k++) {
          std::vector<int64_t>& both = list.emplace_back(count, others);
          both[i] = value, both[k] = -3;
        }
      }
    if (count < 2) break;
  }
  return list;
}

std::vector<std::vector<int64_t>> large_integers(const OpTrace& trace) {
  constexpr int64_t kValues[] = {kLargestSize + 3, (1 << 24) + 5, 0x7ffffff1, 0xfffffff3};
  const size_t count = count_sizes(trace);
  std::vector<std::vector<int64_t>> list;
  for (const int64_t value : kValues)
    for (size_t i = 0; i < count; i++) list.emplace_back(count, 3)[i] = value;
  return list;
}

std::vector<std::vector<int64_t>> sample_sizes(const OpTrace& trace, int64_t most_points) {
  static constexpr int64_t kSizes[] = {0, 1, 2, 3, 5, 8, 15, 16, 17, 33, 64, 65, 100, 130, 257};
  const size_t count = count_sizes(trace);
  std::vector<std::vector<int64_t>> list;
  double left = 2.0 * static_cast<double>(most_points);
  auto add = [&](std::vector<int64_t> sizes) {
    double points = 1;
    for (int64_t n : sizes) points *= static_cast<double>(n);
    if (points > static_cast<double>(most_points) || points > left) return;
    left -= points;
    list.push_back(std::move(sizes));
  };
  if (count == 0) return {{}};
  Random random(count);
  for (int mixed = 0; count > 1 && mixed < 12; mixed++) {
    std::vector<int64_t> sizes;
    for (size_t i = 0; i < count; i++)
      sizes.push_back(kSizes[random.below(std::size(kSizes) - (mixed % 2 ? 4 : 0))]);
    add(std::move(sizes));
  }
  for (int64_t n : kSizes) add(std::vector<int64_t>(count, n));
  return list;
}

}  // namespace nrd
