// SPDX-License-Identifier: MIT
// src/workbench/runner.cpp: memory, preparation and the poisoned run.
#include "workbench/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "dispatch/strict.h"
#include "workbench/data.h"
#include "workbench/staged_operands.h"

namespace nrd {
namespace {

constexpr unsigned char kPoison[2] = {0xA5, 0x5A};
constexpr size_t kLine = 64;
// Starts of operands on the CPU differ by 19 lines within a page: far enough that a store never
// looks like the line which a load a little ahead of it wants, for as many operands as there are.
constexpr size_t kGap = 4096 + 19 * kLine;

// Elements between the first and one past the last that the strides reach.
size_t extent_bytes(const OperandDesc& operand) {
  int64_t last = 0;
  for (int d = 0; d < operand.sizes.size(); d++) {
    if (operand.sizes[d] == 0) return 0;
    last += (operand.sizes[d] - 1) * operand.strides[d];
  }
  return static_cast<size_t>(last + 1) * byte_size(operand.dtype);
}

// The first element that holds both runs' poison, or -1. Looks at pages first: gigabytes have
// hardly a byte in common with both.
int64_t first_unwritten(const std::vector<char>& first, const std::vector<char>& second,
                        size_t element) {
  constexpr size_t kPage = 4096;
  auto is_poison = [&](size_t i) {
    return (first[i] == static_cast<char>(kPoison[0])) &
           (second[i] == static_cast<char>(kPoison[1]));
  };
  for (size_t page = 0; page < first.size(); page += kPage) {
    const size_t end = std::min(first.size(), page + kPage);
    size_t poisoned = 0;
    for (size_t i = page; i < end; i++) poisoned += is_poison(i);
    if (poisoned < element) continue;
    for (size_t at = page; at < end; at += element) {
      size_t bytes = 0;
      for (size_t i = at; i < at + element; i++) bytes += is_poison(i);
      if (bytes == element) return static_cast<int64_t>(at / element);
    }
  }
  return -1;
}

// A kernel may come without a backend.
bool uses_operands(const KernelChoice& choice) {
  return choice.backend == nullptr || choice.backend->uses_operands();
}

double elapsed_us(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - since)
      .count();
}

}  // namespace

Expected<KernelRunner> KernelRunner::create(const KernelChoice& choice, const Case& c,
                                            MemoryMode mode, int sets) {
  KernelRunner runner;
  runner.case_ = c;
  runner.exec_.threads = c.spec.threads;
  NRD_TRY(choice.kernel->accepts(c.desc));
  Expected<std::unique_ptr<OperandMemory>> memory = OperandMemory::on(c.desc.device);
  if (!memory) return memory.error();
  runner.memory_ = std::move(*memory);
  if (mode == MemoryMode::kTimed && uses_operands(choice)) {
    Expected<void*> block = runner.memory_->allocate(static_cast<size_t>(sets) * runner.set_bytes(),
                                                     mode, OperandMemory::kReadGuard);
    if (!block) return block.error();
    runner.block_ = static_cast<char*>(*block);
  }
  for (int i = 0; i < sets; i++) NRD_TRY(runner.add_set(choice, mode));
  if (uses_operands(choice) && reads_outputs(c.desc)) runner.keep_initial();
  runner.workspace_bytes_ = runner.sets_.front().prepared->workspace_bytes();
  if (runner.workspace_bytes_ == 0) return runner;
  // A guard page on the CPU would cost its alignment.
  const MemoryMode guarded = runner.memory_->addressable() ? MemoryMode::kTimed : mode;
  Expected<void*> workspace =
      runner.memory_->allocate(runner.workspace_bytes_, guarded, OperandMemory::kWriteGuard);
  if (!workspace) return workspace.error();
  runner.workspace_ = *workspace;
  return runner;
}

size_t KernelRunner::bytes_of(size_t operand) const {
  const OperandDesc& desc = case_.desc.operands[operand];
  return desc.present ? extent_bytes(desc) : 0;
}

