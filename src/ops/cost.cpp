// SPDX-License-Identifier: MIT
// src/ops/cost.cpp: operations, bytes and tolerance of a bound operator.
#include <sstream>

#include "ops/desc.h"

namespace nrd {
namespace {

// A table, where there are indices: without them it is read as it lies.
bool is_gathered(const Desc& desc, const std::string& operand) {
  bool has_indices = false;
  for (const OperandDesc& o : desc.operands)
    has_indices = has_indices || (o.present && o.dtype == DType::kI32);
  if (!has_indices) return false;
  std::istringstream names(desc.op->gathers);
  for (std::string name; names >> name;)
    if (name == operand) return true;
  return false;
}

// Derived and fixed axes, and those that only a gathered table has, add nothing to the
// iteration space.
bool counts(const Desc& desc, size_t axis) {
  const Signature& s = desc.signature();
  if (!s.axes[axis].is_key()) return false;
  for (const Axis& other : s.axes)
    if (other.denominator == static_cast<int>(axis)) return false;
  for (const OperandSpec& operand : s.operands)
    for (const AxisRef& ref : operand.axes)
      if (ref.axis == static_cast<int>(axis) && !is_gathered(desc, operand.name)) return true;
  return false;
}

double distinct_elements(const OperandDesc& operand) {
  double count = 1;
  for (int d = 0; d < operand.sizes.size(); d++)
    if (operand.strides[d] != 0 || operand.sizes[d] == 0)
      count *= static_cast<double>(operand.sizes[d]);
  return count;
}

// One row of the table for each index that points into it.
double gathered_elements(const Desc& desc, const OperandDesc& table) {
  double rows = 1;
  for (const OperandDesc& operand : desc.operands)
    if (operand.present && operand.dtype == DType::kI32) rows = distinct_elements(operand);
  for (int d = 1; d < table.sizes.size(); d++) rows *= static_cast<double>(table.sizes[d]);
  return rows;
}

}  // namespace

Cost cost(const Desc& desc) {
  const Signature& s = desc.signature();
  Cost c;
  c.flops = desc.op->flops;
  for (int64_t size : desc.leading) c.flops *= static_cast<double>(size);
  for (size_t i = 0; i < desc.axes.size(); i++)
    if (counts(desc, i)) c.flops *= static_cast<double>(desc.axes[i]);

  for (size_t i = 0; i < desc.operands.size(); i++) {
    const OperandDesc& operand = desc.operands[i];
    if (!operand.present) continue;
    const bool gathered = is_gathered(desc, s.operands[i].name);
    const double elements =
        gathered ? gathered_elements(desc, operand) : distinct_elements(operand);
    const double bytes = elements * static_cast<double>(byte_size(operand.dtype));
    if (s.operands[i].output) c.bytes_written += bytes;
    if (!s.operands[i].output || s.operands[i].read) c.bytes_read += bytes;
  }
  return c;
}

const Tolerance& tolerance_of(const Desc& desc) {
  for (const auto& [choice, tolerance] : desc.op->tolerances)
    for (size_t i = 0; i < desc.choices.size(); i++)
      if (choice == desc.op->choices[i].name + "=" + desc.choices[i]) return tolerance;
  return desc.op->tolerance;
}

}  // namespace nrd
