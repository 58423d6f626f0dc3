// SPDX-License-Identifier: MIT
// tests/kernel/amx_emulator.h: AMX on a processor without it, so that its kernels are tested
// everywhere.
#pragma once

namespace nrd {

// From now on each tile instruction that this processor refuses is carried out in a signal handler,
// some microseconds each. Knows the instructions that jit/x86_tiles.cpp writes.
void emulate_amx();

}  // namespace nrd
