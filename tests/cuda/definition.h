// SPDX-License-Identifier: MIT
// tests/cuda/definition.h: an operator on one target against the f32 build of its definition.
//
// is_right() of op_case.h knows the data of a distribution; this takes OpCase::values too.
#pragma once

#include "op_case.h"

namespace nrd::cuda {

// Every output equals the definition's, bit for bit; any NaN equals any NaN. Primitives alone.
::testing::AssertionResult equals_definition(const TestTarget& target, const OpCase& c);

}  // namespace nrd::cuda
