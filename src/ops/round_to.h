// SPDX-License-Identifier: MIT
// src/ops/round_to.h: the rounding that definitions call, and the checker's hook on it.
#pragma once

#include <cstdint>

extern "C" {
// As ops/scalar/definition.h promises: rounds to a dtype (a value of nereid_dtype) and back,
// saturating; the identity for f32 and f64.
float nrd_round_to_f32(float x, int type);
double nrd_round_to_f64(double x, int type);
}

namespace nrd {

// Multiplies what the double build rounds by 1 + relative, in this thread, until it is set back
// to 0. The checker runs the reference once nudged up and once down: where a result changes, it
// hangs on a rounding boundary and either side is right. With a `pattern` that is not 0 each
// rounding has a sign of its own, drawn by the pattern and by how many came before it.
void set_rounding_nudge(double relative, uint64_t pattern = 0);

}  // namespace nrd
