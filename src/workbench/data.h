// SPDX-License-Identifier: MIT
// src/workbench/data.h: the inputs of a case, made from a seed and a counter.
//
// An element's value depends on the case's seed, the operand and the element's logical index
// alone, so that every process, layout and sampled part of a case sees the same data.
#pragma once

#include <cstdint>

#include "workbench/case.h"

namespace nrd {

// Fills operand `index` of the case in memory of its dtype and strides.
void fill_operand(const Case& c, size_t index, void* data);

// The value of one element before it is rounded to the operand's dtype.
double element_value(const Case& c, size_t operand, uint64_t logical_index);

}  // namespace nrd
