// SPDX-License-Identifier: MIT
// src/trace/canonical.h: one form for what different machines' code says differently.
#pragma once

#include "trace/trace.h"

namespace nrd {

// The same computation, bit for bit but for which NaN comes out of two:
// - operands that may change places stand in one order, by what they are and not by who wrote them:
//   carried values, computed ones, loads, parameters, constants;
// - integers are compared by eq, ne, less, and less or equal; a select asks for the order of its
//   operands, not for the lack of one, and not what is settled already (decided.h);
// - a value stands where it is first needed in its loop, a load before the next store; stores and
//   loops keep their order.
OpTrace canonical_trace(const OpTrace& trace);

}  // namespace nrd
