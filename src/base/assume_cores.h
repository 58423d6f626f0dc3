// SPDX-License-Identifier: MIT
// src/base/assume_cores.h: for tests: a machine of that many cores.
#pragma once

namespace nrd {

// From now on available_cores() says so, whatever the system does.
void assume_cores(int cores);

}  // namespace nrd
