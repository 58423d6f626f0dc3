// SPDX-License-Identifier: MIT
// src/dispatch/strict.h: strict mode: a kernel that stands in for the real thing is an error.
#pragma once

#include "dispatch/registry.h"

namespace nrd {

// What NEREID_ON_FALLBACK asks for.
Expected<bool> strict_from_environment();

// The error of strict mode if `prepared` is a fallback of what was chosen.
Expected<void> refuse_fallback(const Desc& desc, const KernelChoice& choice,
                               const PreparedKernel& prepared);

}  // namespace nrd
