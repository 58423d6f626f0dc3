// SPDX-License-Identifier: MIT
// tests/fuzz/user_functions/nudge.h: functions of mathematics that are a little wrong.
//
// The library's own expf, erff ... may differ from libm's by some units in the last place, which
// 1 - erff(x) makes large. No rounding mode shows that; a loaded function whose calls of libm are
// redirected does.
#pragma once

#include <cstdint>

namespace judge {

// Redirects the calls that a loaded library (a handle of dlopen) makes. Only for a process that
// does nothing else with that library.
void redirect_mathematics(void* library);

// From here on results are off by up to three units, as this seed says; 0: exact.
void nudge_mathematics(uint64_t seed);

}  // namespace judge
