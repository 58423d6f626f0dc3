// SPDX-License-Identifier: MIT
// tests/cuda/definition.cpp
#include "definition.h"

#include <cmath>

#include "base/convert.h"
#include "ops/evaluate.h"
#include "workbench/data.h"

namespace nrd::cuda {
namespace {

// Buffers of a contiguous case, the inputs filled.
std::vector<std::vector<char>> make_buffers(const OpCase& c, const Case& of) {
  std::vector<std::vector<char>> buffers;
  const Signature& s = of.desc.signature();
  for (size_t i = 0; i < s.operands.size(); i++) {
    const OperandDesc& o = of.desc.operands[i];
    const size_t bytes = byte_size(o.dtype);
    const auto count = o.present ? static_cast<size_t>(*element_count(o.sizes, bytes)) : 0;
    std::vector<char>& buffer = buffers.emplace_back(count * bytes + 64);
    if (s.operands[i].output || !o.present) continue;
    const auto given = c.values.find(s.operands[i].name);
    if (given == c.values.end()) {
      fill_operand(of, i, buffer.data());
      continue;
    }
    for (size_t e = 0; e < count; e++) {
      const uint64_t bits = encode(given->second[e], o.dtype, Overflow::kIeee);
      std::memcpy(buffer.data() + e * bytes, &bits, bytes);
    }
  }
  return buffers;
}

bool same(uint64_t a, uint64_t b, DType dtype) {
  if (a == b) return true;
  const double x = decode(a, dtype), y = decode(b, dtype);
  return std::isnan(x) && std::isnan(y);
}

}  // namespace

::testing::AssertionResult equals_definition(const TestTarget& target, const OpCase& c) {
  const Expected<OpRun> run = run_op(target, c);
  if (!run) return ::testing::AssertionFailure() << target.name << ": " << run.error().message();
  const Desc& desc = run->c.desc;
  std::vector<std::vector<char>> buffers = make_buffers(c, run->c);
  std::vector<void*> pointers;
  for (size_t i = 0; i < buffers.size(); i++)
    pointers.push_back(desc.operands[i].present ? buffers[i].data() : nullptr);
  const auto body = definition_body(desc, desc.bound().builds->scalar);
  if (!body) return ::testing::AssertionFailure() << body.error().message();
  const Expected<Evaluation> evaluation = Evaluation::prepare(desc, *body);
  if (!evaluation) return ::testing::AssertionFailure() << evaluation.error().message();
  std::vector<char> workspace(evaluation->workspace_bytes() + 64);
  evaluation->run(pointers.data(), workspace.data(), Exec{});
  for (const Output& output : run->outputs.outputs) {
    const DType dtype = desc.operands[output.operand].dtype;
    const size_t bytes = byte_size(dtype);
    for (size_t e = 0; e < output.data.size() / bytes; e++) {
      uint64_t got = 0, wanted = 0;
      std::memcpy(&got, output.data.data() + e * bytes, bytes);
      std::memcpy(&wanted, buffers[output.operand].data() + e * bytes, bytes);
      if (same(got, wanted, dtype)) continue;
      return ::testing::AssertionFailure()
             << c.text() << " by " << run->implementation << " (" << run->note << ") on "
             << target.name << ": " << desc.signature().operands[output.operand].name << "[" << e
             << "] is " << decode(got, dtype) << ", not " << decode(wanted, dtype);
    }
  }
  return ::testing::AssertionSuccess();
}

}  // namespace nrd::cuda
