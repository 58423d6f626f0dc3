// SPDX-License-Identifier: MIT
// src/lift/without_x86.cpp: in place of x86*.cpp where Zydis is missing.
#include "lift/native.h"

namespace nrd::lift {

std::unique_ptr<FrontEnd> make_x86_front_end() { return nullptr; }
std::string missing_x86_front_end() { return "built without Zydis"; }

}  // namespace nrd::lift