size_t KernelRunner::padded_bytes(size_t operand) const {
  const size_t alignment = memory_->alignment();
  const size_t padded = (bytes_of(operand) + alignment - 1) / alignment * alignment;
  return padded + (memory_->addressable() ? kGap : 0);
}

size_t KernelRunner::set_bytes() const {
  size_t total = 0;
  for (size_t i = 0; i < case_.desc.operands.size(); i++) total += padded_bytes(i);
  return total;
}

bool KernelRunner::has_constants() const {
  return std::any_of(case_.desc.operands.begin(), case_.desc.operands.end(),
                     [](const OperandDesc& operand) { return operand.constant; });
}

// Timed operands, of all sets, lie behind each other in one block; guarded ones have their own.
Expected<void> KernelRunner::allocate(Set& set, MemoryMode mode) {
  size_t offset = sets_.size() * set_bytes();
  for (size_t i = 0; i < case_.desc.operands.size(); i++) {
    void* data = nullptr;
    if (mode == MemoryMode::kTimed) {
      data = block_ + offset;
      offset += padded_bytes(i);
    } else {
      const bool output = case_.desc.signature().operands[i].output;
      Expected<void*> piece = memory_->allocate(
          bytes_of(i), mode, output ? OperandMemory::kWriteGuard : OperandMemory::kReadGuard);
      if (!piece) return piece.error();
      data = *piece;
    }
    set.pointers.push_back(case_.desc.operands[i].present ? data : nullptr);
  }
  return {};
}

// Inputs are made once on the host; further sets on a device are copies of the first.
Expected<void> KernelRunner::fill(const Set& set) {
  for (size_t i = 0; i < case_.desc.operands.size(); i++) {
    if (!case_.desc.operands[i].present) continue;
    void* to = set.pointers[i];
    if (!has_contents(case_.desc, i)) {
      NRD_TRY(memory_->fill(to, 0, bytes_of(i)));  // no page fault in the timed path
    } else if (memory_->addressable()) {
      fill_operand(case_, i, to);
    } else if (!sets_.empty()) {
      NRD_TRY(memory_->copy(to, sets_.front().pointers[i], bytes_of(i)));
    } else {
      const auto staged = staged_operand(case_, i, bytes_of(i));
      NRD_TRY(memory_->write(to, staged->data(), staged->size()));
    }
  }
  return {};
}

// A kernel that cannot do a case is left out; a fallback in strict mode is an error of the run.
Expected<void> KernelRunner::check_strict(const KernelChoice& choice,
                                          const PreparedKernel& prepared) const {
  Expected<bool> strict = strict_from_environment();
  if (!strict) return strict.error();
  if (!*strict) return {};
  Expected<void> real = refuse_fallback(case_.desc, choice, prepared);
  if (real) return {};
  Error error = real.error();
  error.code = ErrorCode::kEnvironment;
  return make_error(std::move(error));
}

Expected<void> KernelRunner::add_set(const KernelChoice& choice, MemoryMode mode) {
  Set set;
  if (!uses_operands(choice)) {
    set.pointers.resize(case_.desc.operands.size());
    NRD_TRY(prepare(choice, set));
    sets_.push_back(std::move(set));
    return {};
  }
  NRD_TRY(allocate(set, mode));
  NRD_TRY(fill(set));
  if (sets_.empty())
    for (size_t i = 0; i < case_.desc.operands.size(); i++) operand_bytes_ += bytes_of(i);
  NRD_TRY(check_pointers(case_.desc, set.pointers));
  // Without constants nothing of a set is in what was prepared.
  if (!sets_.empty() && !has_constants()) {
    set.prepared = sets_.front().prepared;
  } else {
    NRD_TRY(prepare(choice, set));
  }
  sets_.push_back(std::move(set));
  return {};
}

