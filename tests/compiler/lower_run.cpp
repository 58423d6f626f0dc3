// SPDX-License-Identifier: MIT
// tests/compiler/lower_run.cpp: see lower_run.h.
#include "lower_run.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/convert.h"
#include "jit_interpreter.h"
#include "machine/isa.h"
#include "trace/bounded.h"
#include "trace/text.h"

namespace nrd::jit {
namespace {

double element(const void* base, DType dtype, size_t i) {
  uint64_t bits = 0;
  std::memcpy(&bits, static_cast<const char*>(base) + i * byte_size(dtype), byte_size(dtype));
  if (dtype == DType::kI32) return static_cast<int32_t>(bits);
  if (dtype == DType::kI8) return static_cast<int8_t>(bits);
  if (dtype == DType::kU8) return static_cast<uint8_t>(bits);
  return decode(bits, dtype);
}

// Within the bounds, rounded to the storage dtype.
bool is_within(double got, const Bounded& want, DType dtype) {
  if (within(got, want, kDecisionSlack)) return true;
  if (dtype == DType::kF32 || dtype == DType::kF64 || !is_float(dtype)) return false;
  if (std::isnan(want.value)) return std::isnan(got);
  const double spread = kDecisionSlack * want.bound;
  const double low = round_through(want.value - spread, dtype, Overflow::kIeee);
  const double high = round_through(want.value + spread, dtype, Overflow::kIeee);
  if (std::isnan(got)) return std::isnan(low) || std::isnan(high);
  return (std::isnan(low) || got >= low) && (std::isnan(high) || got <= high);
}

}  // namespace

const std::vector<Machine>& machines() {
  static const std::vector<Machine> all = [] {
    const Target avx512 = {.isa = "avx512",
                           .vector_bytes = 64,
                           .vector_registers = 32,
                           .has_scale = true,
                           .has_tables = true,
                           .cheap_masks = true};
    const Target avx2 = {.isa = "avx2", .vector_bytes = 32, .vector_registers = 16};
    const Target neon = {.isa = "neon", .vector_bytes = 16, .vector_registers = 32};
    std::vector<Machine> list = {{avx512, false}, {avx2, false}, {neon, false}};
    for (const Target* target : targets(detect_isa())) {
      for (Machine& machine : list) {
        if (machine.target.isa == target->isa) machine = {*target, true};
      }
    }
    return list;
  }();
  return all;
}

std::vector<Machine> native_machines() {
  std::vector<Machine> list;
  for (const Machine& machine : machines()) {
    if (machine.is_native) list.push_back(machine);
  }
  return list;
}

Runnable::Runnable(Program program, const Machine& machine) : program_(std::move(program)) {
  EXPECT_EQ(verify_program(program_), "") << program_text(program_);
  if (!machine.is_native) return;
  const auto bytes = encode(program_, machine.target);
  if (!bytes) {
    ADD_FAILURE() << bytes.error().message();
    return;
  }
  const auto code = make_code(program_.name, *bytes);
  if (!code) {
    ADD_FAILURE() << code.error().message();
    return;
  }
  code_ = *code;
}

void Runnable::run(const void* block, void* const* pointers) const {
  if (code_ != nullptr) {
    code_->entry_with_pointers()(block, pointers);
  } else {
    Interpreter(program_).run(block, pointers);
  }
}

Binding binding_in(const OpTrace& trace, DType dtype) {
  Binding binding;
  for (const TraceParam& p : trace.params) {
    if (p.kind == TraceParamKind::kInt) binding.ints.push_back(static_cast<int>(dtype));
    if (p.kind != TraceParamKind::kPointer) continue;
    binding.dtypes.push_back(p.dtype == DType::kF32 ? dtype : p.dtype);
  }
  return binding;
}

Operands::Operands(const OpTrace& trace, const Sample& sample, const Binding& binding) {
  for (const TraceParam& p : trace.params) {
    if (p.kind != TraceParamKind::kPointer) continue;
    const size_t i = params_.size();
    params_.push_back(&p);
    dtypes_.push_back(binding.dtypes[i]);
    counts_.push_back(sample.buffers[i].size() / byte_size(p.dtype));
    same_.push_back(i);
    const size_t bytes = counts_[i] * byte_size(dtypes_[i]);
    buffers_.push_back(
        std::move(*Buffer::allocate(std::max<size_t>(bytes, 1), MemoryMode::kGuarded)));
    convert(sample.buffers[i].data(), p.dtype, buffers_[i].data(), dtypes_[i], counts_[i]);
    const char* first = static_cast<const char*>(buffers_[i].data());
    before_.emplace_back(first, first + bytes);
  }
}

void Operands::share(size_t input, size_t output) {
  before_[output] = before_[input];
  std::copy(before_[input].begin(), before_[input].end(),
            static_cast<char*>(buffers_[output].data()));
  same_[input] = output;
}

void Operands::fill(ArgumentBlock& block) const {
  for (size_t i = 0; i < params_.size(); i++) block.set_pointer(static_cast<int>(i), data(i));
}

std::vector<char> Operands::stored() const {
  std::vector<char> bytes;
  for (size_t i = 0; i < params_.size(); i++) {
    if (!params_[i]->written) continue;
    const char* from = static_cast<const char*>(data(i));
    bytes.insert(bytes.end(), from, from + before_[i].size());
  }
  return bytes;
}

::testing::AssertionResult Operands::fits(const OpTrace& trace, const Sample& sample) const {
  std::vector<std::vector<Bounded>> values(params_.size());
  std::vector<void*> pointers;
  std::vector<std::vector<char>> native = before_;
  for (size_t i = 0; i < params_.size(); i++) {
    for (size_t k = 0; k < counts_[i]; k++) {
      values[i].push_back({element(before_[i].data(), dtypes_[i], k), 0});
    }
  }
  for (size_t i = 0; i < params_.size(); i++) {
    const bool is_integer_input = !is_float(params_[i]->dtype) && !params_[i]->written;
    if (is_integer_input) {
      pointers.push_back(native[i].data());
    } else {
      pointers.push_back(values[i].data());
    }
  }
  interpret_bounded(
      trace, {pointers.data(), sample.sizes.data(), sample.numbers.data(), sample.ints.data()});
  for (size_t i = 0; i < params_.size(); i++) {
    if (same_[i] != i) continue;
    if (!params_[i]->written) {
      if (std::equal(before_[i].begin(), before_[i].end(), static_cast<const char*>(data(i)))) {
        continue;
      }
      return ::testing::AssertionFailure() << params_[i]->name << " was changed";
    }
    for (size_t k = 0; k < counts_[i]; k++) {
      const double got = element(data(i), dtypes_[i], k);
      if (is_within(got, values[i][k], dtypes_[i])) continue;
      return ::testing::AssertionFailure()
             << params_[i]->name << "[" << k << "] is " << got << ", not " << values[i][k].value
             << " +- " << kDecisionSlack * values[i][k].bound << " (" << sample.text() << ")";
    }
  }
  return ::testing::AssertionSuccess();
}

ArgumentBlock block_for(const Lowered& lowered, const Sample& sample, const Operands& operands,
                        std::vector<std::vector<char>>& rows) {
  ArgumentBlock block(lowered.layout);
  operands.fill(block);
  for (size_t i = 0; i < sample.sizes.size(); i++) {
    block.set_size(static_cast<int>(i), sample.sizes[i]);
  }
  int number = 0;
  for (const TraceParam& p : lowered.trace.params) {
    if (p.kind != TraceParamKind::kNumber) continue;
    const double value = sample.numbers[static_cast<size_t>(number)];
    if (p.dtype == DType::kF64) {
      block.set_number(number, value);
    } else {
      block.set_number(number, static_cast<float>(value));
    }
    number++;
  }
  int pointer = lowered.layout.pointers - static_cast<int>(lowered.scratch.size());
  for (ValueId length : lowered.scratch) {
    const int64_t elements =
        std::max<int64_t>(0, evaluate_size(lowered.trace, length, sample.sizes));
    rows.emplace_back(static_cast<size_t>(elements) * 4);
    block.set_pointer(pointer++, rows.back().data());
  }
  return block;
}

OpTrace parsed(std::string_view text) {
  auto trace = parse_trace(text);
  if (trace) return *trace;
  ADD_FAILURE() << trace.error().message();
  return {};
}

}  // namespace nrd::jit
