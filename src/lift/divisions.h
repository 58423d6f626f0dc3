// SPDX-License-Identifier: MIT
// src/lift/divisions.h: divisions by constants, which compilers write as multiplications.
#pragma once

#include "lift/function.h"

namespace nrd::lift {

// A product with a reciprocal, shifted down, becomes the kUDiv or kSDiv that it is, where that is
// so for every number that can be divided.
void recognise_divisions(Function& function);

}  // namespace nrd::lift
