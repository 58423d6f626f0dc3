// SPDX-License-Identifier: MIT
// nereid/nereid.h: everything. Operators on tensors, chosen for this machine.
//
//   nereid::rms_norm(x, w, y, {.eps = 1e-5});        // ops.h: one function an operator
//   auto w = nereid::pack_b(weight.t());             // packed.h
//   nereid::gemm(a, w, c, {.bias = b, .activation = "gelu"});
//
// Functions throw nereid::Exception or what is below it (error.h); Call::try_run and attempt()
// give errors as values. All of them are thread safe.
#pragma once

#include "nereid/axes.h"         // IWYU pragma: export
#include "nereid/call.h"         // IWYU pragma: export
#include "nereid/choices.h"      // IWYU pragma: export
#include "nereid/context.h"      // IWYU pragma: export
#include "nereid/device.h"       // IWYU pragma: export
#include "nereid/dtype.h"        // IWYU pragma: export
#include "nereid/error.h"        // IWYU pragma: export
#include "nereid/fp8.h"          // IWYU pragma: export
#include "nereid/fused.h"        // IWYU pragma: export
#include "nereid/ops.h"          // IWYU pragma: export
#include "nereid/packed.h"       // IWYU pragma: export
#include "nereid/register_op.h"  // IWYU pragma: export
#include "nereid/registry.h"     // IWYU pragma: export
#include "nereid/tensor.h"       // IWYU pragma: export
