// SPDX-License-Identifier: MIT
// tests/compiler/x86_check.h: translated instructions against the processor.
#pragma once

#include <string>

#include "x86_machine.h"

namespace nrd::lift {

// Fails the test where registers or memory differ after the snippet on any of many states.
void check_snippet(const Snippet& snippet);

// The reason for which it is not translated.
std::string refusal_of(const Snippet& snippet);

}  // namespace nrd::lift
