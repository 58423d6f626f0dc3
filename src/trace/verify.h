// SPDX-License-Identifier: MIT
// src/trace/verify.h: what every OpTrace must satisfy.
#pragma once

#include "base/error.h"
#include "trace/trace.h"

namespace nrd {

// Types and numbers of arguments, definition before use, scopes, loops and their carries,
// parameters and what they are used for. An error names the value, by its id, and the reason.
Expected<void> verify_trace(const OpTrace& trace);

}  // namespace nrd
