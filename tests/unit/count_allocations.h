// SPDX-License-Identifier: MIT
// tests/unit/count_allocations.h: how often operator new was called.
#pragma once

#include <cstdint>

int64_t allocations();
