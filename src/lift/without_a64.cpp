// SPDX-License-Identifier: MIT
// src/lift/without_a64.cpp: in place of a64*.cpp where Capstone is missing.
#include "lift/frontend.h"

namespace nrd::lift {

std::unique_ptr<FrontEnd> make_a64_front_end() { return nullptr; }

}  // namespace nrd::lift
