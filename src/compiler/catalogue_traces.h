// SPDX-License-Identifier: MIT
// src/compiler/catalogue_traces.h: the catalogue's traces, lifted and proved when the library was
// built (lift/lift_catalogue.cpp writes embedded_traces()).
#pragma once

#include <span>
#include <string_view>

#include "trace/trace.h"

namespace nrd {

struct EmbeddedTrace {
  std::string_view name;  // of the definition: "rms_norm_after_weight"
  std::string_view text;
};
std::span<const EmbeddedTrace> embedded_traces();

// The trace of a definition, parsed when first asked for; null if there is none of that name.
const OpTrace* catalogue_trace(std::string_view name);

}  // namespace nrd
