// SPDX-License-Identifier: MIT
// src/machine/peaks.cpp: measure_peaks: which probes this ISA set allows, over how much memory.
//
// Cached levels: a thread walks its own footprint over and over. DRAM: a thread walks forward
// through its part of a ring of chunks, whichever of read, copy or non-temporal copy runs, so that
// every byte was last touched a whole lap ago, which is 4 times the last cache.
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "machine/peaks_team.h"
#include "machine/probes.h"
#include "machine/profile.h"
#include "machine/system_files.h"

namespace nrd {
namespace {

constexpr double kLeastSlice = 0.010;  // seconds; ten windows or so
constexpr int kMostRounds = 10;        // turns a probe gets, as far as time allows
constexpr int64_t kRoundsAUnit = 64;   // of an arithmetic loop: about a microsecond
constexpr int64_t kChunk = 1 << 20;    // of the DRAM ring: start-up of a stream is noise
constexpr int64_t kMostDram = 1ll << 30;
constexpr int64_t kLeastChunks = 4;  // a thread's; a copy takes two
constexpr int64_t kHugePage = 2 << 20;

struct Kernels {
  NrdArithmeticProbe* clock = nullptr;
  NrdArithmeticProbe* f32 = nullptr;
  NrdArithmeticProbe* bf16 = nullptr;
  NrdArithmeticProbe* int8 = nullptr;
  NrdArithmeticProbe* amx_bf16 = nullptr;
  NrdArithmeticProbe* amx_int8 = nullptr;
  NrdReadProbe* read = nullptr;
  NrdCopyProbe* copy = nullptr;
  NrdCopyProbe* copy_nt = nullptr;
};

// The widest loops of a set. It must have been cut to what the host has.
Kernels kernels_for(IsaSet isa) {
  Kernels k;
#if defined(__x86_64__)
  k.clock = nrd_probe_sse2_clock;
  k.f32 = nrd_probe_sse2_f32;
  k.read = nrd_probe_sse2_read;
  k.copy = nrd_probe_sse2_copy;
  k.copy_nt = nrd_probe_sse2_copy_nt;
  if (isa.has(Feature::kAvx2)) {
    k.read = nrd_probe_avx2_read;
    k.copy = nrd_probe_avx2_copy;
    k.copy_nt = nrd_probe_avx2_copy_nt;
  }
  if (isa.has(Feature::kFma)) k.f32 = nrd_probe_avx2_f32;
  if (isa.has(Feature::kAvxVnni)) k.int8 = nrd_probe_avx2_int8;
  if (isa.has(Feature::kAvx512)) {
    k.f32 = nrd_probe_avx512_f32;
    k.read = nrd_probe_avx512_read;
    k.copy = nrd_probe_avx512_copy;
    k.copy_nt = nrd_probe_avx512_copy_nt;
  }
  if (isa.has(Feature::kAvx512Bf16)) k.bf16 = nrd_probe_avx512_bf16;
  if (isa.has(Feature::kAvx512Vnni)) k.int8 = nrd_probe_avx512_int8;
  if (isa.has(Feature::kAmxTile) && isa.has(Feature::kAmxBf16)) k.amx_bf16 = nrd_probe_amx_bf16;
  if (isa.has(Feature::kAmxTile) && isa.has(Feature::kAmxInt8)) k.amx_int8 = nrd_probe_amx_int8;
#else
  k.clock = nrd_probe_neon_clock;
  k.f32 = nrd_probe_neon_f32;
  k.read = nrd_probe_neon_read;
  k.copy = nrd_probe_neon_copy;
  k.copy_nt = nrd_probe_neon_copy_nt;
  if (isa.has(Feature::kBf16)) k.bf16 = nrd_probe_neon_bf16;
  if (isa.has(Feature::kDotprod)) k.int8 = nrd_probe_neon_int8;
#endif
  return k;
}

// Anonymous memory on huge pages where the system has them, as the workbench's buffers are.
class Pages {
 public:
  // Takes half as much, and half again, where the system refuses; `bytes()` says how much came.
  Pages(int64_t bytes, int64_t least) {
    for (; bytes >= least; bytes /= 2) {
      const int64_t size = (bytes + kHugePage - 1) / kHugePage * kHugePage;
      void* p = mmap(nullptr, static_cast<size_t>(size), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (p == MAP_FAILED) continue;
      madvise(p, static_cast<size_t>(size), MADV_HUGEPAGE);
      data_ = static_cast<char*>(p);
      bytes_ = size;
      return;
    }
  }
  ~Pages() {
    if (data_) munmap(data_, static_cast<size_t>(bytes_));
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  char* data() const { return data_; }
  int64_t bytes() const { return bytes_; }

 private:
  char* data_ = nullptr;
  int64_t bytes_ = 0;
};

int64_t round_down(int64_t value, int64_t step) { return value / step * step; }

// What one thread streams over to stay in a level. Private levels: half, so that stacks and page
// tables fit beside. A level behind another: also at least 5/4 of that one, or it would answer;
// and at most 8 times it, because a virtual machine's part of a big shared cache is unknown. All
// threads together: at most 1/16 of the memory.
int64_t footprint(const DeviceProfile& profile, size_t level, int threads) {
  const CacheLevel& cache = profile.caches[level];
  const int sharing = std::min(threads, std::max(cache.sharers, 1));
  int64_t bytes = cache.bytes / 2 / sharing;
  if (level > 0) {
    const int64_t nearer = profile.caches[level - 1].bytes;
    bytes = std::max(std::min(bytes, 8 * nearer), nearer * 5 / 4);
  }
  bytes = std::min(bytes, memory_bytes() / 16 / threads);
  return std::max(round_down(bytes, 2 * kProbeBlock), 2 * kProbeBlock);
}

// A thread's memory: a footprint for the caches and its part of the ring for DRAM.
struct Lane {
  char* cache = nullptr;
  char* ring = nullptr;
  int64_t chunks = 0;
  int64_t next = 0;

  char* next_chunk() { return ring + kChunk * (next++ % chunks); }
};

struct alignas(64) PaddedLane : Lane {};

class Bench {
 public:
  Bench(const DeviceProfile& profile, int threads)
      : profile_(profile),
        kernels_(kernels_for(profile.isa & detect_isa())),
        threads_(threads),
        cache_bytes_(largest_footprint()),
        cache_pages_(threads * cache_bytes_, threads * cache_bytes_),
        ring_pages_(ring_bytes(), threads * kLeastChunks * kChunk),
        lanes_(threads) {
    result_.streams.reserve(profile.caches.size());
  }

  MeasuredPeaks run(double seconds) {
    add_arithmetic();
    if (cache_pages_.data()) add_cache_streams();
    if (ring_pages_.data()) add_dram_streams();
    const double slices = seconds / (kLeastSlice * static_cast<double>(probes_.size()));
    TeamPlan plan;
    plan.threads = threads_;
    plan.rounds = static_cast<int>(std::clamp(slices, 1.0, double{kMostRounds}));
    plan.slice_seconds = kLeastSlice * std::max(slices / plan.rounds, 1.0);
    result_.threads = run_probes(
        plan, [this](int thread, int) { give_memory(thread); }, probes_);
    result_.ghz /= std::max(1, result_.threads);
    return std::move(result_);
  }

 private:
  int64_t largest_footprint() const {
    int64_t bytes = 2 * kProbeBlock;
    for (size_t i = 0; i < profile_.caches.size(); ++i) {
      if (profile_.caches[i].bytes > 0) bytes = std::max(bytes, footprint(profile_, i, threads_));
    }
    return (bytes + 4095) / 4096 * 4096;
  }

  int64_t ring_bytes() const {
    const int64_t wanted = std::min(4 * last_level_cache_bytes(profile_), kMostDram);
    const int64_t bound = memory_bytes() / 8 - threads_ * cache_bytes_;
    return std::max(std::min(wanted, bound), threads_ * kLeastChunks * kChunk);
  }

  void add(double* best, std::function<int64_t(int, int64_t)> run) {
    probes_.push_back({std::move(run), best});
  }

  void add_arithmetic() {
    auto loop = [this](NrdArithmeticProbe* probe, double* best) {
      if (probe) add(best, [probe](int, int64_t units) { return probe(units * kRoundsAUnit); });
    };
    loop(kernels_.clock, &result_.ghz);
    loop(kernels_.f32, &result_.arithmetic.f32_fma);
    loop(kernels_.bf16, &result_.arithmetic.bf16_dot);
    loop(kernels_.int8, &result_.arithmetic.int8_dot);
    loop(kernels_.amx_bf16, &result_.arithmetic.amx_bf16);
    loop(kernels_.amx_int8, &result_.arithmetic.amx_int8);
  }

  void add_cache_streams() {
    for (size_t i = 0; i < profile_.caches.size(); ++i) {
      if (profile_.caches[i].bytes <= 0) continue;
      StreamRates& rates = result_.streams.emplace_back();
      rates.level = profile_.caches[i].name;
      const int64_t bytes = footprint(profile_, i, threads_);
      add(&rates.read, [this, bytes](int thread, int64_t units) {
        kernels_.read(lanes_[thread].cache, bytes, units);
        return bytes * units;
      });
      add_cache_copy(&rates.copy, kernels_.copy, bytes);
      add_cache_copy(&rates.copy_nt, kernels_.copy_nt, bytes);
    }
  }

  // From the first half of the footprint to the second.
  void add_cache_copy(double* best, NrdCopyProbe* copy, int64_t bytes) {
    add(best, [this, copy, bytes](int thread, int64_t units) {
      char* from = lanes_[thread].cache;
      copy(from + bytes / 2, from, bytes / 2, units);
      return bytes * units;
    });
  }

  void add_dram_streams() {
    StreamRates& rates = result_.streams.emplace_back();
    rates.level = "DRAM";
    add(&rates.read, [this](int thread, int64_t units) {
      for (int64_t i = 0; i < units; ++i) {
        kernels_.read(lanes_[thread].next_chunk(), kChunk, 1);
      }
      return kChunk * units;
    });
    add_dram_copy(&rates.copy, kernels_.copy);
    add_dram_copy(&rates.copy_nt, kernels_.copy_nt);
  }

  void add_dram_copy(double* best, NrdCopyProbe* copy) {
    add(best, [this, copy](int thread, int64_t units) {
      for (int64_t i = 0; i < units; ++i) {
        const char* from = lanes_[thread].next_chunk();
        copy(lanes_[thread].next_chunk(), from, kChunk, 1);
      }
      return 2 * kChunk * units;
    });
  }

  // Each thread writes its own memory first, which puts it on the thread's own memory node.
  void give_memory(int thread) {
    Lane& lane = lanes_[thread];
    if (cache_pages_.data()) {
      lane.cache = cache_pages_.data() + thread * cache_bytes_;
      std::memset(lane.cache, 1, static_cast<size_t>(cache_bytes_));
    }
    if (ring_pages_.data()) {
      lane.chunks = ring_pages_.bytes() / kChunk / threads_;
      lane.ring = ring_pages_.data() + thread * lane.chunks * kChunk;
      std::memset(lane.ring, 1, static_cast<size_t>(lane.chunks * kChunk));
    }
  }

  const DeviceProfile& profile_;
  const Kernels kernels_;
  const int threads_;
  const int64_t cache_bytes_;  // of one thread
  Pages cache_pages_, ring_pages_;
  std::vector<PaddedLane> lanes_;
  std::vector<Probe> probes_;
  MeasuredPeaks result_;
};

}  // namespace

MeasuredPeaks measure_peaks(const DeviceProfile& profile, int threads, double seconds) {
  return Bench(profile, std::clamp(threads, 1, std::max(profile.cores, 1)))
      .run(std::max(seconds, 0.0));
}

}  // namespace nrd
