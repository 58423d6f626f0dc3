// SPDX-License-Identifier: MIT
// src/workbench/sweep_draw.cpp: sizes, dtypes, layouts and options of random cases.
#include "workbench/sweep_draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace nrd {
namespace {

constexpr int kAttempts = 200;  // of one case

// Bounds that follow from an axis's part in its signature; the budget does the rest.
constexpr int64_t kLongestVector = int64_t{1} << 24;  // of an operator with one axis
constexpr int64_t kLongestAxis = 16384;
constexpr int64_t kLongestPairs = 256;  // an axis of pairs, or one that divides another: a head
constexpr int64_t kMostQuotient = 128;  // heads in a row

constexpr int64_t kModelSizes[] = {1,    16,   32,   64,   80,   96,    128,   256,   512,
                                   640,  768,  1024, 1280, 1536, 2048,  2560,  2880,  3072,
                                   3584, 4096, 5120, 5632, 8192, 11008, 11264, 13824, 14336};
constexpr int64_t kSteps[] = {8, 16, 32, 64, 128};
constexpr int64_t kPads[] = {1, 8, 64};
constexpr const char* kWords[] = {"f32", "f16", "bf16", "i8"};
constexpr DType kFloats[] = {DType::kF32, DType::kF16, DType::kBF16};
constexpr DType kNumbers[] = {DType::kF32, DType::kF16, DType::kBF16, DType::kF8E4M3, DType::kI8};

// splitmix64: the same numbers from a seed on every machine.
class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed) {}
  uint64_t bits() {
    uint64_t x = state_ += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
  }
  bool chance(double p) { return static_cast<double>(bits() >> 11) * 0x1p-53 < p; }
  template <class List>
  const auto& pick(const List& list) {
    return list[bits() % std::size(list)];
  }

 private:
  uint64_t state_;
};

Dice dice_of(uint64_t seed, size_t index, int attempt) {
  Dice outer(seed), inner(outer.bits() ^ index);
  return Dice(inner.bits() ^ static_cast<uint64_t>(attempt));
}

int64_t log_uniform(uint64_t bits, int64_t low, int64_t high) {
  if (high < 1) return high;
  low = std::max<int64_t>(low, 1);
  const double share = static_cast<double>(bits >> 11) * 0x1p-53;
  const double first = std::log(static_cast<double>(low)),
               last = std::log(static_cast<double>(high) + 1);
  return std::clamp(static_cast<int64_t>(std::exp(first + share * (last - first))), low, high);
}

// --- sizes -----------------------------------------------------------------------------------

std::vector<SizeRange> ranges_of(const SweepSpace& space, const Signature& s, size_t axis) {
  const Axis& a = s.axes[axis];
  if (const auto given = space.sizes.find(a.name); given != space.sizes.end()) return given->second;
  const auto keys =
      std::count_if(s.axes.begin(), s.axes.end(), [](const Axis& other) { return other.is_key(); });
  const bool divides = std::any_of(s.axes.begin(), s.axes.end(), [&](const Axis& other) {
    return other.denominator == static_cast<int>(axis);
  });
  const int64_t high = a.even || divides ? kLongestPairs
                       : keys == 1       ? kLongestVector
                                         : kLongestAxis;
  return {{a.even ? 2 : 1, high}};
}

int64_t draw_in(Dice& dice, const std::vector<SizeRange>& ranges, bool even) {
  constexpr SizeKind kKinds[] = {SizeKind::kAny, SizeKind::kOdd, SizeKind::kMultiple,
                                 SizeKind::kModel};
  const SizeRange& range = dice.pick(ranges);
  const SizeKind kind = dice.pick(kKinds);
  return draw_size(kind, dice.bits(), range.low, range.high, even);
}

using Sizes = std::map<std::string, int64_t, std::less<>>;

