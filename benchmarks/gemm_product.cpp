// SPDX-License-Identifier: MIT
// benchmarks/gemm_product.cpp: whole products of the GEMM engine against a pure multiply-add loop
// and a pure read loop, all in the same slices.
//
// usage: bench_gemm_product ISA THREADS [square|few|plain|many|epilogue] [SIZE|0] [f32|bf16|i8]
// `few` and `plain` have few rows; their weights come from memory: calls walk through more copies
// than the last cache holds. ISA: avx2, avx512, amx, neon.
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/catalogue_traces.h"
#include "gemm/product.h"
#include "machine/probes.h"

namespace {

using namespace nrd;
using Clock = std::chrono::steady_clock;

constexpr int kSlices = 15;
constexpr int64_t kProbeRounds = 2000;  // for one thread; more where threads have to meet
constexpr double kSlice = 0.01, kPeakSlice = 0.001;  // seconds, at least one call

double seconds(Clock::time_point from) {
  return std::chrono::duration<double>(Clock::now() - from).count();
}

double quantile(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(part * static_cast<double>(values.size()))];
}

// Huge pages where the system gives them.
struct Memory {
  explicit Memory(size_t bytes) : size((bytes + (2 << 20)) / (2 << 20) * (2 << 20)) {
    data = static_cast<char*>(mmap(nullptr, size + (2 << 20), PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    const auto at = reinterpret_cast<uintptr_t>(data);
    data += (2 << 20) - at % (2 << 20);
    madvise(data, size, MADV_HUGEPAGE);
    fill(DType::kF32);
  }
  void fill(DType dtype) {
    if (dtype == DType::kF32) {
      for (size_t i = 0; i < size / 4; i++) as<float>()[i] = static_cast<float>(i % 251) * 0.01f - 1;
    } else if (dtype == DType::kBF16) {  // 0.03 to 0.12, of either sign
      for (size_t i = 0; i < size / 2; i++) as<uint16_t>()[i] = static_cast<uint16_t>(0x3d00 + i % 251 + (i * 40503 >> 8 & 0x8000));
    } else {
      for (size_t i = 0; i < size; i++) as<uint8_t>()[i] = static_cast<uint8_t>(i % 251);
    }
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
  std::vector<double> times = {}, peaks = {}, parts = {};  // a slice
};

// Of one call, in a slice of at least `slice` seconds.
double time_of(const Case& c, double slice) {
  const auto begin = Clock::now();
  int64_t calls = 0;
  do {
    c.call();
    calls++;
  } while (seconds(begin) < slice);
  return seconds(begin) / static_cast<double>(calls);
}

class Bench {
 public:
  Bench(const jit::Target& target, IsaSet isa, int threads, DType dtype)
      : target_(target),
        dtype_(dtype),
        profile_(DeviceProfile::host(isa)),
        numerics_(gemm::product_numerics(dtype, dtype, profile_)),
        family_(**gemm::find_family(target, isa, numerics_)),
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
    desc.a = desc.b = dtype_;
    desc.numerics = numerics_;
    if (dtype_ == DType::kI8 && !activation) desc.epilogue.out = DType::kI32;
    const auto size = static_cast<int64_t>(byte_size(dtype_));
    if (activation) {
      desc.epilogue.add({gemm::OperandShape::kColumns, DType::kF32, true});
      desc.epilogue.apply(*activation);
    }
    auto product = std::make_shared<gemm::Product>(
        *gemm::Product::make(desc, target_, profile_, blocking(desc)));
    const gemm::PackedLayout layout = *gemm::make_packed_layout(family_, dtype_, k, n);
    auto a = std::make_shared<Memory>(static_cast<size_t>(m * k * size));
    auto c = std::make_shared<Memory>(static_cast<size_t>(m * n) * 4);
    const size_t b_bytes = is_packed ? layout.bytes() : static_cast<size_t>(n * k * size);
    const size_t copies = std::max<size_t>(ring_bytes / b_bytes, 1);
    auto b = std::make_shared<Memory>(b_bytes * copies);
    a->fill(dtype_);
    b->fill(dtype_);
    auto workspace = std::make_shared<Memory>(product->workspace_bytes());
    auto next = std::make_shared<size_t>(0);
    const std::string name = std::to_string(m) + " x " + std::to_string(n) + " x " +
                             std::to_string(k) + (is_packed ? " packed" : " plain") +
                             (activation ? ", bias and " + activation->name : "");
    cases_.push_back({name,
                      2.0 * static_cast<double>(m) * static_cast<double>(n * k),
                      static_cast<double>((n * k + m * k) * size + m * n * 4),
                      [=, this] {
                        gemm::ProductArgs args{a->data, b->data + b_bytes * *next, c->data, {}};
                        args.operands[0] = {a->data, 0, 4};
                        *next = (*next + 1) % copies;
                        product->run(args, workspace->data, exec_);
                      }});
  }

  // Clocks and neighbours change within milliseconds: each slice has the peak in front of it and
  // behind it, and the ratio to both is what counts.
  void run() {
    for (int slice = 0; slice < kSlices; slice++) {
      for (Case& c : cases_) {
        c.call();
        const double before = time_of(cases_[0], kPeakSlice);
        c.times.push_back(time_of(c, kSlice));
        const double after = time_of(cases_[0], kPeakSlice);
        const double peak = 2 * cases_[0].flops / (before + after);
        c.peaks.push_back(peak);
        c.parts.push_back(c.flops / c.times.back() / peak);
      }
    }
    const double peak = quantile(cases_[0].peaks, 0.5);
    const double read = cases_[1].bytes / quantile(cases_[1].times, 0.5);
    std::printf("%s, %s, %d threads: %.1f GFLOP/s [%.1f, %.1f], %.1f GB/s\n",
                std::string(target_.isa).c_str(), std::string(numerics_word(numerics_)).c_str(),
                exec_.threads, peak * 1e-9, 1e-9 * quantile(cases_[0].peaks, 0),
                1e-9 * quantile(cases_[0].peaks, 0.99), read * 1e-9);
    for (size_t i = 2; i < cases_.size(); i++) {
      const Case& c = cases_[i];
      // Tiles run at several speeds on shared machines; the low quantile compares like with like.
      const double part = family_.arithmetic == gemm::Arithmetic::kTile ? 0.2 : 0.5;
      const double time = quantile(c.times, part);
      const double roof = std::max(c.flops / peak, c.bytes / read);
      std::printf(
          "%-30s %10.1f us [best %.1f] %8.1f GFLOP/s %5.1f %% of peak [%.1f, %.1f] %7.1f GB/s %5.1f %% of "
          "roofline\n",
          c.name.c_str(), 1e6 * time, 1e6 * quantile(c.times, 0), 1e-9 * c.flops / time, 100 * quantile(c.parts, 0.5),
          100 * quantile(c.parts, 0.2), 100 * quantile(c.parts, 0.8), 1e-9 * c.bytes / time,
          100 * roof / time);
    }
  }

 private:
  // BLOCK="k a_block b_block a_outer order" in the environment: another blocking, to find a better
  // one; 0 and what is missing: as chosen. Orders: 1 groups, 2 blocks.
  std::optional<gemm::Blocking> blocking(const gemm::ProductDesc& desc) const {
    const char* text = std::getenv("BLOCK");
    if (!text) return {};
    gemm::Blocking b = gemm::choose_blocking({desc.m, desc.n, desc.k, desc.is_packed, true},
                                             family_, profile_);
    long long k = 0, a_block = 0, b_block = 0, a_outer = 0, order = 0;
    std::sscanf(text, "%lld %lld %lld %lld %lld", &k, &a_block, &b_block, &a_outer, &order);
    if (k > 0) b.k = k;
    if (a_block > 0) b.a_block = a_block;
    if (b_block > 0) b.b_block = b_block;
    if (a_outer > 0) b.a_outer = a_outer;
    if (order > 0) b.order = order == 1 ? gemm::LoopOrder::kGroups : gemm::LoopOrder::kBlocks;
    if (order == 2) b.b_outer = 0;  // blocks of B are packed as they come
    return b;
  }

  // In multiples of f32's where the machine has no loop for a family.
  NrdArithmeticProbe* probe(double& factor) const {
    factor = 1;
#if defined(__x86_64__)
    const bool is_wide = target_.isa == "avx512";
    switch (family_.arithmetic) {
      case gemm::Arithmetic::kTile:
        return family_.element == 2 ? nrd_probe_amx_bf16 : nrd_probe_amx_int8;
      case gemm::Arithmetic::kDotU8: return is_wide ? nrd_probe_avx512_int8 : nrd_probe_avx2_int8;
      case gemm::Arithmetic::kDotBF16: factor = 2; break;
      default: break;
    }
    return is_wide ? nrd_probe_avx512_f32 : nrd_probe_avx2_f32;
#else
    return nrd_probe_neon_f32;
#endif
  }

  void add_peaks() {
    NrdReadProbe* read = nullptr;
#if defined(__x86_64__)
    read = nrd_probe_avx512_read;
    if (!detect_isa().has(Feature::kAvx512)) read = nrd_probe_avx2_read;
#else
    read = nrd_probe_neon_read;
#endif
    double factor = 1;
    NrdArithmeticProbe* probe = this->probe(factor);
    const int threads = exec_.threads;
    const int64_t rounds = threads == 1 ? kProbeRounds : 50 * kProbeRounds;
    const double flops = factor * static_cast<double>(probe(1)) * static_cast<double>(rounds * threads);
    cases_.push_back(
        {"peak",
         flops,
         0,
         [=, this] { parallel_for(exec_, threads, 1, [&](int64_t, int64_t) { probe(rounds); }); },
        });
    const int64_t part = (64 << 20) / threads;
    auto next = std::make_shared<int64_t>(0);
    cases_.push_back({"read",
                      0,
                      static_cast<double>(part) * threads,
                      [=, this] {
                        char* at = ring_.data + (*next)++ % 4 * (64 << 20);
                        parallel_for(exec_, threads, 1,
                                     [&](int64_t i, int64_t) { read(at + i * part, part, 1); });
                      }});
  }

  const jit::Target& target_;
  DType dtype_;
  DeviceProfile profile_;
  Numerics numerics_;
  const gemm::Family& family_;
  Exec exec_;
  Memory ring_;
  std::vector<Case> cases_;
};

}  // namespace

int main(int count, char** words) {
  const std::string isa = count > 1 ? words[1] : "avx512", what = count > 3 ? words[3] : "square";
  const int threads = count > 2 ? std::atoi(words[2]) : 1;
  const int64_t size = count > 4 ? std::atoll(words[4]) : 0;
  const std::string word = count > 5 ? words[5] : "f32";
  const DType dtype = word == "i8" ? DType::kI8 : word == "bf16" ? DType::kBF16 : DType::kF32;
  const IsaSet features = *cap_isa(detect_isa(), isa);
  for (const jit::Target* target : jit::targets(features)) {
    if (target != jit::targets(features).front()) continue;
    Bench bench(*target, features, threads, dtype);
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
        {4096, 4096}, {11008, 4096}, {5120, 2880}, {2880, 4096}, {201088, 2880}};
    for (const auto& [n, k] : shapes) {
      if (size ? n != size : n == 201088) continue;
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
