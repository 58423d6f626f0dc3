// SPDX-License-Identifier: MIT
// benchmarks/streams.cpp: memory-bound operators against plain loops that move the same bytes.
//
//   bench_streams [THREADS]        1 by default
//
// In turns, in one process, on the same kind of memory: the operator as `cpu` runs it, a plain copy
// of as many bytes in all, one with non-temporal stores, one in place; for operators that write
// next to nothing a loop that reads as many. The roof of an operator is the best of those.
#include <immintrin.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "dispatch/registry.h"

namespace {

using namespace nrd;
using Clock = std::chrono::steady_clock;

constexpr double kSliceSeconds = 0.01;
constexpr int kRounds = 21;
constexpr size_t kHuge = 2 << 20;

// Huge pages, each buffer at another offset: equal ones would fight for the same cache sets.
char* allocate(size_t bytes) {
  static size_t count = 0;
  const size_t offset = (count++ % 16) * 4352, whole = (bytes + offset) / kHuge * kHuge + 2 * kHuge;
  void* place = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) std::abort();
  const size_t aligned = (reinterpret_cast<size_t>(place) + kHuge - 1) / kHuge * kHuge;
  madvise(reinterpret_cast<void*>(aligned), whole - kHuge, MADV_HUGEPAGE);
  auto* begin = reinterpret_cast<char*>(aligned) + offset;
  auto* values = reinterpret_cast<float*>(begin);
  for (size_t i = 0; i < bytes / 4; i++) values[i] = 0.001f * static_cast<float>(i % 1000);
  return begin;
}

// ---- the loops: 32 floats a step, `count` a multiple of that ----

#define NRD_AVX512 __attribute__((target("avx512f"), noinline))

NRD_AVX512 void copy(const float* from, float* to, size_t count) {
  for (size_t i = 0; i < count; i += 32) {
    const __m512 a = _mm512_loadu_ps(from + i), b = _mm512_loadu_ps(from + i + 16);
    _mm512_storeu_ps(to + i, a);
    _mm512_storeu_ps(to + i + 16, b);
  }
}
NRD_AVX512 void copy_nt(const float* from, float* to, size_t count) {
  for (size_t i = 0; i < count; i += 32) {
    const __m512 a = _mm512_loadu_ps(from + i), b = _mm512_loadu_ps(from + i + 16);
    _mm512_stream_ps(to + i, a);
    _mm512_stream_ps(to + i + 16, b);
  }
  _mm_sfence();
}
NRD_AVX512 void in_place(float* data, size_t count) {
  const __m512i flip = _mm512_set1_epi32(1);  // something, so that the store is not left out
  for (size_t i = 0; i < count; i += 32)
    for (size_t k = i; k < i + 32; k += 16)
      _mm512_storeu_si512(data + k, _mm512_xor_si512(flip, _mm512_loadu_si512(data + k)));
}
NRD_AVX512 float read(const float* data, size_t count) {
  __m512 a = _mm512_setzero_ps(), b = a, c = a, d = a;
  for (size_t i = 0; i + 64 <= count; i += 64) {
    a = _mm512_add_ps(a, _mm512_loadu_ps(data + i));
    b = _mm512_add_ps(b, _mm512_loadu_ps(data + i + 16));
    c = _mm512_add_ps(c, _mm512_loadu_ps(data + i + 32));
    d = _mm512_add_ps(d, _mm512_loadu_ps(data + i + 48));
  }
  alignas(64) float lanes[16];
  _mm512_store_ps(lanes, _mm512_add_ps(_mm512_add_ps(a, b), _mm512_add_ps(c, d)));
  return lanes[0];
}

// ---- measuring ----

struct Way {
  const char* name;
  std::function<void()> run;
  std::vector<double> seconds = {};
  int repeats = 1;
};

