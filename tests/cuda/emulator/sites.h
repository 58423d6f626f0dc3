// SPDX-License-Identifier: MIT
// tests/cuda/emulator/sites.h: the places in kernels where something is ordered: every barrier,
// wait, fence and parity. One of them can be switched off, to see whether the tests notice.
//
// A place is named by its file, line, column and kind: "fp8_gemm_send.cuh:88:5 named_barrier_sync".
// NEREID_EMULATOR_DROP names the one that is switched off, NEREID_EMULATOR_SITES a file to which
// the places that were reached are written at the end of the process. mutation_run.py uses both.
#pragma once

#include <source_location>

namespace nrd::cuda::emulator {

// The last parameter of whatever orders: the place that calls it.
using Place = std::source_location;

namespace detail {
extern bool watches_sites;
bool is_dropped(const char* kind, const Place& place);
}  // namespace detail

// Whether the place is switched off.
inline bool is_dropped(const char* kind, const Place& place) {
  return detail::watches_sites && detail::is_dropped(kind, place);
}

}  // namespace nrd::cuda::emulator
