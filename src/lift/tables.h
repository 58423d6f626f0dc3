// SPDX-License-Identifier: MIT
// src/lift/tables.h: constants in read-only memory that an index chooses from.
#pragma once

#include "lift/function.h"

namespace nrd::lift {

// Loads from read-only memory whose index can only be one of so many numbers become lookups in
// Function::tables. Compilers write `c ? a : b` of two constants that way, too. Needs dominators.
void resolve_tables(Function& function, const Image& image);

}  // namespace nrd::lift
