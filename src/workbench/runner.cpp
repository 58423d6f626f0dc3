// SPDX-License-Identifier: MIT
// src/workbench/runner.cpp: memory, preparation and the poisoned run.
#include "workbench/runner.h"

#include <fmt/format.h>

#include <chrono>
#include <cstring>

#include "dispatch/strict.h"
#include "workbench/data.h"

namespace nrd {
namespace {

constexpr unsigned char kPoison[2] = {0xA5, 0x5A};
constexpr size_t kLine = 64;
// Starts of operands differ by 19 lines within a page: far enough that a store never looks like the
// line which a load a little ahead of it wants, for as many operands as there are.
constexpr size_t kGap = 4096 + 19 * kLine;

int64_t count(const OperandDesc& operand) {
  int64_t n = 1;
  for (int64_t size : operand.sizes) n *= size;
  return n;
}

// Elements between the first and one past the last that the strides reach.
size_t extent_bytes(const OperandDesc& operand) {
  int64_t last = 0;
  for (int d = 0; d < operand.sizes.size(); d++) {
    if (operand.sizes[d] == 0) return 0;
    last += (operand.sizes[d] - 1) * operand.strides[d];
  }
  return static_cast<size_t>(last + 1) * byte_size(operand.dtype);
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
  if (mode == MemoryMode::kTimed) {
    Expected<Buffer> block = Buffer::allocate(static_cast<size_t>(sets) * runner.set_bytes(), mode);
    if (!block) return block.error();
    runner.block_ = std::move(*block);
  }
  for (int i = 0; i < sets; i++) NRD_TRY(runner.add_set(choice, mode));
  Expected<Buffer> workspace =
      Buffer::allocate(runner.sets_.front().prepared->workspace_bytes(), MemoryMode::kTimed);
  if (!workspace) return workspace.error();
  runner.workspace_ = std::move(*workspace);
  return runner;
}

size_t KernelRunner::bytes_of(size_t operand) const {
  const OperandDesc& desc = case_.desc.operands[operand];
  return desc.present ? extent_bytes(desc) : 0;
}

size_t KernelRunner::set_bytes() const {
  size_t total = 0;
  for (size_t i = 0; i < case_.desc.operands.size(); i++)
    total += (bytes_of(i) + kLine - 1) / kLine * kLine + kGap;
  return total;
}

// Timed operands, of all sets, lie behind each other in one block; guarded ones have their own.
Expected<void> KernelRunner::allocate(Set& set, MemoryMode mode) {
  size_t offset = sets_.size() * set_bytes();
  for (size_t i = 0; i < case_.desc.operands.size(); i++) {
    char* data = nullptr;
    if (mode == MemoryMode::kTimed) {
      data = static_cast<char*>(block_.data()) + offset;
      offset += (bytes_of(i) + kLine - 1) / kLine * kLine + kGap;
    } else {
      Expected<Buffer> buffer = Buffer::allocate(bytes_of(i), mode);
      if (!buffer) return buffer.error();
      data = static_cast<char*>(buffer->data());
      set.buffers.push_back(std::move(*buffer));
    }
    set.pointers.push_back(case_.desc.operands[i].present ? data : nullptr);
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
  NRD_TRY(allocate(set, mode));
  std::vector<void*> constants;
  for (size_t i = 0; i < case_.desc.operands.size(); i++) {
    const OperandDesc& operand = case_.desc.operands[i];
    if (operand.present && !case_.desc.signature().operands[i].output)
      fill_operand(case_, i, set.pointers[i]);
    else if (operand.present)
      std::memset(set.pointers[i], 0, bytes_of(i));  // no page fault in the timed path
    if (sets_.empty()) operand_bytes_ += bytes_of(i);
    constants.push_back(operand.constant ? set.pointers[i] : nullptr);
  }
  NRD_TRY(check_pointers(case_.desc, set.pointers));
  auto start = std::chrono::steady_clock::now();
  Expected<std::unique_ptr<PreparedKernel>> prepared =
      choice.kernel->prepare(case_.desc, constants);
  if (!prepared) return prepared.error();
  NRD_TRY(check_strict(choice, **prepared));
  if (sets_.empty()) prepare_us_ = elapsed_us(start);
  set.prepared = std::move(*prepared);
  sets_.push_back(std::move(set));
  return {};
}

void KernelRunner::poison(unsigned char byte) {
  const Signature& s = case_.desc.signature();
  for (size_t i = static_cast<size_t>(s.inputs); i < s.operands.size(); i++)
    if (case_.desc.operands[i].present) std::memset(sets_.front().pointers[i], byte, bytes_of(i));
}

std::vector<Output> KernelRunner::collect() const {
  const Signature& s = case_.desc.signature();
  std::vector<Output> outputs;
  for (size_t i = static_cast<size_t>(s.inputs); i < s.operands.size(); i++) {
    const OperandDesc& operand = case_.desc.operands[i];
    if (!operand.present) continue;
    Output out{.operand = i, .data = {}};  // outputs of a case are contiguous
    const char* data = static_cast<const char*>(sets_.front().pointers[i]);
    out.data.assign(data, data + bytes_of(i));
    outputs.push_back(std::move(out));
  }
  return outputs;
}

Expected<RunOutputs> KernelRunner::run_checked() {
  poison(kPoison[0]);
  NRD_TRY(run());
  std::vector<Output> first = collect();
  poison(kPoison[1]);
  NRD_TRY(run());
  RunOutputs result{.outputs = collect(), .unwritten = ""};
  for (size_t o = 0; o < first.size() && result.unwritten.empty(); o++) {
    const OperandDesc& operand = case_.desc.operands[first[o].operand];
    const size_t bytes = byte_size(operand.dtype);
    const std::vector<char> a(bytes, static_cast<char>(kPoison[0]));
    const std::vector<char> b(bytes, static_cast<char>(kPoison[1]));
    for (int64_t i = 0; i < count(operand); i++) {
      const size_t at = static_cast<size_t>(i) * bytes;
      if (std::memcmp(first[o].data.data() + at, a.data(), bytes) == 0 &&
          std::memcmp(result.outputs[o].data.data() + at, b.data(), bytes) == 0) {
        result.unwritten =
            fmt::format("{}[{}]", case_.desc.signature().operands[first[o].operand].name, i);
        break;
      }
    }
  }
  return result;
}

}  // namespace nrd
