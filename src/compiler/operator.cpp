// SPDX-License-Identifier: MIT
// src/compiler/operator.cpp: lowers, encodes and keeps code; fills the block of each call.
#include "compiler/operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "compiler/catalogue_traces.h"
#include "compiler/dump.h"
#include "jit/code.h"
#include "jit/lower.h"
#include "jit/math.h"

namespace nrd {
namespace {

constexpr size_t kMostWords = 96;  // of a block: four and two a pointer, one a size and a number
constexpr size_t kAlignment = 64;
// Points of the outermost loop's share that are worth a thread.
constexpr int64_t kPointsPerThread = 16384;

// Storage dtypes that code loads and stores as they are.
bool stores_directly(DType memory, DType traced) {
  if (memory == traced) return true;
  return traced == DType::kF32 && (memory == DType::kF16 || memory == DType::kBF16 ||
                                   memory == DType::kF8E4M3 || memory == DType::kF8E5M2);
}

size_t align_up(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

class CompiledBody final : public Body {
 public:
  CompiledBody(jit::Lowered lowered, std::shared_ptr<const jit::Code> code,
               std::vector<DType> dtypes)
      : lowered_(std::move(lowered)), code_(std::move(code)), dtypes_(std::move(dtypes)) {
    lowered_.program = {};  // encoded; no longer needed
    for (const TraceParam& p : lowered_.trace.params)
      if (p.kind == TraceParamKind::kNumber) wide_numbers_.push_back(p.dtype == DType::kF64);
  }

  DType native(size_t operand) const override { return dtypes_[operand]; }

  void run(const InstanceArgs& args, const int64_t* strides, int64_t count,
           void* scratch) const override {
    int64_t end = 0;
    if (lowered_.range != kNoValue) end = extent(args.sizes);
    run_range(args, strides, count, 0, end, scratch);
  }

  size_t scratch_bytes(const size_t* sizes) const override {
    size_t bytes = 0;
    for (size_t i = 0; i < lowered_.scratch.size(); i++) bytes += scratch_row(i, sizes);
    return bytes;
  }

  bool shares(const size_t* sizes) const override {
    if (lowered_.range == kNoValue) return false;
    int64_t points = 1;
    for (int i = 0; i < lowered_.layout.sizes; i++) points *= static_cast<int64_t>(sizes[i]);
    return points >= 2 * kPointsPerThread && extent(sizes) >= 2 * lowered_.grain;
  }
  size_t shared_bytes(const size_t* sizes, int64_t parts) const override {
    return scratch_bytes(sizes) * static_cast<size_t>(parts);
  }
  void run_shared(const InstanceArgs& args, void* shared, int64_t parts,
                  const Exec& exec) const override {
    const std::array<int64_t, kMaxOperands> strides{};
    const int64_t grains = (extent(args.sizes) + lowered_.grain - 1) / lowered_.grain;
    const size_t scratch = scratch_bytes(args.sizes);
    parallel_for(exec, parts, 1, [&](int64_t first, int64_t last) {
      for (int64_t part = first; part < last; part++)
        run_range(args, strides.data(), 1, grains * part / parts * lowered_.grain,
                  std::min(extent(args.sizes), grains * (part + 1) / parts * lowered_.grain),
                  static_cast<char*>(shared) + scratch * static_cast<size_t>(part));
    });
  }

 private:
  // A value of the trace that depends on sizes alone; nothing is allocated.
  int64_t evaluate(ValueId id, const size_t* sizes) const {
    std::array<int64_t, kMaxRank> wide{};
    const auto count = static_cast<size_t>(lowered_.layout.sizes);
    std::copy_n(sizes, count, wide.begin());
    return jit::evaluate_size(lowered_.trace, id, std::span(wide).first(count));
  }
  int64_t extent(const size_t* sizes) const { return evaluate(lowered_.range, sizes); }
  size_t scratch_row(size_t i, const size_t* sizes) const {
    const int64_t length = evaluate(lowered_.scratch[i], sizes);
    return align_up(4 * static_cast<size_t>(std::max<int64_t>(0, length)));
  }

  void run_range(const InstanceArgs& args, const int64_t* strides, int64_t count, int64_t begin,
                 int64_t end, void* scratch) const {
    const jit::BlockLayout& layout = lowered_.layout;
    alignas(16) int64_t block[kMostWords];
    auto word = [&](int64_t offset) -> int64_t& { return block[offset / 8]; };
    auto pointer = [&](int i, const void* p, int64_t stride) {
      std::memcpy(&word(layout.pointer(i)), &p, sizeof p);
      word(layout.stride(i)) = stride;
    };
    const jit::Helper* helpers = jit::helper_table();
    std::memcpy(&block[0], &helpers, sizeof helpers);
    word(jit::BlockLayout::kCount) = count;
    word(jit::BlockLayout::kBegin) = begin;
    word(jit::BlockLayout::kEnd) = end;
    const int own = static_cast<int>(dtypes_.size());
    for (int i = 0; i < own; i++) pointer(i, args.pointers[i], strides[i]);
    char* at = static_cast<char*>(scratch);
    for (size_t i = 0; i < lowered_.scratch.size(); i++) {
      pointer(own + static_cast<int>(i), at, 0);
      at += scratch_row(i, args.sizes);
    }
    for (int i = 0; i < layout.sizes; i++)
      word(layout.size(i)) = static_cast<int64_t>(args.sizes[i]);
    for (int i = 0; i < layout.numbers; i++) {
      const auto narrow = static_cast<float>(args.numbers[i]);
      if (wide_numbers_[static_cast<size_t>(i)])
        std::memcpy(&word(layout.number(i)), &args.numbers[i], 8);
      else
        std::memcpy(&word(layout.number(i)), &narrow, 4);
    }
    code_->entry()(block);
  }

  jit::Lowered lowered_;
  std::shared_ptr<const jit::Code> code_;
  std::vector<DType> dtypes_;  // of the operands, without scratch
  std::vector<bool> wide_numbers_;
};

struct Compiled {
  jit::Lowered lowered;
  std::vector<uint8_t> bytes;
};

Expected<Compiled> emit(const OpTrace& trace, const jit::Binding& binding,
                        const jit::Target& target) {
  Expected<jit::Lowered> lowered = jit::lower(trace, binding, target);
  if (!lowered) return lowered.error();
  if (lowered->layout.bytes() > static_cast<int64_t>(8 * kMostWords))
    return make_error({.code = ErrorCode::kUnsupported,
                       .op = trace.name,
                       .argument = "parameters",
                       .got = "more than a block holds"});
  Expected<std::vector<uint8_t>> bytes = jit::encode(lowered->program, target);
  if (!bytes) return bytes.error();
  dump_stages(*lowered, *bytes, target);
  return Compiled{std::move(*lowered), std::move(*bytes)};
}

Expected<std::shared_ptr<const Body>> compile(const OpTrace& trace, const jit::Binding& binding,
                                              const jit::Target& target) {
  Expected<Compiled> emitted = emit(trace, binding, target);
  if (!emitted) return emitted.error();
  Expected<std::shared_ptr<const jit::Code>> code =
      jit::make_code(fmt::format("nereid_{}_{}", trace.name, target.isa), emitted->bytes);
  if (!code) return code.error();
  return std::shared_ptr<const Body>(std::make_shared<CompiledBody>(
      std::move(emitted->lowered), std::move(*code), binding.dtypes));
}

// Code by what it was made from; kept for the process, as operators are.
Expected<std::shared_ptr<const Body>> find_or_compile(const OpTrace& trace,
                                                      const jit::Binding& binding,
                                                      const jit::Target& target) {
  static std::mutex mutex;
  static auto* kept = new std::unordered_map<std::string, Expected<std::shared_ptr<const Body>>>;
  std::string key;
  const OpTrace* address = &trace;
  key.append(reinterpret_cast<const char*>(&address), sizeof address);
  for (DType d : binding.dtypes) key.push_back(static_cast<char>(d));
  for (int i : binding.ints) key.push_back(static_cast<char>(i));
  key.push_back(binding.non_temporal ? 'n' : 'c');
  key += target.isa;
  const std::lock_guard lock(mutex);
  if (auto found = kept->find(key); found != kept->end()) return found->second;
  return kept->emplace(std::move(key), compile(trace, binding, target)).first->second;
}

Error no_trace(const Desc& desc) {
  return make_error({.code = ErrorCode::kUnsupported,
                     .op = desc.op->name,
                     .argument = "trace",
                     .got = "none: the function was not lifted or not proved"});
}

Expected<const jit::Target*> best_target(const IsaSet& isa) {
  const std::vector<const jit::Target*> list = jit::targets(isa);
  if (list.empty() || !jit::executable_memory_works())
    return make_error({.code = ErrorCode::kUnsupported,
                       .argument = "generated code",
                       .got = list.empty() ? "an ISA without a back end"
                                           : "a system that refuses executable memory"});
  return list.front();
}

}  // namespace

const OpTrace* trace_of(const Desc& desc) {
  const Builds& builds = *desc.bound().builds;
  if (builds.trace) return builds.trace;
  return desc.op->group == "user" ? nullptr : catalogue_trace(builds.name);
}

std::string_view compile_target(const IsaSet& isa) {
  Expected<const jit::Target*> target = best_target(isa);
  return target ? (*target)->isa : std::string_view();
}

Expected<std::shared_ptr<const Body>> compile_operator(const Desc& desc, const IsaSet& isa,
                                                       const OperatorOptions& options) {
  const OpTrace* trace = trace_of(desc);
  if (!trace) return no_trace(desc);
  Expected<const jit::Target*> target = best_target(isa);
  if (!target) return target.error();
  jit::Binding binding;
  for (const TraceParam& p : trace->params) {
    if (p.kind != TraceParamKind::kPointer) continue;
    const DType memory = desc.operands[binding.dtypes.size()].dtype;
    binding.dtypes.push_back(stores_directly(memory, p.dtype) ? memory : p.dtype);
  }
  binding.ints = desc.types;
  binding.non_temporal = options.non_temporal;
  return find_or_compile(*trace, binding, **target);
}

Expected<std::shared_ptr<const Body>> compile_trace(const OpTrace& trace,
                                                    const std::vector<DType>& dtypes,
                                                    const std::vector<int>& ints,
                                                    const jit::Target& target) {
  return compile(trace, {dtypes, ints, false}, target);
}

Expected<std::string> operator_assembly(const OpTrace& trace, const IsaSet& isa) {
  Expected<const jit::Target*> target = best_target(isa);
  if (!target) return target.error();
  jit::Binding binding;
  for (const TraceParam& p : trace.params) {
    if (p.kind == TraceParamKind::kPointer) binding.dtypes.push_back(p.dtype);
    if (p.kind == TraceParamKind::kInt) binding.ints.push_back(static_cast<int>(DType::kF32));
  }
  Expected<Compiled> emitted = emit(trace, binding, **target);
  if (!emitted) return emitted.error();
  return jit::disassemble(emitted->bytes.data(), emitted->bytes.size());
}

}  // namespace nrd
