// SPDX-License-Identifier: MIT
// src/compiler/compiled_body.cpp: calls of generated code.
#include "compiler/compiled_body.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "jit/math.h"

namespace nrd {
namespace {

constexpr size_t kAlignment = 64;
// Points of the outermost loop's share that are worth a thread.
constexpr int64_t kPointsPerThread = 16384;

// Code stops at the extent itself.
constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();

size_t align_up(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

size_t row_bytes(const OpTrace& trace, ValueId elements, DType dtype,
                 std::span<const int64_t> sizes) {
  const int64_t length = std::max<int64_t>(0, jit::evaluate_size(trace, elements, sizes));
  return align_up(byte_size(dtype) * static_cast<size_t>(length));
}

}  // namespace

// The words of a BlockLayout, on the stack.
struct CompiledBody::Block {
  alignas(16) int64_t words[kMostBlockBytes / 8];

  void set_range(int64_t begin, int64_t end) {
    words[jit::BlockLayout::kBegin / 8] = begin;
    words[jit::BlockLayout::kEnd / 8] = end;
  }
};

CompiledBody::CompiledBody(jit::Lowered lowered, std::shared_ptr<const jit::Code> code,
                           std::vector<DType> dtypes, MakeSteps make_steps)
    : lowered_(std::move(lowered)),
      code_(std::move(code)),
      entry_(code_->entry_with_pointers()),
      dtypes_(std::move(dtypes)),
      operands_(dtypes_.size()),
      helpers_(jit::helper_table()),
      make_steps_(std::move(make_steps)) {
  lowered_.program = {};  // encoded; no longer needed
  for (const TraceParam& p : lowered_.trace.params)
    if (p.kind == TraceParamKind::kNumber) wide_numbers_.push_back(p.dtype == DType::kF64);
  find_extents();
}

// A size that no loop runs to says nothing of the work: the rows of a table to look things up in.
void CompiledBody::find_extents() {
  const OpTrace& trace = lowered_.trace;
  std::vector<char> reaches(trace.values.size(), 0);
  for (const TraceLoop& loop : trace.loops) reaches[loop.extent] = 1;
  for (size_t id = trace.values.size(); id-- > 0;) {
    const Value& v = trace.values[id];
    if (!reaches[id]) continue;
    for (ValueId arg : v.args)
      if (arg != kNoValue) reaches[arg] = 1;
  }
  for (size_t p = 0; p < trace.params.size(); p++) {
    if (trace.params[p].kind != TraceParamKind::kSize) continue;
    bool is_extent = false;
    for (size_t id = 0; id < trace.values.size(); id++)
      is_extent |=
          trace.values[id].op == TraceOp::kParam && trace.values[id].index == p && reaches[id];
    counts_.push_back(is_extent);
  }
}

CompiledBody::Sizes CompiledBody::signed_sizes(const size_t* sizes) const {
  Sizes wide{};
  std::copy_n(sizes, static_cast<size_t>(lowered_.layout.sizes), wide.begin());
  return wide;
}

size_t CompiledBody::scratch_bytes(const size_t* sizes) const {
  const Sizes own = signed_sizes(sizes);
  size_t bytes = 0;
  for (ValueId length : lowered_.scratch)
    bytes += row_bytes(lowered_.trace, length, DType::kF32, own);
  return bytes;
}

// Every word; the range is all there is. Where operands change from call to call a small operator
// takes as long as this: no calls, and every kind of word in one go.
[[gnu::always_inline]] inline void CompiledBody::fill(int64_t* words,
                                                      const jit::BlockLayout& layout,
                                                      const InstanceArgs& args,
                                                      const int64_t* strides, int64_t count) const {
  const auto at = [&](int64_t offset) { return words + offset / 8; };
  std::memcpy(at(jit::kHelpersOffset), &helpers_, sizeof helpers_);
  *at(jit::BlockLayout::kCount) = count;
  *at(jit::BlockLayout::kBegin) = 0;
  *at(jit::BlockLayout::kEnd) = kToTheEnd;
  int64_t* stride = at(layout.stride(0));
  for (size_t i = 0; i < operands_; i++) stride[i] = strides[i];
  for (size_t i = operands_; i < static_cast<size_t>(layout.pointers); i++) stride[i] = 0;
  int64_t* size = at(layout.size(0));
  for (int i = 0; i < layout.sizes; i++) size[i] = static_cast<int64_t>(args.sizes[i]);
  for (int i = 0; i < layout.numbers; i++) {
    const auto narrow = static_cast<float>(args.numbers[i]);
    if (wide_numbers_[static_cast<size_t>(i)])
      std::memcpy(at(layout.number(i)), &args.numbers[i], 8);
    else
      std::memcpy(at(layout.number(i)), &narrow, 4);
  }
}

std::vector<int64_t> CompiledBody::prepare(const InstanceArgs& args, const int64_t* strides,
                                           int64_t count) const {
  std::vector<int64_t> words(static_cast<size_t>(lowered_.layout.bytes()) / 8);
  fill(words.data(), lowered_.layout, args, strides, count);
  return words;
}

void CompiledBody::run_prepared(const int64_t* words, void* const* pointers, void* scratch) const {
  if (lowered_.scratch.empty()) return entry_(words, pointers);
  Pointers all;
  std::copy_n(pointers, operands_, all.begin());
  Sizes sizes{};
  std::copy_n(words + lowered_.layout.size(0) / 8, lowered_.layout.sizes, sizes.begin());
  char* at = static_cast<char*>(scratch);
  for (size_t i = 0; i < lowered_.scratch.size(); i++) {
    all[operands_ + i] = at;
    at += row_bytes(lowered_.trace, lowered_.scratch[i], DType::kF32, sizes);
  }
  entry_(words, all.data());
}

void CompiledBody::run(const InstanceArgs& args, const int64_t* strides, int64_t count,
                       void* scratch) const {
  Block block;
  fill(block.words, lowered_.layout, args, strides, count);
  run_prepared(block.words, args.pointers, scratch);
}

const CompiledSteps* CompiledBody::steps() const {
  return steps_.get([&] { return make_steps_ ? make_steps_() : nullptr; }).get();
}

bool CompiledBody::shares(const size_t* sizes) const {
  int64_t points = 1;
  for (size_t i = 0; i < counts_.size(); i++) {
    if (counts_[i]) points *= static_cast<int64_t>(sizes[i]);
  }
  if (points < 2 * kPointsPerThread) return false;
  if (lowered_.range == kNoValue) return steps() != nullptr;
  return jit::evaluate_size(lowered_.trace, lowered_.range, signed_sizes(sizes)) >=
         2 * lowered_.grain;
}

size_t CompiledBody::shared_bytes(const size_t* sizes, int64_t parts) const {
  if (lowered_.range != kNoValue) return scratch_bytes(sizes) * static_cast<size_t>(parts);
  const Sizes own = signed_sizes(sizes);
  size_t bytes = 0;
  for (const jit::SharedRow& row : steps()->lowered.rows)
    bytes += row_bytes(steps()->lowered.trace, row.elements, row.dtype, own);
  return bytes;
}

namespace {

// Calls part(i, begin, end) for each of `parts` shares of `extent` that begin at whole grains.
template <class Part>
void share_out(const Exec& exec, int64_t extent, int64_t grain, int64_t parts, const Part& part) {
  const int64_t grains = (extent + grain - 1) / grain;
  parallel_for(exec, parts, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; i++)
      part(i, grains * i / parts * grain, std::min(extent, grains * (i + 1) / parts * grain));
  });
}

}  // namespace

