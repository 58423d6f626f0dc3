// SPDX-License-Identifier: MIT
// benchmarks/gemv.cpp: matrix-vector products of the engine beside a pure read loop, slice by
// slice.
//
// usage: bench_gemv ISA THREADS [M N]
// The matrix comes from memory: calls walk through more copies than the last cache holds. The
// figure is the median over slices of the read loop's time for as many bytes, divided by ours.
#include "gemm/gemv.h"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "machine/probes.h"
#include "machine/profile.h"

namespace {

using namespace nrd;
using Clock = std::chrono::steady_clock;

constexpr int kSlices = 31;
constexpr double kSlice = 0.01;  // seconds, at least one call
constexpr size_t kHuge = size_t{2} << 20, kAll = size_t{512} << 20;

// Huge pages where the system gives them.
char* allocate(size_t bytes) {
  const size_t whole = (bytes / kHuge + 2) * kHuge;
  void* place = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) std::abort();
  auto* data =
      reinterpret_cast<char*>((reinterpret_cast<size_t>(place) + kHuge - 1) / kHuge * kHuge);
  madvise(data, whole - kHuge, MADV_HUGEPAGE);
  auto* words = reinterpret_cast<float*>(data);
  for (size_t i = 0; i < bytes / 4; i++) words[i] = 0.001f * static_cast<float>(i % 1000);
  return data;
}

double time_of(const std::function<void()>& call) {
  call();
  const auto begin = Clock::now();
  double seconds = 0;
  int calls = 0;
  do {
    call();
    calls++;
    seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  } while (seconds < kSlice);
  return seconds / calls;
}

double quantile(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(part * static_cast<double>(values.size() - 1))];
}

NrdReadProbe* read_loop() {
#if defined(__x86_64__)
  return detect_isa().has(Feature::kAvx512) ? nrd_probe_avx512_read : nrd_probe_avx2_read;
#else
  return nrd_probe_neon_read;
#endif
}

void measure(const jit::Target& target, const Exec& exec, char* memory, int64_t m, int64_t n,
             DType dtype, bool is_by_columns) {
  gemm::GemvDesc desc = {m, n, dtype, DType::kF32, DType::kF32, n, 1, 1, 1};
  if (is_by_columns) desc.a_row = 1, desc.a_column = m;
  const gemm::Gemv gemv = *gemm::Gemv::make(desc, target, exec.threads);
  const auto bytes = static_cast<size_t>(m * n) * byte_size(dtype);
  const size_t copies = std::max<size_t>(kAll / bytes, 1);
  char *x = allocate(static_cast<size_t>(n) * 4), *y = allocate(static_cast<size_t>(m) * 4);
  char* workspace = allocate(gemv.workspace_bytes());
  size_t next = 0;
  const auto place = [&] { return memory + next++ % copies * bytes; };
  const int64_t part = static_cast<int64_t>(bytes) / exec.threads / kProbeBlock * kProbeBlock;
  std::vector<double> ratios, speeds;
  for (int slice = 0; slice < kSlices; slice++) {
    const double read = time_of([&] {
      const char* at = place();
      parallel_for(exec, exec.threads, 1,
                   [&](int64_t i, int64_t) { read_loop()(at + i * part, part, 1); });
    });
    const double own = time_of([&] { gemv.run(place(), x, y, workspace, exec); });
    ratios.push_back(read / own);
    speeds.push_back(static_cast<double>(bytes) / own);
  }
  std::printf("%lld x %lld %-4s %-10s %6.1f GB/s, %5.1f %% of the read loop [%.1f, %.1f]\n",
              static_cast<long long>(m), static_cast<long long>(n),
              std::string(word(dtype)).c_str(), is_by_columns ? "by columns" : "by rows",
              1e-9 * quantile(speeds, 0.5), 100 * quantile(ratios, 0.5),
              100 * quantile(ratios, 0.1), 100 * quantile(ratios, 0.9));
}

}  // namespace

int main(int count, char** words) {
  const std::string isa = count > 1 ? words[1] : "avx512";
  const Exec exec = {count > 2 ? std::max(1, std::atoi(words[2])) : 1, nullptr};
  std::vector<std::pair<int64_t, int64_t>> shapes = {{4096, 4096}, {11008, 4096}};
  if (count > 4) shapes = {{std::atoll(words[3]), std::atoll(words[4])}};
  char* memory = allocate(kAll);
  for (const jit::Target* target : jit::targets(detect_isa())) {
    if (target->isa != isa) continue;
    std::printf("%s, %d threads\n", isa.c_str(), exec.threads);
    for (const auto& [m, n] : shapes) {
      for (DType dtype : {DType::kF32, DType::kBF16}) {
        for (bool is_by_columns : {false, true}) {
          measure(*target, exec, memory, m, n, dtype, is_by_columns);
        }
      }
    }
  }
  return 0;
}
