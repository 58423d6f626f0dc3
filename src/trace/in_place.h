// SPDX-License-Identifier: MIT
// src/trace/in_place.h: whether an input may be the memory of an output, by the places of accesses.
#pragma once

#include "trace/trace.h"

namespace nrd {

// Every input that could be an output's memory is read before anything is stored, or in the loop
// that stores and at the very places that it stores to. What samples of data can show comes on top
// of that: a value that only decides a comparison hardly ever does.
bool reads_where_it_stores(const OpTrace& trace);

}  // namespace nrd
