// SPDX-License-Identifier: MIT
// src/trace/decided.h: comparisons whose outcome the selects below them have settled.
#pragma once

#include <optional>
#include <span>

#include "trace/trace.h"

namespace nrd {

// Whether a float comparison (kOrd of a value with itself, kOge with a constant) always or never
// holds, because its operand was clamped by selects: what aarch64's conversions to integers, which
// saturate, ask about every value. Nothing where it is open.
std::optional<bool> decided(std::span<const Value> values, const Value& comparison);

}  // namespace nrd
