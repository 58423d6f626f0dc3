// SPDX-License-Identifier: MIT
// tests/fuzz/lift_bytes.h: any bytes as machine code, through the lifter as lift.cpp runs it. The
// bytes are never executed.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace nrd::lift {

enum class Machine : uint8_t { kX86, kA64 };

// The first byte chooses a signature, the rest is the function. What may come of it: a trace that
// the verifier accepts and whose text says the same again, or a refusal that says why. Anything
// else is returned as a complaint; no complaint is an empty string. `reason`, where it is asked
// for: why the bytes were refused.
std::string complaint_about(Machine machine, std::span<const uint8_t> input,
                            std::string* reason = nullptr);

bool has_front_end(Machine machine);

}  // namespace nrd::lift
