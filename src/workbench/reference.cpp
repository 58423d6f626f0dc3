// SPDX-License-Identifier: MIT
// src/workbench/reference.cpp: sampling, gathering and evaluating the reference.
#include "workbench/reference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <set>
#include <span>

#include "base/convert.h"
#include "base/threads.h"
#include "graph/program.h"
#include "ops/round_to.h"
#include "workbench/child.h"
#include "workbench/data.h"

namespace nrd {
namespace {

// Random indices of an axis when several are sampled: 64 x 64 outputs of a product.
constexpr int64_t kRandomPerAxis = 64;
constexpr int64_t kRandomOutputs = 4096;
// Kernels tile by this or a multiple, or by less than the first power of two that is looked at.
constexpr int64_t kTile = 64;
constexpr int64_t kMostEdges = 512;
// f32 arithmetic in front of a rounding inside an operator can be off by this much, relatively.
constexpr double kRoundingSlack = 1e-5;

using Subset = std::vector<int64_t>;

uint64_t draw(uint64_t seed, uint64_t i) {
  uint64_t x = (seed + 1) * 0x9e3779b97f4a7c15ull + i * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 29)) * 0x94d049bb133111ebull;
  return x ^ (x >> 32);
}

Subset all_of(int64_t size) {
  Subset s(static_cast<size_t>(size));
  std::iota(s.begin(), s.end(), 0);
  return s;
}

// The first and last elements, both sides of tile edges, and random ones.
Subset sample_axis(int64_t size, int64_t random, uint64_t seed) {
  std::set<int64_t> chosen = {0, 1, size - 2, size - 1};
  for (int64_t tile = 8; tile < size; tile *= 2) {
    chosen.insert({tile - 1, tile});
    chosen.insert(size / tile * tile - 1);  // the last whole tile and the tail behind it
    if (size % tile) chosen.insert(size / tile * tile);
  }
  const int64_t step = kTile * std::max<int64_t>(1, size / kTile * 2 / kMostEdges);
  for (int64_t edge = step; edge < size; edge += step) chosen.insert({edge - 1, edge});
  const auto wanted = std::min<int64_t>(size, static_cast<int64_t>(chosen.size()) + random);
  for (uint64_t i = 0; static_cast<int64_t>(chosen.size()) < wanted; i++)
    chosen.insert(static_cast<int64_t>(draw(seed, i) % static_cast<uint64_t>(size)));
  return {chosen.begin(), chosen.end()};
}

bool can_sample(const Signature& s, int axis) {
  const Axis& a = s.axes[static_cast<size_t>(axis)];
  if (!a.separable || a.numerator >= 0) return false;
  for (const Axis& other : s.axes)
    if (other.numerator == axis || other.denominator == axis) return false;
  for (const OperandSpec& operand : s.operands)
    for (const AxisRef& ref : operand.axes)
      if (ref.axis == axis && ref.block > 1) return false;
  return true;
}

// More outputs than this are sampled on a device, whose cases are large and cheap.
constexpr double kFullCheckDeviceOutputs = 1 << 22;

double outputs_of(const Desc& desc) {
  double count = 0;
  for (size_t i = static_cast<size_t>(desc.signature().inputs); i < desc.operands.size(); i++) {
    double elements = desc.operands[i].present ? 1 : 0;
    for (int64_t size : desc.operands[i].sizes) elements *= static_cast<double>(size);
    count += elements;
  }
  return count;
}

bool is_sampled(const Case& c) {
  return cost(c.desc).flops > kFullCheckFlops ||
         (c.on_device() && outputs_of(c.desc) > kFullCheckDeviceOutputs);
}

std::vector<Subset> choose_subsets(const Case& c, bool sampled, int round) {
  const Signature& s = c.desc.signature();
  auto cut = [&](size_t i) {
    return sampled && c.desc.axes[i] > kRandomPerAxis && can_sample(s, static_cast<int>(i));
  };
  int64_t axes_cut = 0;
  for (size_t i = 0; i < s.axes.size(); i++) axes_cut += cut(i);
  const int64_t random = axes_cut > 1 || c.on_device() ? kRandomPerAxis : kRandomOutputs;
  std::vector<Subset> subsets;
  for (size_t i = 0; i < s.axes.size(); i++) {
    const uint64_t seed = c.spec.seed * 64 + i + 1000 * static_cast<uint64_t>(round);
    subsets.push_back(cut(i) ? sample_axis(c.desc.axes[i], random, seed) : all_of(c.desc.axes[i]));
  }
  return subsets;
}

int64_t blocks(int64_t size, int64_t block) { return (size + block - 1) / block; }

