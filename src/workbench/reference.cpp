// SPDX-License-Identifier: MIT
// src/workbench/reference.cpp: gathering and evaluating the reference.
#include "workbench/reference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "base/child.h"
#include "base/convert.h"
#include "base/threads.h"
#include "graph/program.h"
#include "ops/round_to.h"
#include "workbench/data.h"
#include "workbench/reference_sample.h"

namespace nrd {
namespace {

// f32 arithmetic in front of a rounding inside an operator can be off by this much, relatively.
constexpr double kRoundingSlack = 1e-5;
// Two roundings go one certain way each in a quarter of the patterns: all of these miss one pair in
// a hundred.
constexpr uint64_t kSignPatterns = 16;

int64_t blocks(int64_t size, int64_t block) { return (size + block - 1) / block; }

// The blocks that a sample, which has whole ones, is made of.
AxisSample blocks_among(const AxisSample& sample, int64_t block) {
  AxisSample found;
  for (int64_t i : sample)
    if (found.empty() || found.back() != i / block) found.push_back(i / block);
  return found;
}

// The whole's contiguous index of every element of an operand's part, in the part's order.
std::vector<int64_t> part_positions(const Case& c, size_t operand,
                                    const std::vector<AxisSample>& subsets, Dims& part_sizes) {
  const OperandSpec& spec = c.desc.signature().operands[operand];
  std::vector<int64_t> positions = {0};
  for (const AxisRef& ref : spec.axes) {
    const AxisSample& subset = subsets[static_cast<size_t>(ref.axis)];
    const int64_t whole = blocks(c.desc.axes[static_cast<size_t>(ref.axis)], ref.block);
    const AxisSample steps = blocks_among(subset, ref.block);
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

Expected<Part> gather(const Case& c, const std::vector<AxisSample>& subsets, bool as_double,
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
    if (has_contents(c.desc, i))
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

// The reference again, with what is rounded nudged. The nudge is a setting of this thread, so this
// thread does the work.
Expected<void> widen_by(Part& part, double nudge, uint64_t pattern, Reference& reference) {
  set_rounding_nudge(nudge, pattern);
  Expected<void> done = evaluate(part, Build::kF64, 1);
  set_rounding_nudge(0);
  if (!done) return done;
  for (ReferenceOutput& out : reference.outputs)
    widen_bounds(out, values_of(part, out.operand, true));
  return {};
}

Expected<Reference> evaluate_reference(const Case& c, int threads, int round) {
  Reference reference;
  reference.exact = c.desc.op->tolerance.exact || has_integer_outputs(c.desc);
  reference.sampled = is_sampled(c);
  reference.round = round;
  const bool as_double = !reference.exact;
  const Build build = as_double ? Build::kF64 : Build::kScalar;
  const std::vector<AxisSample> subsets = choose_samples(c, reference.sampled, round, threads);
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
    if (reads_outputs(c.desc)) {  // they were written
      part = gather(c, subsets, as_double, gathering);
      if (!part) return part.error();
    }
    NRD_TRY(widen_by(*part, nudge, 0, reference));
  }
  return reference;
}

}  // namespace

Expected<void> widen_reference(const Case& c, Reference& reference, int threads) {
  if (reference.exact || reference.widened || reads_outputs(c.desc) || !rounds_inside(c.desc))
    return {};
  reference.widened = true;
  Expected<Part> part =
      gather(c, choose_samples(c, reference.sampled, reference.round, threads), true, threads);
  if (!part) return part.error();
  for (uint64_t pattern = 1; pattern <= kSignPatterns; pattern++)
    NRD_TRY(widen_by(*part, kRoundingSlack, pattern, reference));
  return {};
}

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
