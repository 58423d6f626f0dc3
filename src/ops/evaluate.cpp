// SPDX-License-Identifier: MIT
// src/ops/evaluate.cpp: the loop around a definition.
#include "ops/evaluate.h"

#include <algorithm>
#include <cstring>

#include "base/convert.h"
#include "ops/contract.h"

namespace nrd {
namespace {

constexpr size_t kAlignment = 64;
// A thread should get about this many points of the iteration space; below, one thread is faster.
constexpr int64_t kPointsPerThread = 16384;

size_t align_up(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// Copies and converts between a strided array and a contiguous one, row by row.
template <bool kGather>
void convert_strided(char* strided, DType strided_dtype, const Dims& sizes, const Dims& strides,
                     char* packed, DType packed_dtype, const Exec& exec) {
  const int rank = sizes.size();
  int64_t rows = 1;
  for (int d = 0; d + 1 < rank; d++) rows *= sizes[d];
  const int64_t cols = rank ? sizes[rank - 1] : 1;
  const int64_t step = rank ? strides[rank - 1] : 1;
  const auto strided_bytes = static_cast<int64_t>(byte_size(strided_dtype));
  const auto packed_bytes = static_cast<int64_t>(byte_size(packed_dtype));
  auto one = [&](char* s, char* p, int64_t count) {
    if constexpr (kGather)
      convert(s, strided_dtype, p, packed_dtype, static_cast<size_t>(count));
    else
      convert(p, packed_dtype, s, strided_dtype, static_cast<size_t>(count));
  };
  if (cols == 0) return;
  parallel_for(exec, rows, std::max<int64_t>(1, kPointsPerThread / cols),
               [&](int64_t begin, int64_t end) {
                 for (int64_t row = begin; row < end; row++) {
                   int64_t offset = 0, rest = row;
                   for (int d = rank - 2; d >= 0; d--) {
                     offset += rest % sizes[d] * strides[d];
                     rest /= sizes[d];
                   }
                   char* s = strided + offset * strided_bytes;
                   char* p = packed + row * cols * packed_bytes;
                   if (step == 1) {
                     one(s, p, cols);
                   } else {
                     for (int64_t i = 0; i < cols; i++)
                       one(s + i * step * strided_bytes, p + i * packed_bytes, 1);
                   }
                 }
               });
}

bool core_is_contiguous(const OperandDesc& operand, int core_rank) {
  int64_t expected = 1;
  for (int d = operand.sizes.size() - 1; d >= operand.sizes.size() - core_rank; d--) {
    if (operand.sizes[d] != 1 && operand.strides[d] != expected) return false;
    expected *= operand.sizes[d];
  }
  return true;
}

class DefinitionBody final : public Body {
 public:
  explicit DefinitionBody(const Definition& definition) : definition_(definition) {}
  DType native(size_t operand) const override { return definition_.native[operand]; }
  void run(const InstanceArgs& args, const int64_t* strides, int64_t count, void*) const override {
    std::array<void*, kMaxOperands> at{};
    for (int64_t i = 0; i < count; i++) {
      for (size_t o = 0; o < static_cast<size_t>(definition_.operands); o++)
        at[o] = args.pointers[o] ? static_cast<char*>(args.pointers[o]) + i * strides[o] : nullptr;
      definition_.call(definition_.context, {at.data(), args.sizes, args.numbers, args.types});
    }
  }

 private:
  Definition definition_;
};

}  // namespace

std::vector<int64_t> Body::prepare(const InstanceArgs&, const int64_t*, int64_t) const {
  return {};
}
void Body::run_prepared(const int64_t*, void* const*, void*) const {}
size_t Body::scratch_bytes(const size_t*) const { return 0; }
bool Body::shares(const size_t*) const { return false; }
size_t Body::shared_bytes(const size_t*, int64_t) const { return 0; }
void Body::run_shared(const InstanceArgs&, void*, int64_t, const Exec&) const {}

Expected<std::shared_ptr<const Body>> definition_body(const Desc& desc,
                                                      const Definition& definition) {
  const Signature& s = desc.signature();
  if (definition.operands != static_cast<int>(s.operands.size()) ||
      definition.sizes != static_cast<int>(s.core.size()) ||
      definition.numbers > static_cast<int>(desc.numbers.size()) ||
      definition.types != static_cast<int>(desc.types.size()))
    return make_error({.code = ErrorCode::kInternal,
                       .op = desc.op->name,
                       .argument = "definition",
                       .got = "other parameters than the signature has",
                       .hint = s.text});
  return std::shared_ptr<const Body>(std::make_shared<DefinitionBody>(definition));
}

Expected<Evaluation> Evaluation::prepare(const Desc& desc, std::shared_ptr<const Body> body) {
  const Signature& s = desc.signature();
  Evaluation e;
  e.body_ = std::move(body);
  e.numbers_ = desc.numbers;
  e.types_ = desc.types;
  for (int axis : s.core)
    e.sizes_.push_back(static_cast<size_t>(desc.axes[static_cast<size_t>(axis)]));
  if (!s.core.empty() && s.axes[static_cast<size_t>(s.core[0])].separable) e.cut_ = 0;
  if (const std::optional<Builds>& builds = desc.bound().builds;
      builds && builds->contract && !builds->contract->integers.empty())
    e.most_ = builds->contract->integers[0].most;

  std::vector<int> outer_axes;
  for (int64_t size : desc.leading) e.outer_sizes_.push_back(size);
  for (size_t i = 0; i < s.axes.size(); i++) {
    if (s.axes[i].core || s.axes[i].numerator >= 0) continue;
    outer_axes.push_back(static_cast<int>(i));
    e.outer_sizes_.push_back(desc.axes[i]);
  }
  for (size_t i = 0; i < s.operands.size(); i++) e.add_operand(desc, i, outer_axes);
  e.fold_outer_axes();
  e.choose_grain();
  e.add_scratch();
  return e;
}

void Evaluation::add_operand(const Desc& desc, size_t index, const std::vector<int>& outer_axes) {
  const Signature& s = desc.signature();
  const OperandSpec& spec = s.operands[index];
  const OperandDesc& given = desc.operands[index];
  Operand operand;
  operand.present = given.present;
  operand.output = spec.output;
  operand.read = !spec.output || spec.read;
  operand.dtype = given.dtype;
  operand.native = body_->native(index);
  operand.sizes = given.sizes;
  operand.strides = given.strides;
  operand.outer_strides.assign(outer_sizes_.size(), 0);
  if (given.present) {
    int core_rank = 0;
    for (const AxisRef& ref : spec.axes) core_rank += s.axes[static_cast<size_t>(ref.axis)].core;
    operand.copied = operand.dtype != operand.native || !core_is_contiguous(given, core_rank);
    set_strides(operand, desc, spec, outer_axes, core_rank);
    if (operand.copied) {
      operand.workspace_offset = workspace_bytes_;
      int64_t count = 1;
      for (int64_t size : given.sizes) count *= size;
      workspace_bytes_ += align_up(static_cast<size_t>(count) * byte_size(operand.native));
    }
  }
  operands_.push_back(std::move(operand));
}

// Bytes between neighbours along every outer axis and the cut axis, in what the definition reads.
void Evaluation::set_strides(Operand& operand, const Desc& desc, const OperandSpec& spec,
                             const std::vector<int>& outer_axes, int core_rank) {
  // Nothing of it is read, and its other sizes may be anything.
  if (std::find(operand.sizes.begin(), operand.sizes.end(), 0) != operand.sizes.end()) return;
  const auto bytes = static_cast<int64_t>(byte_size(operand.native));
  const Dims strides = operand.copied ? contiguous_strides(operand.sizes) : operand.strides;
  const int named = static_cast<int>(spec.axes.size());
  const int extra = operand.sizes.size() - named, lead = desc.leading.size();
  for (int d = 0; d < extra; d++)
    if (operand.sizes[d] != 1)
      operand.outer_strides[static_cast<size_t>(lead - extra + d)] = strides[d] * bytes;
  for (int d = 0; d < named; d++) {
    const int axis = spec.axes[static_cast<size_t>(d)].axis;
    for (size_t o = 0; o < outer_axes.size(); o++)
      if (outer_axes[o] == axis)
        operand.outer_strides[static_cast<size_t>(lead) + o] = strides[extra + d] * bytes;
    if (cut_ < 0 || axis != desc.signature().core[0]) continue;
    // What is read has a contiguous core; the stride of an axis of size 1 says nothing.
    operand.cut_stride = bytes;
    for (int inner = d + 1; inner < named; inner++)
      operand.cut_stride *= operand.sizes[extra + inner];
    // The cut needs the axis outermost in the core, else a cut instance would be strided.
    if (core_rank != named - d) cut_ = -1;
  }
}

// Folds outer axes into the cut axis while they lie behind each other in every operand: an
// elementwise call on a contiguous array is one long instance.
void Evaluation::fold_outer_axes() {
  while (cut_ == 0 && sizes_.size() == 1 && !outer_sizes_.empty()) {
    const size_t last = outer_sizes_.size() - 1;
    const auto size = static_cast<int64_t>(sizes_[0]);
    for (const Operand& o : operands_)
      if (o.present && o.outer_strides[last] != o.cut_stride * size) return;
    if (outer_sizes_[last] > 0 && size > most_ / outer_sizes_[last]) return;
    sizes_[0] *= static_cast<size_t>(outer_sizes_[last]);
    outer_sizes_.pop_back();
    for (Operand& o : operands_) o.outer_strides.pop_back();
  }
}

void Evaluation::choose_grain() {
  instances_ = 1;
  for (int64_t size : outer_sizes_) instances_ *= size;
  int64_t points = 1;  // of one work item
  for (size_t i = cut_ == 0 ? 1 : 0; i < sizes_.size(); i++)
    points *= std::max<int64_t>(1, static_cast<int64_t>(sizes_[i]));
  grain_ = std::max<int64_t>(1, kPointsPerThread / points);
}

void Evaluation::convert_inputs(void* const* pointers, char* workspace, const Exec& exec) const {
  for (size_t i = 0; i < operands_.size(); i++) {
    const Operand& o = operands_[i];
    if (o.present && o.copied && o.read)
      convert_strided<true>(static_cast<char*>(pointers[i]), o.dtype, o.sizes, o.strides,
                            workspace + o.workspace_offset, o.native, exec);
  }
}

void Evaluation::convert_outputs(void* const* pointers, const char* workspace,
                                 const Exec& exec) const {
  for (size_t i = 0; i < operands_.size(); i++) {
    const Operand& o = operands_[i];
    if (o.present && o.copied && o.output)
      convert_strided<false>(static_cast<char*>(pointers[i]), o.dtype, o.sizes, o.strides,
                             const_cast<char*>(workspace) + o.workspace_offset, o.native, exec);
  }
}

// Where the instance and the step of the cut axis begin in every operand.
void Evaluation::place(char* const* bases, int64_t instance, int64_t step, void** at) const {
  for (size_t i = 0; i < operands_.size(); i++) {
    const Operand& o = operands_[i];
    int64_t offset = step * o.cut_stride, rest = instance;
    for (size_t d = outer_sizes_.size(); d-- > 0;) {
      offset += rest % outer_sizes_[d] * o.outer_strides[d];
      rest /= outer_sizes_[d];
    }
    at[i] = o.present ? bases[i] + offset : nullptr;
  }
}

// Work items are numbered instance by instance, inside one by steps of the cut axis. Whole
// instances go to the body as many at a time as lie at equal distances: along the last outer axis.
void Evaluation::run_range(char* const* bases, int64_t begin, int64_t end, void* scratch) const {
  const int64_t steps = cut_ == 0 ? static_cast<int64_t>(sizes_[0]) : 1;
  const int64_t row = outer_sizes_.empty() ? 1 : outer_sizes_.back();
  std::array<void*, kMaxOperands> at{};
  std::array<size_t, kMaxRank> sizes{};
  std::copy(sizes_.begin(), sizes_.end(), sizes.begin());
  const InstanceArgs args{at.data(), sizes.data(), numbers_.data(), types_.data()};
  for (int64_t item = begin; item < end;) {
    const int64_t instance = item / steps, first = item % steps;
    place(bases, instance, first, at.data());
    if (first == 0 && end - item >= steps) {
      const int64_t whole = std::min((end - item) / steps, row - instance % row);
      if (cut_ == 0) sizes[0] = static_cast<size_t>(steps);
      body_->run(args, strides_.data(), whole, scratch);
      item += whole * steps;
    } else {
      const int64_t count = std::min(steps - first, end - item);
      sizes[0] = static_cast<size_t>(count);
      body_->run(args, strides_.data(), 1, scratch);
      item += count;
    }
  }
}

// Behind the converted operands: a slice for each thread, or what threads share.
void Evaluation::add_scratch() {
  copies_bytes_ = workspace_bytes_;
  const int64_t items = instances_ * (cut_ == 0 ? static_cast<int64_t>(sizes_[0]) : 1);
  shares_ = instances_ == 1 && cut_ < 0 && body_->shares(sizes_.data());
  if (shares_) shared_bytes_ = align_up(body_->shared_bytes(sizes_.data(), available_cores()));
  scratch_bytes_ = align_up(body_->scratch_bytes(sizes_.data()));
  parts_ = std::clamp<int64_t>(items / grain_, 1, available_cores());
  workspace_bytes_ += shared_bytes_ + scratch_bytes_ * static_cast<size_t>(parts_);
  one_call_ = !converts() && outer_sizes_.size() <= 1 && items > 0;
  for (size_t i = 0; i < operands_.size() && !outer_sizes_.empty(); i++)
    strides_[i] = operands_[i].outer_strides.back();
  if (one_call_)
    prepared_ = body_->prepare({nullptr, sizes_.data(), numbers_.data(), types_.data()},
                               strides_.data(), instances_);
}

void Evaluation::run(void* const* pointers, void* workspace, const Exec& exec) const {
  if (one_call_ && (exec.threads <= 1 || (parts_ <= 1 && !shares_))) {
    if (!prepared_.empty()) return body_->run_prepared(prepared_.data(), pointers, workspace);
    return body_->run({pointers, sizes_.data(), numbers_.data(), types_.data()}, strides_.data(),
                      instances_, workspace);
  }
  auto* scratch = static_cast<char*>(workspace);
  if (converts()) convert_inputs(pointers, scratch, exec);
  std::array<char*, kMaxOperands> bases{};
  for (size_t i = 0; i < operands_.size(); i++) {
    const Operand& o = operands_[i];
    bases[i] = o.copied ? scratch + o.workspace_offset : static_cast<char*>(pointers[i]);
  }
  char* own = scratch + copies_bytes_;  // shared memory lies behind the threads' own
  // A cut axis of size 0 has no instance to run, any other size of 0 has: a reduction of nothing
  // has a value.
  const int64_t items = instances_ * (cut_ == 0 ? static_cast<int64_t>(sizes_[0]) : 1);
  if (shares_ && exec.threads > 1) {
    std::array<void*, kMaxOperands> at{};
    place(bases.data(), 0, 0, at.data());
    body_->run_shared({at.data(), sizes_.data(), numbers_.data(), types_.data()},
                      own + scratch_bytes_ * static_cast<size_t>(parts_),
                      std::min<int64_t>(exec.threads, available_cores()), exec);
  } else if (exec.threads <= 1 || parts_ <= 1) {
    run_range(bases.data(), 0, items, own);
  } else {
    const int64_t parts = std::min<int64_t>(parts_, exec.threads);
    parallel_for(exec, parts, 1, [&](int64_t first, int64_t last) {
      for (int64_t part = first; part < last; part++)
        run_range(bases.data(), items * part / parts, items * (part + 1) / parts,
                  own + scratch_bytes_ * static_cast<size_t>(part));
    });
  }
  if (converts()) convert_outputs(pointers, scratch, exec);
}

}  // namespace nrd
