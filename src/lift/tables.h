// SPDX-License-Identifier: MIT
// src/lift/tables.h: constants in read-only memory that an index chooses from.
#pragma once

#include "lift/function.h"

namespace nrd::lift {

// Loads from read-only memory whose index can only be one of a few numbers become choices between
// what lies there. Compilers write `c ? a : b` of two constants that way, too.
void resolve_tables(Function& function, const Image& image);

}  // namespace nrd::lift