// The whole's contiguous index of every element of an operand's part, in the part's order.
std::vector<int64_t> part_positions(const Case& c, size_t operand,
                                    const std::vector<Subset>& subsets, Dims& part_sizes) {
  const OperandSpec& spec = c.desc.signature().operands[operand];
  std::vector<int64_t> positions = {0};
  for (const AxisRef& ref : spec.axes) {
    const Subset& subset = subsets[static_cast<size_t>(ref.axis)];
    const int64_t whole = blocks(c.desc.axes[static_cast<size_t>(ref.axis)], ref.block);
    const Subset steps = ref.block > 1 ? all_of(whole) : subset;
    std::vector<int64_t> next;
    next.reserve(positions.size() * steps.size());
    for (int64_t base : positions)
      for (int64_t step : steps) next.push_back(base * whole + step);
    positions = std::move(next);
    part_sizes.push_back(static_cast<int64_t>(steps.size()));
  }
  return positions;
}

// Rounded to `stored` as the case's memory is, then widened.
void gather_values(const OperandValues& source, DType stored, const std::vector<int64_t>& positions,
                   char* to, DType dtype, int threads) {
  constexpr int64_t kPiece = 16384;
  const auto count = static_cast<int64_t>(positions.size());
  const auto gather_piece = [&](int64_t piece) {
    const int64_t begin = piece * kPiece, n = std::min(kPiece, count - begin);
    std::vector<double> values(static_cast<size_t>(n));
    std::vector<char> narrow(values.size() * byte_size(stored));
    for (int64_t e = 0; e < n; e++)
      values[static_cast<size_t>(e)] =
          source[static_cast<uint64_t>(positions[static_cast<size_t>(begin + e)])];
    convert(values.data(), DType::kF64, narrow.data(), stored, values.size());
    convert(narrow.data(), stored, to + static_cast<size_t>(begin) * byte_size(dtype), dtype,
            values.size());
  };
  parallel_for({.threads = threads}, (count + kPiece - 1) / kPiece, 1,
               [&](int64_t begin, int64_t end) {
                 for (int64_t piece = begin; piece < end; piece++) gather_piece(piece);
               });
}

// The case's operands cut down to the part, as memory for one build of the definitions.
struct Part {
  Desc desc;
  std::vector<std::vector<char>> memory;
  std::vector<std::vector<int64_t>> positions;
};

Expected<Part> gather(const Case& c, const std::vector<Subset>& subsets, bool as_double,
                      int threads) {
  const Signature& s = c.desc.signature();
  Part part;
  std::vector<NamedOperand> operands;
  for (size_t i = 0; i < s.operands.size(); i++) {
    const OperandDesc& whole = c.desc.operands[i];
    Dims sizes;
    part.positions.push_back(part_positions(c, i, subsets, sizes));
    if (!whole.present) {
      part.memory.emplace_back();
      continue;
    }
    const std::vector<int64_t>& positions = part.positions.back();
    const DType dtype = as_double && is_float(whole.dtype) ? DType::kF64 : whole.dtype;
    std::vector<char> memory(positions.size() * byte_size(dtype));
    if (!s.operands[i].output)
      gather_values(OperandValues(c, i), whole.dtype, positions, memory.data(), dtype, threads);
    part.memory.push_back(std::move(memory));
    operands.push_back(
        {s.operands[i].name,
         {.dtype = whole.dtype, .sizes = sizes, .strides = contiguous_strides(sizes)}});
  }
  Expected<Desc> desc = bind(*c.desc.op, c.spec.request.attributes, operands);
  if (!desc) return desc.error();
  part.desc = std::move(*desc);
  return part;
}

Expected<void> evaluate(Part& part, Build build, int threads) {
  Expected<Program> program = Program::prepare(part.desc, build);
  if (!program) return program.error();
  std::vector<void*> pointers;
  for (std::vector<char>& memory : part.memory)
    pointers.push_back(memory.empty() ? nullptr : memory.data());
  // A zero-size operand still needs an address that may be offset by nothing.
  static char nothing[64];
  for (size_t i = 0; i < pointers.size(); i++)
    if (!pointers[i] && part.desc.operands[i].present) pointers[i] = nothing;
  std::vector<char> workspace(program->workspace_bytes() + 64);
  auto aligned = (reinterpret_cast<uintptr_t>(workspace.data()) + 63) / 64 * 64;
  program->run(pointers.data(), reinterpret_cast<void*>(aligned), {.threads = threads});
  return {};
}

