// SPDX-License-Identifier: MIT
// benchmarks/gemm_product.cpp: whole products of the GEMM engine against a pure multiply-add loop
// and a pure read loop, all in the same slices.
//
// usage: bench_gemm_product ISA THREADS [square|few|plain|many|epilogue] [SIZE]
// `few` and `plain` have few rows; their weights come from memory: calls walk through more copies
// than the last cache holds.
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compiler/catalogue_traces.h"
#include "gemm/product.h"
#include "machine/probes.h"

namespace {

using namespace nrd;
using Clock = std::chrono::steady_clock;

constexpr int kSlices = 11;
constexpr double kSlice = 0.02;  // seconds, at least one call

double seconds(Clock::time_point from) {
  return std::chrono::duration<double>(Clock::now() - from).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Huge pages where the system gives them.
struct Memory {
  explicit Memory(size_t bytes) : size((bytes + (2 << 20)) / (2 << 20) * (2 << 20)) {
    data = static_cast<char*>(mmap(nullptr, size + (2 << 20), PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    const auto at = reinterpret_cast<uintptr_t>(data);
    data += (2 << 20) - at % (2 << 20);
    madvise(data, size, MADV_HUGEPAGE);
    auto* words = reinterpret_cast<float*>(data);
    for (size_t i = 0; i < size / 4; i++) words[i] = static_cast<float>(i % 251) * 0.01f - 1;
  }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data);
  }
  size_t size;
  char* data;
};

struct Case {
  std::string name;
  double flops, bytes;  // of one call
  std::function<void()> call;
  std::vector<double> times;
};

class Bench {
 public:
  Bench(const jit::Target& target, int threads)
      : target_(target),
        family_(**gemm::find_family(target, Numerics::kPlain)),
        profile_(DeviceProfile::host(detect_isa())),
        exec_{threads, nullptr},
        ring_(256 << 20) {
    add_peaks();
  }

  void add_product(int64_t m, int64_t n, int64_t k, bool is_packed, size_t ring_bytes,
                   const OpTrace* activation = nullptr) {
    gemm::ProductDesc desc;
    desc.m = m, desc.n = n, desc.k = k;
    desc.a_row = k, desc.a_column = 1;
    desc.b_row = 1, desc.b_column = k;
    desc.c_row = n, desc.c_column = 1;
    desc.is_packed = is_packed;
    if (activation) {
      desc.epilogue.add({gemm::OperandShape::kColumns, DType::kF32, true});
      desc.epilogue.apply(*activation);
    }
    auto product = std::make_shared<gemm::Product>(*gemm::Product::make(desc, target_, profile_));
    const gemm::PackedLayout layout = *gemm::make_packed_layout(family_, DType::kF32, k, n);
    auto a = std::make_shared<Memory>(static_cast<size_t>(m * k) * 4);
    auto c = std::make_shared<Memory>(static_cast<size_t>(m * n) * 4);
    const size_t b_bytes = is_packed ? layout.bytes() : static_cast<size_t>(n * k) * 4;
    const size_t copies = std::max<size_t>(ring_bytes / b_bytes, 1);
    auto b = std::make_shared<Memory>(b_bytes * copies);
    auto workspace = std::make_shared<Memory>(product->workspace_bytes());
    auto next = std::make_shared<size_t>(0);
    const std::string name = std::to_string(m) + " x " + std::to_string(n) + " x " +
                             std::to_string(k) + (is_packed ? " packed" : " plain") +
                             (activation ? ", bias and " + activation->name : "");
    cases_.push_back({name,
                      2.0 * static_cast<double>(m) * static_cast<double>(n * k),
                      static_cast<double>(n * k + m * k + m * n) * 4,
                      [=, this] {
                        gemm::ProductArgs args{a->data, b->data + b_bytes * *next, c->data, {}};
                        args.operands[0] = {a->data, 0, 4};
                        *next = (*next + 1) % copies;
                        product->run(args, workspace->data, exec_);
                      },
                      {}});
  }

  void run() {
    for (int slice = 0; slice < kSlices; slice++) {
      for (Case& c : cases_) {
        c.call();
        const auto begin = Clock::now();
        int64_t calls = 0;
        do {
          c.call();
          calls++;
        } while (seconds(begin) < kSlice);
        c.times.push_back(seconds(begin) / static_cast<double>(calls));
      }
    }
    const double peak = cases_[0].flops / median(cases_[0].times);
    const double read = cases_[1].bytes / median(cases_[1].times);
    std::printf("%s, %d threads: %.1f GFLOP/s, %.1f GB/s\n", std::string(target_.isa).c_str(),
                exec_.threads, peak * 1e-9, read * 1e-9);
    for (size_t i = 2; i < cases_.size(); i++) {
      const Case& c = cases_[i];
      const double time = median(c.times);
      const double floor = std::max(c.flops / peak, c.bytes / read);
      std::printf(
          "%-30s %10.1f us %8.1f GFLOP/s %5.1f %% of peak %7.1f GB/s %5.1f %% of roofline\n",
          c.name.c_str(), 1e6 * time, 1e-9 * c.flops / time, 100 * c.flops / peak / time,
          1e-9 * c.bytes / time, 100 * floor / time);
    }
  }

 private:
  void add_peaks() {
    NrdArithmeticProbe* probe = nullptr;
    NrdReadProbe* read = nullptr;
#if defined(__x86_64__)
    probe = target_.isa == "avx512" ? nrd_probe_avx512_f32 : nrd_probe_avx2_f32;
    read = nrd_probe_avx512_read;
    if (!detect_isa().has(Feature::kAvx512)) read = nrd_probe_avx2_read;
#else
    probe = nrd_probe_neon_f32;
    read = nrd_probe_neon_read;
#endif
    const int threads = exec_.threads;
    const double flops = static_cast<double>(probe(1)) * 10000 * threads;
    cases_.push_back(
        {"peak",
         flops,
         0,
         [=, this] { parallel_for(exec_, threads, 1, [&](int64_t, int64_t) { probe(10000); }); },
         {}});
    const int64_t part = (64 << 20) / threads;
    auto next = std::make_shared<int64_t>(0);
    cases_.push_back({"read",
                      0,
                      static_cast<double>(part) * threads,
                      [=, this] {
                        char* at = ring_.data + (*next)++ % 4 * (64 << 20);
                        parallel_for(exec_, threads, 1,
                                     [&](int64_t i, int64_t) { read(at + i * part, part, 1); });
                      },
                      {}});
  }

  const jit::Target& target_;
  const gemm::Family& family_;
  DeviceProfile profile_;
  Exec exec_;
  Memory ring_;
  std::vector<Case> cases_;
};

}  // namespace

int main(int count, char** words) {
  const std::string isa = count > 1 ? words[1] : "avx512", what = count > 3 ? words[3] : "square";
  const int threads = count > 2 ? std::atoi(words[2]) : 1;
  const int64_t size = count > 4 ? std::atoll(words[4]) : 0;
  for (const jit::Target* target : jit::targets(detect_isa())) {
    if (target->isa != isa) continue;
    Bench bench(*target, threads);
    if (what == "square") {
      for (int64_t n : {512, 1024, 2048, 4096}) {
        if (size ? n != size : n == 4096) continue;
        bench.add_product(n, n, n, true, 0);
        bench.add_product(n, n, n, false, 0);
      }
    }
    if (what == "epilogue") {
      for (int64_t k : {1024, 2048, 4096}) {
        bench.add_product(512, 1024, k, true, 0);
        for (const char* name : {"gelu", "gelu_tanh", "silu"}) {
          bench.add_product(512, 1024, k, true, 0, catalogue_trace(name));
        }
      }
    }
    const std::pair<int64_t, int64_t> shapes[] = {
        {4096, 4096}, {11008, 4096}, {5120, 2880}, {2880, 4096}};
    for (const auto& [n, k] : shapes) {
      if (size && n != size) continue;
      if (what == "few") {
        for (int64_t m : {1, 4, 16, 64}) bench.add_product(m, n, k, true, 512 << 20);
      }
      if (what == "plain") {
        for (int64_t m : {1, 4, 16, 64}) bench.add_product(m, n, k, false, 512 << 20);
      }
      if (what == "many") {
        for (int64_t m : {128, 512}) bench.add_product(m, n, k, true, 0);
      }
    }
    bench.run();
  }
  return 0;
}