Sizes draw_sizes(const SweepSpace& space, const Signature& s, Dice& dice) {
  Sizes sizes;
  for (size_t i = 0; i < s.axes.size(); i++)
    if (s.axes[i].is_key())
      sizes[s.axes[i].name] = draw_in(dice, ranges_of(space, s, i), s.axes[i].even);
  // A quotient is drawn, and what it follows from is made a multiple.
  for (const Axis& axis : s.axes) {
    if (axis.numerator < 0) continue;
    const std::string& whole = s.axes[static_cast<size_t>(axis.numerator)].name;
    const int64_t part = sizes[s.axes[static_cast<size_t>(axis.denominator)].name];
    const auto given = space.sizes.find(whole);
    const int64_t most = part > 0 && given != space.sizes.end() ? sizes[whole] / part : 0;
    sizes[whole] = part * (most > 0 ? most : draw_in(dice, {{1, kMostQuotient}}, false));
  }
  return sizes;
}

bool allowed(const SweepSpace& space, const Sizes& sizes) {
  for (const auto& [key, size] : sizes) {
    const auto given = space.sizes.find(key);
    if (given == space.sizes.end()) continue;
    if (std::none_of(given->second.begin(), given->second.end(), [&](const SizeRange& range) {
          return size >= range.low && size <= range.high;
        }))
      return false;
  }
  return true;
}

bool affordable(const SweepSpace& space, const Desc& desc) {
  double bytes = 0;
  for (const OperandDesc& operand : desc.operands) {
    double elements = operand.present ? 1 : 0;
    for (int d = 0; d < operand.sizes.size(); d++)
      elements *= static_cast<double>(operand.sizes[d]);
    bytes += elements * static_cast<double>(byte_size(operand.dtype));
  }
  return bytes <= space.most_bytes && cost(desc).flops <= space.most_flops;
}

// --- options, dtypes, layouts -----------------------------------------------------------------

std::vector<std::string> optional_operands(const Op& op) {
  std::set<std::string> names;
  for (const Signature& s : signatures(op))
    for (const OperandSpec& operand : s.operands)
      if (operand.optional) names.insert(operand.name);
  return {names.begin(), names.end()};
}

void draw_options(const Op& op, Dice& dice, CaseSpec& spec) {
  CaseRequest& request = spec.request;
  for (const ChoiceAttribute& choice : op.choices)
    if (!request.attributes.contains(choice.name) && dice.chance(0.5))
      request.attributes[choice.name] = dice.pick(choice.values);
  for (const std::string& name : optional_operands(op)) {
    const bool given =
        std::find(request.optional.begin(), request.optional.end(), name) != request.optional.end();
    if (!given && dice.chance(0.25)) request.optional.push_back(name);
  }
}

// Some inputs in f32 beside others in 16 bits, some results in another type than their inputs.
std::string mixed_dtypes(const Desc& desc, Dice& dice) {
  const Signature& s = desc.signature();
  std::string text;
  for (size_t i = 0; i < desc.operands.size(); i++) {
    if (!desc.operands[i].present) continue;
    const bool output = s.operands[i].output;
    DType dtype = desc.operands[i].dtype;
    if (s.operands[i].dtypes == DTypeClass::kNumber && output) dtype = dice.pick(kNumbers);
    if (s.operands[i].dtypes == DTypeClass::kFloat && i > 0 && dice.chance(0.5))
      dtype = output ? dice.pick(kFloats) : DType::kF32;
    if (!text.empty()) text += static_cast<int>(i) == s.inputs ? "->" : ",";
    text += word(dtype);
  }
  return text;
}

void draw_layout(Dice& dice, CaseSpec& spec) {
  auto try_out = [&](auto&& change) {
    CaseSpec changed = spec;
    change(changed);
    if (make_case(changed)) spec = changed;
  };
  if (dice.chance(0.3)) try_out([](CaseSpec& c) { c.b_kn = true; });
  const int64_t pad = dice.pick(kPads);
  if (spec.pad == 0 && dice.chance(0.15)) try_out([&](CaseSpec& c) { c.pad = pad; });
}