// The same, but a user's function may crash on data that no proof had: it runs in a child, which
// hands the outputs over.
Expected<void> evaluate_guarded(Part& part, Build build, int threads) {
  if (part.desc.op->group != "user") return evaluate(part, build, threads);
  const std::span outputs =
      std::span(part.memory).subspan(static_cast<size_t>(part.desc.signature().inputs));
  Expected<std::string> bytes =
      run_in_child({.op = part.desc.op->name, .during = "while the reference was computed"},
                   [&]() -> Expected<std::string> {
                     NRD_TRY(evaluate(part, build, threads));
                     std::string all;
                     for (const std::vector<char>& o : outputs) all.append(o.data(), o.size());
                     return all;
                   });
  if (!bytes) return bytes.error();
  const char* at = bytes->data();
  for (std::vector<char>& o : outputs) {
    std::copy_n(at, o.size(), o.data());
    at += o.size();
  }
  return {};
}

std::vector<double> values_of(const Part& part, size_t operand, bool as_double) {
  const DType stored = part.desc.operands[operand].dtype;
  const DType dtype = as_double && is_float(stored) ? DType::kF64 : stored;
  std::vector<double> values(part.positions[operand].size());
  convert(part.memory[operand].data(), dtype, values.data(), DType::kF64, values.size());
  return values;
}

bool rounds_inside(const Desc& desc) {
  return !desc.types.empty() ||
         (desc.op->composite() && desc.bound().graph.find(':') != std::string::npos) ||
         (desc.op->composite() && desc.bound().graph.find("cast=") != std::string::npos) ||
         (desc.op->composite() && desc.bound().graph.find("fp8_quantize") != std::string::npos);
}

bool has_integer_outputs(const Desc& desc) {
  const Signature& s = desc.signature();
  for (size_t i = static_cast<size_t>(s.inputs); i < s.operands.size(); i++)
    if (desc.operands[i].present && is_float(desc.operands[i].dtype)) return false;
  return true;
}

void widen_bounds(ReferenceOutput& out, const std::vector<double>& nudged) {
  for (size_t i = 0; i < nudged.size(); i++) {
    if (std::isnan(nudged[i])) continue;
    out.low[i] = std::min(out.low[i], nudged[i]);
    out.high[i] = std::max(out.high[i], nudged[i]);
  }
}

Expected<Reference> evaluate_reference(const Case& c, int threads, int round) {
  Reference reference;
  reference.exact = c.desc.op->tolerance.exact || has_integer_outputs(c.desc);
  reference.sampled = is_sampled(c);
  const bool as_double = !reference.exact;
  const Build build = as_double ? Build::kF64 : Build::kScalar;
  const std::vector<Subset> subsets = choose_subsets(c, reference.sampled, round);
  // A user's function runs in a forked child, which starts threads of its own: none here before.
  const int gathering = c.desc.op->group == "user" ? 1 : threads;
  Expected<Part> part = gather(c, subsets, as_double, gathering);
  if (!part) return part.error();
  NRD_TRY(evaluate_guarded(*part, build, threads));
  const Signature& s = c.desc.signature();
  for (size_t i = static_cast<size_t>(s.inputs); i < s.operands.size(); i++) {
    if (!c.desc.operands[i].present) continue;
    ReferenceOutput out{.operand = i,
                        .sizes = part->desc.operands[i].sizes,
                        .positions = part->positions[i],
                        .value = values_of(*part, i, as_double),
                        .low = {},
                        .high = {},
                        .f32 = {}};
    out.low = out.high = out.value;
    reference.outputs.push_back(std::move(out));
  }
  if (as_double && c.spec.distribution == Distribution::kSpecial) {
    Expected<Part> narrow = gather(c, subsets, false, gathering);
    if (!narrow) return narrow.error();
    NRD_TRY(evaluate_guarded(*narrow, Build::kScalar, threads));
    for (ReferenceOutput& out : reference.outputs) out.f32 = values_of(*narrow, out.operand, false);
  }
  if (!as_double || !rounds_inside(c.desc)) return reference;
  for (double nudge : {-kRoundingSlack, kRoundingSlack}) {
    // The nudge is a setting of this thread, so this thread does the work.
    set_rounding_nudge(nudge);
    Expected<void> done = evaluate(*part, build, 1);
    set_rounding_nudge(0);
    if (!done) return done.error();
    for (ReferenceOutput& out : reference.outputs)
      widen_bounds(out, values_of(*part, out.operand, as_double));
  }
  return reference;
}

}  // namespace

Expected<Reference> make_reference(const Case& c, int threads, int round) {
  try {
    return evaluate_reference(c, threads, round);
  } catch (const std::bad_alloc&) {
    return make_error({.code = ErrorCode::kEnvironment,
                       .op = c.desc.op->name,
                       .argument = "memory",
                       .got = "too little for the reference of " + c.desc.shape_text(),
                       .hint = "choose a smaller shape"});
  }
}

}  // namespace nrd
