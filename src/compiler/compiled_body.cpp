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

}  // namespace

// The words of a BlockLayout, on the stack.
struct CompiledBody::Block {
  alignas(16) int64_t words[kMostBlockBytes / 8];

  int64_t& at(int64_t offset) { return words[offset / 8]; }
  void set_pointer(const jit::BlockLayout& layout, int i, const void* pointer, int64_t stride) {
    std::memcpy(&at(layout.pointer(i)), &pointer, sizeof pointer);
    at(layout.stride(i)) = stride;
  }
  void set_range(int64_t begin, int64_t end) {
    at(jit::BlockLayout::kBegin) = begin;
    at(jit::BlockLayout::kEnd) = end;
  }
};

CompiledBody::CompiledBody(jit::Lowered lowered, std::shared_ptr<const jit::Code> code,
                           std::vector<DType> dtypes, MakeSteps make_steps)
    : lowered_(std::move(lowered)),
      code_(std::move(code)),
      dtypes_(std::move(dtypes)),
      operands_(dtypes_.size()),
      helpers_(jit::helper_table()),
      make_steps_(std::move(make_steps)) {
  lowered_.program = {};  // encoded; no longer needed
  for (const TraceParam& p : lowered_.trace.params)
    if (p.kind == TraceParamKind::kNumber) wide_numbers_.push_back(p.dtype == DType::kF64);
}

// A value of a trace that depends on sizes alone; nothing is allocated.
int64_t CompiledBody::evaluate(const OpTrace& trace, ValueId id, const size_t* sizes) const {
  std::array<int64_t, kMaxRank> wide{};
  const auto count = static_cast<size_t>(lowered_.layout.sizes);
  std::copy_n(sizes, count, wide.begin());
  return jit::evaluate_size(trace, id, std::span(wide).first(count));
}

size_t CompiledBody::row_bytes(const OpTrace& trace, ValueId elements, DType dtype,
                               const size_t* sizes) const {
  const int64_t length = std::max<int64_t>(0, evaluate(trace, elements, sizes));
  return align_up(byte_size(dtype) * static_cast<size_t>(length));
}

size_t CompiledBody::scratch_bytes(const size_t* sizes) const {
  size_t bytes = 0;
  for (ValueId length : lowered_.scratch)
    bytes += row_bytes(lowered_.trace, length, DType::kF32, sizes);
  return bytes;
}

// All but the range and the pointers behind the operands'. A small operator takes as long as this:
// no calls, and every kind of word in one go.
[[gnu::always_inline]] inline void CompiledBody::fill(Block& block, const jit::BlockLayout& layout,
                                                      const InstanceArgs& args,
                                                      const int64_t* strides, int64_t count) const {
  std::memcpy(block.words, &helpers_, sizeof helpers_);
  block.at(jit::BlockLayout::kCount) = count;
  int64_t *pointer = &block.at(layout.pointer(0)), *stride = &block.at(layout.stride(0));
  for (size_t i = 0; i < operands_; i++) {
    std::memcpy(&pointer[i], &args.pointers[i], sizeof(void*));
    stride[i] = strides[i];
  }
  int64_t* size = &block.at(layout.size(0));
  for (int i = 0; i < layout.sizes; i++) size[i] = static_cast<int64_t>(args.sizes[i]);
  for (int i = 0; i < layout.numbers; i++) {
    const auto narrow = static_cast<float>(args.numbers[i]);
    if (wide_numbers_[static_cast<size_t>(i)])
      std::memcpy(&block.at(layout.number(i)), &args.numbers[i], 8);
    else
      std::memcpy(&block.at(layout.number(i)), &narrow, 4);
  }
}

void CompiledBody::run_range(const InstanceArgs& args, const int64_t* strides, int64_t count,
                             int64_t begin, int64_t end, void* scratch) const {
  Block block;
  fill(block, lowered_.layout, args, strides, count);
  block.set_range(begin, end);
  char* at = static_cast<char*>(scratch);
  for (size_t i = 0; i < lowered_.scratch.size(); i++) {
    block.set_pointer(lowered_.layout, static_cast<int>(operands_ + i), at, 0);
    at += row_bytes(lowered_.trace, lowered_.scratch[i], DType::kF32, args.sizes);
  }
  code_->entry()(block.words);
}

void CompiledBody::run(const InstanceArgs& args, const int64_t* strides, int64_t count,
                       void* scratch) const {
  run_range(args, strides, count, 0, kToTheEnd, scratch);
}

const CompiledSteps* CompiledBody::steps() const {
  std::call_once(steps_made_, [&] {
    if (make_steps_) steps_ = make_steps_();
  });
  return steps_.get();
}

bool CompiledBody::shares(const size_t* sizes) const {
  int64_t points = 1;
  for (int i = 0; i < lowered_.layout.sizes; i++) points *= static_cast<int64_t>(sizes[i]);
  if (points < 2 * kPointsPerThread) return false;
  if (lowered_.range == kNoValue) return steps() != nullptr;
  return evaluate(lowered_.trace, lowered_.range, sizes) >= 2 * lowered_.grain;
}

size_t CompiledBody::shared_bytes(const size_t* sizes, int64_t parts) const {
  if (lowered_.range != kNoValue) return scratch_bytes(sizes) * static_cast<size_t>(parts);
  size_t bytes = 0;
  for (const jit::SharedRow& row : steps()->lowered.rows)
    bytes += row_bytes(steps()->lowered.trace, row.elements, row.dtype, sizes);
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
  const size_t scratch = scratch_bytes(args.sizes);
  share_out(exec, evaluate(lowered_.trace, lowered_.range, args.sizes), lowered_.grain, parts,
            [&](int64_t part, int64_t begin, int64_t end) {
              run_range(args, strides.data(), 1, begin, end,
                        static_cast<char*>(shared) + scratch * static_cast<size_t>(part));
            });
}

void CompiledBody::run_steps(const InstanceArgs& args, void* shared, int64_t parts,
                             const Exec& exec) const {
  const jit::LoweredSteps& lowered = steps_->lowered;
  const std::array<int64_t, kMaxOperands> strides{};
  Block block;
  fill(block, lowered.layout, args, strides.data(), 1);
  char* at = static_cast<char*>(shared);
  for (size_t i = 0; i < lowered.rows.size(); i++) {
    const jit::SharedRow& row = lowered.rows[i];
    block.set_pointer(lowered.layout, static_cast<int>(operands_ + i), at, 0);
    at += row_bytes(lowered.trace, row.elements, row.dtype, args.sizes);
  }
  for (size_t i = 0; i < lowered.steps.size(); i++) {
    const jit::Step& step = lowered.steps[i];
    const jit::Code::Entry entry = steps_->code[i]->entry();
    if (step.range == kNoValue) {
      entry(block.words);
      continue;
    }
    share_out(exec, evaluate(lowered.trace, step.range, args.sizes), step.grain, parts,
              [&](int64_t, int64_t begin, int64_t end) {
                Block own = block;
                own.set_range(begin, end);
                entry(own.words);
              });
  }
}

}  // namespace nrd