double time_of(const Way& way, int repeats) {
  const auto start = Clock::now();
  for (int i = 0; i < repeats; i++) way.run();
  return std::chrono::duration<double>(Clock::now() - start).count() / repeats;
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

void measure(std::vector<Way>& ways) {
  for (Way& way : ways) {
    way.run();
    way.repeats = std::max(1, static_cast<int>(kSliceSeconds / std::max(1e-9, time_of(way, 1))));
    way.repeats =
        std::max(1, static_cast<int>(kSliceSeconds / std::max(1e-9, time_of(way, way.repeats))));
  }
  for (int round = 0; round < kRounds; round++)
    for (Way& way : ways) {
      way.run();
      way.seconds.push_back(time_of(way, way.repeats));
    }
}

struct Case {
  const char* op;
  std::vector<std::pair<std::string, int64_t>> sizes;
  const char* dtypes = "f32";
};

void run_case(KernelRegistry& registry, const Case& c, int threads) {
  Expected<const Op*> op = find_op(c.op);
  CaseRequest request = example_request(**op);
  request.sizes.clear();
  for (const auto& [name, size] : c.sizes) request.sizes[name] = size;
  request.dtypes = c.dtypes;
  Expected<Desc> desc = bind_case(**op, request);
  if (!desc) return std::printf("%s\n", desc.error().message().c_str()), void();
  std::vector<void*> pointers;
  size_t bytes = 0, written = 0;
  for (size_t i = 0; i < desc->operands.size(); i++) {
    OperandDesc& o = desc->operands[i];
    o.constant = false;
    int64_t count = o.present ? 1 : 0;
    for (int64_t size : o.sizes) count *= size;
    const size_t own = static_cast<size_t>(count) * byte_size(o.dtype);
    pointers.push_back(o.present ? allocate(own + 64) : nullptr);
    bytes += own;
    if (desc->signature().operands[i].output) written += own;
  }
  auto choice = registry.select("cpu", *desc);
  auto prepared =
      choice->kernel->prepare(*desc, std::vector<void*>(desc->operands.size(), nullptr));
  char* workspace = allocate((*prepared)->workspace_bytes() + 64);
  workspace += (64 - reinterpret_cast<size_t>(workspace) % 64) % 64;
  const Exec exec{threads, nullptr};
  auto* half = reinterpret_cast<float*>(allocate(bytes / 2 + 256));
  auto* other = reinterpret_cast<float*>(allocate(bytes / 2 + 256));
  auto* whole = reinterpret_cast<float*>(allocate(bytes + 256));
  const auto loop = [&](size_t total, auto&& body) {
    const auto steps = static_cast<int64_t>(total / 4 / 64);  // 64 floats each
    parallel_for(exec, steps, 256, [&](int64_t begin, int64_t end) {
      body(static_cast<size_t>(begin) * 64, static_cast<size_t>(end - begin) * 64);
    });
  };
  std::vector<Way> ways = {
      {"cpu", [&] { (void)!(*prepared)->run({pointers.data()}, workspace, exec); }}};
  static volatile float sink;
  (void)sink;
  if (written * 20 < bytes)
    ways.push_back(
        {"read", [&] { loop(bytes, [&](size_t at, size_t n) { sink = read(whole + at, n); }); }});
  else
    ways.insert(
        ways.end(),
        {{"copy",
          [&] { loop(bytes / 2, [&](size_t at, size_t n) { copy(half + at, other + at, n); }); }},
         {"copy, nt",
          [&] {
            auto* to = reinterpret_cast<float*>((reinterpret_cast<size_t>(other) + 63) / 64 * 64);
            loop(bytes / 2, [&](size_t at, size_t n) { copy_nt(half + at, to + at, n); });
          }},
         {"in place",
          [&] { loop(bytes / 2, [&](size_t at, size_t n) { in_place(half + at, n); }); }}});
  measure(ways);
  const double own = static_cast<double>(bytes) / median(ways[0].seconds);
  double roof = 0;
  for (size_t i = 1; i < ways.size(); i++)
    if (std::string_view(ways[i].name) != "in place")
      roof = std::max(roof, static_cast<double>(bytes) / median(ways[i].seconds));
  std::string shape;
  for (const auto& [name, size] : c.sizes) shape += name + "=" + std::to_string(size) + " ";
  std::printf("%-14s %-26s %-9s %8.1f GB/s, %4.0f %% of the roof;", c.op, shape.c_str(), c.dtypes,
              own * 1e-9, 100 * own / roof);
  for (size_t i = 1; i < ways.size(); i++)
    std::printf("  %s %.1f", ways[i].name,
                static_cast<double>(bytes) / median(ways[i].seconds) * 1e-9);
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::max(1, std::atoi(argv[1])) : 1;
  if (!__builtin_cpu_supports("avx512f")) {
    std::fprintf(stderr, "the loops need AVX-512\n");
    return 1;
  }
  KernelRegistry registry(*Machine::host());
  for (int64_t n : {int64_t{2048}, int64_t{65536}, int64_t{1} << 20, int64_t{1} << 24}) {
    for (const char* op : {"vec_add", "vec_mul", "vec_scale", "vec_axpy", "relu", "vec_sum",
                           "vec_dot", "vec_max", "vec_sum_squares"})
      run_case(registry, {op, {{"n", n}}}, threads);
    run_case(registry, {"cast", {{"n", n}}, "f32->bf16"}, threads);
    run_case(registry, {"vec_add", {{"n", n}}, "bf16"}, threads);
    for (const char* op : {"rms_norm", "add_rms_norm", "layer_norm"})
      run_case(registry, {op, {{"rows", n / 2048}, {"cols", 2048}}}, threads);
    run_case(registry, {"rope", {{"tokens", n / 512}, {"heads", 8}, {"head_dim", 64}}}, threads);
  }
  return 0;
}
