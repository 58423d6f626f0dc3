// SPDX-License-Identifier: MIT
// src/machine/profile.h: DeviceProfile, the facts that choices are made from. A plain value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/isa.h"

namespace nrd {

// Rates of one kind of arithmetic, in 1e9 operations a second for one core; 0 = not available.
struct ArithmeticPeaks {
  double f32_fma = 0;   // at the widest vectors of the ISA set
  double bf16_dot = 0;  // vdpbf16ps, bfmmla
  double int8_dot = 0;  // VNNI, dotprod
  double amx_bf16 = 0;
  double amx_int8 = 0;
};

struct CacheLevel {
  std::string name;   // "L1", "L2", "L3", "DRAM"
  int64_t bytes = 0;  // of one core's share for private levels, whole for shared ones; 0 for DRAM
  int sharers = 1;    // logical CPUs that share one such cache
};

// Bytes a second / 1e9 that one kind of stream reaches out of a level.
struct StreamRates {
  std::string level;
  double read = 0;
  double copy = 0;     // bytes read + bytes written
  double copy_nt = 0;  // with non-temporal stores
};

struct DeviceProfile {
  std::string cpu;                // brand string
  std::string microarchitecture;  // "zen4", "emerald_rapids", "neoverse_n1", "generic"
  IsaSet isa;
  int cores = 1;                   // that this process may use
  double nominal_ghz = 0;          // 0 = unknown
  bool bf16_dot_pays = false;      // dot products of bf16 beat widening to f32
  ArithmeticPeaks nominal;         // clock x operations a cycle of the microarchitecture
  double nominal_dram_gbps = 0;    // per socket, from the shipped table; 0 = unknown
  std::vector<CacheLevel> caches;  // nearest first, DRAM last

  // The host as it is: shipped defaults of its microarchitecture, sizes from the system. Cheap;
  // nothing is timed.
  static DeviceProfile host(IsaSet isa);
};

// What loops on this machine reached just now, with `threads` threads at once. Rates are totals of
// all threads, the arithmetic too.
struct MeasuredPeaks {
  int threads = 1;
  double ghz = 0;  // the clock of a core meanwhile
  ArithmeticPeaks arithmetic;
  std::vector<StreamRates> streams;  // by level, nearest first
};

// Runs the probes for about `seconds` in all. Only when a user or the profiler asks for it.
// Each probe gets at least 10 ms; touching the DRAM buffer (4 times the last cache, at most 1 GiB
// and 1/8 of the memory) comes on top. No more threads run than profile.cores, and fewer where the
// system refuses them; the result says how many.
MeasuredPeaks measure_peaks(const DeviceProfile& profile, int threads, double seconds);

// `profile.nominal` of one core at the clock that it reached, where that is higher: a boost that
// the nominal clock does not know is no mistake of who is measured.
ArithmeticPeaks nominal_at_clock(const DeviceProfile& profile, const MeasuredPeaks& reached);

// Bytes of the last cache that all cores of this process reach together; 0 without caches.
int64_t last_level_cache_bytes(const DeviceProfile& profile);

// The total rate, in 1e9 bytes a second, at which `peaks.threads` threads stream over a working set
// of `working_set_bytes` in all: the read rate, or with `writes` the better of the two copies, out
// of the nearest level that holds it. Private levels grow with the threads, shared ones do not.
double bandwidth_for(const MeasuredPeaks& peaks, const DeviceProfile& profile,
                     int64_t working_set_bytes, bool writes);

}  // namespace nrd