// The first variant that takes what was drawn; sizes follow from its signature.
Expected<Case> bind_drawn(const SweepSpace& space, const Op& op, Dice& dice, CaseSpec& spec) {
  std::optional<Error> complaint;
  for (const Signature& s : signatures(op)) {
    spec.request.sizes = draw_sizes(space, s, dice);
    Expected<Case> c = make_case(spec);
    if (c) return c;
    complaint = c.error();
  }
  return *complaint;
}

Expected<CaseSpec> draw_case(const SweepSpace& space, const Op& op, Dice& dice) {
  CaseSpec spec = space.base;
  spec.op = op.name;
  spec.threads = dice.pick(space.threads);
  spec.cache = dice.pick(space.caches);
  spec.regime = dice.pick(space.regimes);
  spec.request.dtypes = space.dtypes.empty() ? dice.pick(kWords) : dice.pick(space.dtypes);
  draw_options(op, dice, spec);
  Expected<Case> c = bind_drawn(space, op, dice, spec);
  if (!c) return c.error();
  if (space.dtypes.empty() && dice.chance(0.25)) {
    CaseSpec mixed = spec;
    mixed.request.dtypes = mixed_dtypes(c->desc, dice);
    Expected<Case> other = make_case(mixed);
    if (other && other->desc.dtype_text() != c->desc.dtype_text()) spec = mixed;
  }
  draw_layout(dice, spec);
  c = make_case(spec);
  if (!c) return c.error();
  if (allowed(space, spec.request.sizes) && affordable(space, c->desc)) return spec;
  return make_error({.code = ErrorCode::kInvalidArgument,
                     .op = op.name,
                     .argument = "shape",
                     .got = "sizes that fit no case",
                     .allowed = fmt::format("{:g} GFLOP and {:g} MB a case",
                                            space.most_flops * 1e-9, space.most_bytes * 1e-6),
                     .hint = "--most-gflop and --most-mb allow more"});
}

}  // namespace

int64_t draw_size(SizeKind kind, uint64_t bits, int64_t low, int64_t high, bool even) {
  int64_t size = log_uniform(bits, low, high);
  if (kind == SizeKind::kOdd && !even) size |= 1;
  if (kind == SizeKind::kMultiple) {
    const int64_t step = kSteps[bits % std::size(kSteps)];
    size = std::max(step, size / step * step);
  }
  if (kind == SizeKind::kModel) {
    std::vector<int64_t> fitting;
    for (int64_t known : kModelSizes)
      if (known >= low && known <= high) fitting.push_back(known);
    if (!fitting.empty()) size = fitting[bits % fitting.size()];
  }
  if (even) size = std::max<int64_t>(2, size / 2 * 2);
  return size >= low && size <= high ? size : log_uniform(bits, low, high);
}

Expected<std::vector<CaseSpec>> draw_cases(const SweepSpace& space, size_t count) {
  std::vector<CaseSpec> cases;
  std::set<std::string> seen;
  std::vector<bool> exhausted(space.ops.size());  // no case of it, or no new one, was found
  std::optional<Error> complaint;
  // Draws until a case binds, fits the budget and is new.
  auto draw_new = [&](size_t index, const Op& op) {
    for (int attempt = 0; attempt < kAttempts; attempt++) {
      Dice dice = dice_of(space.base.seed, index, attempt);
      Expected<CaseSpec> drawn = draw_case(space, op, dice);
      if (!drawn && !complaint) complaint = drawn.error();
      if (!drawn || !seen.insert(make_case(*drawn)->text()).second) continue;
      cases.push_back(std::move(*drawn));
      return true;
    }
    return false;
  };
  for (size_t i = 0; i < count; i++) {
    const size_t op = i % space.ops.size();
    if (!exhausted[op]) exhausted[op] = !draw_new(i, *space.ops[op]);
    if (std::find(exhausted.begin(), exhausted.end(), false) == exhausted.end()) break;
  }
  if (cases.empty() && complaint) return *complaint;
  return cases;
}

}  // namespace nrd
