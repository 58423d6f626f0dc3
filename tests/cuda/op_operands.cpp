// SPDX-License-Identifier: MIT
// tests/cuda/op_operands.cpp
#include "op_operands.h"

#include <algorithm>
#include <cstring>

#include "base/convert.h"
#include "workbench/data.h"

namespace nrd::cuda {
namespace {

int64_t count_of(const OperandDesc& o) {
  int64_t n = 1;
  for (int64_t size : o.sizes) n *= size;
  return n;
}

size_t extent_bytes(const OperandDesc& o) {
  int64_t last = 0;
  for (int d = 0; d < o.sizes.size(); d++) {
    if (o.sizes[d] == 0) return 0;
    last += (o.sizes[d] - 1) * o.strides[d];
  }
  return static_cast<size_t>(last + 1) * byte_size(o.dtype);
}

// Where element `index` of the logical order lies.
size_t offset_of(const OperandDesc& o, int64_t index) {
  int64_t offset = 0;
  for (int d = o.sizes.size() - 1; d >= 0; d--) {
    offset += index % o.sizes[d] * o.strides[d];
    index /= o.sizes[d];
  }
  return static_cast<size_t>(offset) * byte_size(o.dtype);
}

}  // namespace

Error failure(const OpCase& c, std::string what) {
  return make_error(
      {.code = ErrorCode::kInternal, .op = c.op, .argument = c.text(), .got = std::move(what)});
}

Operands::Operands(const OpCase& c, const TestTarget& target, const Case& own) : c_(c), own_(own) {
  const Signature& s = own.desc.signature();
  for (size_t i = 0; i < s.operands.size(); i++) {
    const OperandDesc& o = own.desc.operands[i];
    const auto layout = c.layouts.find(s.operands[i].name);
    const size_t misalignment = layout == c.layouts.end() ? 0 : layout->second.misalignment;
    const size_t bytes = o.present ? extent_bytes(o) : 0;
    buffers_.emplace_back(target, bytes, misalignment,
                          s.operands[i].output ? kOutputGuard : kInputGuard);
    host_.emplace_back(bytes, '\xff');
    if (o.present && !s.operands[i].output) fill(i);
  }
  if (c.in_place.empty()) return;
  shared_ = static_cast<size_t>(s.find_operand(c.in_place));
}

std::vector<void*> Operands::pointers() const {
  std::vector<void*> p;
  const Signature& s = own_.desc.signature();
  for (size_t i = 0; i < buffers_.size(); i++)
    p.push_back(own_.desc.operands[i].present ? buffers_[i].data() : nullptr);
  if (!c_.in_place.empty()) p[static_cast<size_t>(s.inputs)] = p[shared_];
  return p;
}

void Operands::reset(unsigned char poison) {
  for (size_t i = 0; i < buffers_.size(); i++) {
    if (own_.desc.signature().operands[i].output)
      buffers_[i].fill(poison);
    else
      buffers_[i].upload(host_[i].data());
  }
}

Expected<std::vector<Output>> Operands::collect(unsigned char poison) const {
  std::vector<Output> outputs;
  const Signature& s = own_.desc.signature();
  for (size_t i = 0; i < buffers_.size(); i++) {
    if (!own_.desc.operands[i].present) continue;
    if (const auto guards = buffers_[i].check_guards(); !guards)
      return failure(c_, s.operands[i].name + ": " + guards.message());
    if (s.operands[i].output) {
      Expected<Output> output = gather(i, poison);
      if (!output) return output.error();
      outputs.push_back(std::move(*output));
    } else if ((c_.in_place.empty() || i != shared_) && buffers_[i].download() != host_[i]) {
      return failure(c_, "the input " + s.operands[i].name + " was changed");
    }
  }
  return outputs;
}

void Operands::fill(size_t i) {
  const OperandDesc& o = own_.desc.operands[i];
  const auto given = c_.values.find(own_.desc.signature().operands[i].name);
  if (given == c_.values.end()) {
    fill_operand(own_, i, host_[i].data());
    return;
  }
  for (int64_t e = 0; e < count_of(o); e++) {
    const uint64_t bits = encode(given->second[static_cast<size_t>(e)], o.dtype, Overflow::kIeee);
    std::memcpy(host_[i].data() + offset_of(o, e), &bits, byte_size(o.dtype));
  }
}

Expected<Output> Operands::gather(size_t i, unsigned char poison) const {
  const OperandDesc& o = own_.desc.operands[i];
  const Signature& s = own_.desc.signature();
  const bool is_shared = !c_.in_place.empty() && i == static_cast<size_t>(s.inputs);
  std::vector<char> memory = buffers_[is_shared ? shared_ : i].download();
  const size_t bytes = byte_size(o.dtype);
  Output output{.operand = i, .data = std::vector<char>(static_cast<size_t>(count_of(o)) * bytes)};
  for (int64_t e = 0; e < count_of(o); e++) {
    char* at = memory.data() + offset_of(o, e);
    std::memcpy(output.data.data() + static_cast<size_t>(e) * bytes, at, bytes);
    std::memset(at, poison, bytes);
  }
  if (is_shared) return output;
  const auto is_poison = [&](char byte) { return static_cast<unsigned char>(byte) == poison; };
  if (!std::all_of(memory.begin(), memory.end(), is_poison))
    return failure(c_, s.operands[i].name + ": memory between its elements was written");
  return output;
}

}  // namespace nrd::cuda
