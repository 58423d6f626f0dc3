// SPDX-License-Identifier: MIT
// src/workbench/staged_operands.h: operands of device cases on the host, on their way to a device.
#pragma once

#include <memory>
#include <vector>

#include "workbench/case.h"

namespace nrd {

// The bytes of an input of the case, in its dtype and strides. Making gigabytes takes longer than
// measuring them, and the checks, regimes and backends of a case (and cases that differ in options
// alone) have the same: what was made last is kept, up to kStagedBytes.
inline constexpr size_t kStagedBytes = size_t{1} << 30;
std::shared_ptr<const std::vector<char>> staged_operand(const Case& c, size_t operand,
                                                        size_t bytes);

}  // namespace nrd
