// SPDX-License-Identifier: MIT
// src/lift/native.h: the front end of the machine that this runs on.
//
// The other one is for tests: libraries and programs link neither it nor its decoder.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "lift/frontend.h"

namespace nrd::lift {

std::string_view native_machine();  // "x86-64", "aarch64"

// Null where there is none, and then why.
std::unique_ptr<FrontEnd> native_front_end();
std::string missing_front_end();

std::string missing_x86_front_end();

}  // namespace nrd::lift
