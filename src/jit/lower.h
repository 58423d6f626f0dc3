// SPDX-License-Identifier: MIT
// src/jit/lower.h: OpTrace -> vector IR. Start reading at lower.cpp.
//
// The generated function runs the trace on `count` instances, each pointer moving by its stride
// from one to the next. Inside, one loop of each nest is vectorised (vectorize.h); sizes are read
// from the block, so one piece of code serves all of them.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/error.h"
#include "jit/ir.h"
#include "trace/trace.h"

namespace nrd::jit {

// A long sum is cut into chunks of this many elements, which are combined in order: the same bits
// for any number of threads.
constexpr int64_t kReductionChunk = 16384;

// What is fixed when code is made.
struct Binding {
  std::vector<DType> dtypes;  // memory dtype of each pointer parameter; floats may be narrower than
                              // the trace's f32, integers and f64 are as the trace says
  std::vector<int> ints;      // the trace's int parameters (rounding types)
  bool non_temporal = false;  // the output bypasses the cache, where whole vectors allow it
};

// Where the block has what: byte offsets. Every entry is 8 bytes wide. Pointers are an array of
// their own, in the order of the trace's; scratch rows stand behind them.
struct BlockLayout {
  int pointers = 0, sizes = 0, numbers = 0;  // how many of each
  static constexpr int64_t kCount = 8, kBegin = 16, kEnd = 24, kFirst = 32;
  int64_t stride(int i) const { return kFirst + 8 * i; }  // bytes an instance
  int64_t size(int i) const { return kFirst + 8 * (pointers + i); }
  int64_t number(int i) const { return kFirst + 8 * (pointers + sizes + i); }
  int64_t bytes() const { return number(numbers); }
};

// A block and its pointers, for callers: what is not set is 0.
class ArgumentBlock {
 public:
  explicit ArgumentBlock(const BlockLayout& layout);
  void set_count(int64_t count) { word(BlockLayout::kCount) = count; }
  // The iterations of the outermost loop to run, of code that can be split (Lowered::range).
  void set_range(int64_t begin, int64_t end);
  void set_pointer(int i, const void* pointer, int64_t stride = 0);
  void set_size(int i, int64_t size) { word(layout_.size(i)) = size; }
  void set_number(int i, float value) { std::memcpy(&word(layout_.number(i)), &value, 4); }
  void set_number(int i, double value) { std::memcpy(&word(layout_.number(i)), &value, 8); }
  const void* data() const { return words_.data(); }
  void* const* pointers() const { return pointers_.data(); }

 private:
  int64_t& word(int64_t offset) { return words_[static_cast<size_t>(offset) / 8]; }
  BlockLayout layout_;
  std::vector<int64_t> words_;
  std::vector<void*> pointers_;
};

struct Lowered {
  Program program;
  BlockLayout layout;
  OpTrace trace;  // what was lowered: the given one, plus scratch parameters

  // The extent of the outermost loop, where its iterations may be shared out among threads (code
  // then runs those in [begin, end) only; begin is a multiple of `grain`); kNoValue: run it whole.
  ValueId range = kNoValue;
  int64_t grain = 1;
  // Elements (f32) each scratch parameter needs. They are the trace's last pointers; their
  // instance stride is 0, one row serves all instances of a call.
  std::vector<ValueId> scratch;
};

Expected<Lowered> lower(const OpTrace& trace, const Binding& binding, const Target& target);

// One long instance as steps, each shared out among threads; all of one must be done before the
// next begins. A loop that carries sums or extrema leaves those of each chunk of 16384 iterations
// in a row, and later steps combine them in order, so the bits are those of `lower`'s code on one
// thread.
struct Step {
  Program program;
  ValueId range = kNoValue;  // as Lowered::range; kNoValue: one thread runs the step
  int64_t grain = 1;
};
// A pointer behind those of the trace: memory that the steps share.
struct SharedRow {
  DType dtype = DType::kF32;
  ValueId elements = kNoValue;
};
struct LoweredSteps {
  std::vector<Step> steps;
  BlockLayout layout;
  OpTrace trace;  // what `range` and `elements` are values of
  std::vector<SharedRow> rows;
};
Expected<LoweredSteps> lower_in_steps(const OpTrace& trace, const Binding& binding,
                                      const Target& target);

// An i64 value that depends on sizes alone (an extent, a scratch row's length).
int64_t evaluate_size(const OpTrace& trace, ValueId id, std::span<const int64_t> sizes);

}  // namespace nrd::jit
