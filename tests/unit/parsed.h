// SPDX-License-Identifier: MIT
// tests/unit/parsed.h: a trace from its text, for tests.
#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "trace/text.h"

namespace nrd {

inline OpTrace parsed(std::string_view text) {
  Expected<OpTrace> trace = parse_trace(text);
  EXPECT_TRUE(trace) << (trace ? "" : trace.error().message());
  return trace ? *trace : OpTrace{};
}

}  // namespace nrd
