// SPDX-License-Identifier: MIT
// src/workbench/reference_sample.h: which part of a large case is checked.
#pragma once

#include <cstdint>
#include <vector>

#include "workbench/case.h"

namespace nrd {

// Indices of an axis, in their order.
using AxisSample = std::vector<int64_t>;

bool is_sampled(const Case& c);

// For each axis; whole where it cannot be cut. Another part for each seed of the case and `round`.
std::vector<AxisSample> choose_samples(const Case& c, bool sampled, int round, int threads);

}  // namespace nrd