Expected<void> KernelRunner::prepare(const KernelChoice& choice, Set& set) {
  std::vector<void*> constants;
  for (size_t i = 0; i < case_.desc.operands.size(); i++)
    constants.push_back(case_.desc.operands[i].constant ? set.pointers[i] : nullptr);
  auto start = std::chrono::steady_clock::now();
  Expected<std::unique_ptr<PreparedKernel>> prepared =
      choice.kernel->prepare(case_.desc, constants);
  if (!prepared) return prepared.error();
  NRD_TRY(check_strict(choice, **prepared));
  if (sets_.empty()) prepare_us_ = elapsed_us(start);
  set.prepared = std::move(*prepared);
  return {};
}

void KernelRunner::keep_initial() {
  const Signature& s = case_.desc.signature();
  for (size_t i = static_cast<size_t>(s.inputs); i < s.operands.size(); i++)
    if (has_contents(case_.desc, i)) initial_.push_back({i, staged_operand(case_, i, bytes_of(i))});
}

Expected<void> KernelRunner::restore(int set) {
  for (const Initial& initial : initial_)
    NRD_TRY(memory_->write(sets_[static_cast<size_t>(set)].pointers[initial.operand],
                           initial.bytes->data(), initial.bytes->size()));
  return {};
}

Expected<void> KernelRunner::poison(unsigned char byte) {
  const Signature& s = case_.desc.signature();
  for (size_t i = static_cast<size_t>(s.inputs); i < s.operands.size(); i++)
    if (case_.desc.operands[i].present && !has_contents(case_.desc, i))
      NRD_TRY(memory_->fill(sets_.front().pointers[i], byte, bytes_of(i)));
  return {};
}

Expected<std::vector<Output>> KernelRunner::collect() const {
  const Signature& s = case_.desc.signature();
  std::vector<Output> outputs;
  for (size_t i = static_cast<size_t>(s.inputs); i < s.operands.size(); i++) {
    const OperandDesc& operand = case_.desc.operands[i];
    if (!operand.present) continue;
    Output out{.operand = i, .data = {}};  // outputs of a case are contiguous
    out.data.resize(bytes_of(i));
    NRD_TRY(memory_->read(out.data.data(), sets_.front().pointers[i], out.data.size()));
    outputs.push_back(std::move(out));
  }
  return outputs;
}

// Guarded operands were allocated in their order.
Expected<std::string> KernelRunner::damage() const {
  std::string where;
  Expected<int> piece = memory_->damaged(where);
  if (!piece) return piece.error();
  if (*piece < 0) return std::string();
  const auto& operands = case_.desc.signature().operands;
  const auto index = static_cast<size_t>(*piece);
  return fmt::format("{}: {}", index < operands.size() ? operands[index].name : "workspace", where);
}

Expected<RunOutputs> KernelRunner::run_checked() {
  std::vector<Output> poisoned[2];
  for (int pass = 0; pass < 2; pass++) {
    NRD_TRY(poison(kPoison[pass]));
    NRD_TRY(restore());
    NRD_TRY(run());
    NRD_TRY(memory_->wait());
    Expected<std::vector<Output>> outputs = collect();
    if (!outputs) return outputs.error();
    poisoned[pass] = std::move(*outputs);
  }
  const std::vector<Output>& first = poisoned[0];
  RunOutputs result{.outputs = std::move(poisoned[1]), .unwritten = "", .damaged = ""};
  Expected<std::string> damaged = damage();
  if (!damaged) return damaged.error();
  result.damaged = std::move(*damaged);
  for (size_t o = 0; o < first.size() && result.unwritten.empty(); o++) {
    const size_t operand = first[o].operand;
    if (has_contents(case_.desc, operand)) continue;  // it may keep what it held
    const int64_t element = first_unwritten(first[o].data, result.outputs[o].data,
                                            byte_size(case_.desc.operands[operand].dtype));
    if (element >= 0)
      result.unwritten =
          fmt::format("{}[{}]", case_.desc.signature().operands[operand].name, element);
  }
  return result;
}

}  // namespace nrd