void CompiledBody::run_shared(const InstanceArgs& args, void* shared, int64_t parts,
                              const Exec& exec) const {
  if (lowered_.range == kNoValue) return run_steps(args, shared, parts, exec);
  const std::array<int64_t, kMaxOperands> strides{};
  Block block;
  fill(block.words, lowered_.layout, args, strides.data(), 1);
  const size_t scratch = scratch_bytes(args.sizes);
  const int64_t extent =
      jit::evaluate_size(lowered_.trace, lowered_.range, signed_sizes(args.sizes));
  share_out(exec, extent, lowered_.grain, parts, [&](int64_t part, int64_t begin, int64_t end) {
    Block own = block;
    own.set_range(begin, end);
    run_prepared(own.words, args.pointers,
                 static_cast<char*>(shared) + scratch * static_cast<size_t>(part));
  });
}

void CompiledBody::run_steps(const InstanceArgs& args, void* shared, int64_t parts,
                             const Exec& exec) const {
  const CompiledSteps& compiled = *steps();
  const jit::LoweredSteps& lowered = compiled.lowered;
  const std::array<int64_t, kMaxOperands> strides{};
  const Sizes sizes = signed_sizes(args.sizes);
  Block block;
  fill(block.words, lowered.layout, args, strides.data(), 1);
  Pointers pointers;
  std::copy_n(args.pointers, operands_, pointers.begin());
  char* at = static_cast<char*>(shared);
  for (size_t i = 0; i < lowered.rows.size(); i++) {
    const jit::SharedRow& row = lowered.rows[i];
    pointers[operands_ + i] = at;
    at += row_bytes(lowered.trace, row.elements, row.dtype, sizes);
  }
  for (size_t i = 0; i < lowered.steps.size(); i++) {
    const jit::Step& step = lowered.steps[i];
    const auto entry = compiled.code[i]->entry_with_pointers();
    if (step.range == kNoValue) {
      entry(block.words, pointers.data());
      continue;
    }
    share_out(exec, jit::evaluate_size(lowered.trace, step.range, sizes), step.grain, parts,
              [&](int64_t, int64_t begin, int64_t end) {
                Block own = block;
                own.set_range(begin, end);
                entry(own.words, pointers.data());
              });
  }
}

}  // namespace nrd
