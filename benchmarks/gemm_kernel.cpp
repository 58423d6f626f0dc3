// SPDX-License-Identifier: MIT
// benchmarks/gemm_kernel.cpp: the parts of the GEMM engine alone, against a pure multiply-add loop.
//
// usage: bench_gemm_kernel [avx512|avx2|neon]
// Cases and the loop take turns in slices; the table shows medians. `generation` is the time to
// write, encode and map one kernel.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "compiler/catalogue_traces.h"
#include "gemm/code_cache.h"
#include "machine/probes.h"

namespace {

using namespace nrd;
using Clock = std::chrono::steady_clock;

constexpr int kSlices = 15;
constexpr double kSlice = 0.02;  // seconds

double seconds(Clock::time_point from) {
  return std::chrono::duration<double>(Clock::now() - from).count();
}

struct Case {
  std::string name;
  double work;  // of one call
  std::string unit;
  std::function<void()> call;
  std::vector<double> rates;
};

void run_slice(Case& c) {
  c.call();
  const auto begin = Clock::now();
  int64_t calls = 0;
  do {
    c.call();
    calls++;
  } while (seconds(begin) < kSlice);
  c.rates.push_back(c.work * static_cast<double>(calls) / seconds(begin) * 1e-9);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::vector<float> numbers(size_t count) {
  std::vector<float> v(count + 64);
  for (size_t i = 0; i < count; i++) v[i] = static_cast<float>(i % 17) * 0.1f - 0.7f;
  return v;
}

class Bench {
 public:
  explicit Bench(const jit::Target& target)
      : target_(target), family_(**gemm::find_family(target, detect_isa(), Numerics::kPlain)) {}

  void run() {
    add_peak();
    for (int rows : {family_.rows, family_.rows - 1, family_.rows / 2, 4, 2, 1})
      add_tile(rows, 256);
    for (int k : {256, 512, 1024}) add_block(k);
    for (int rows : {1, 4, family_.rows}) add_stream(rows);
    add_pack(gemm::PackSource::kAlongK, family_.columns(), DType::kF32);
    add_pack(gemm::PackSource::kAcross, family_.columns(), DType::kF32);
    add_pack(gemm::PackSource::kAlongK, family_.rows, DType::kF32);
    add_pack(gemm::PackSource::kAlongK, family_.columns(), DType::kBF16);
    for (int slice = 0; slice < kSlices; slice++) {
      for (Case& c : cases_) run_slice(c);
    }
    const double peak = median(cases_[0].rates);
    std::printf("%-44s %10s\n", std::string(target_.isa).c_str(), "median");
    for (const Case& c : cases_) {
      const double rate = median(c.rates);
      std::printf("%-44s %10.1f %s", c.name.c_str(), rate, c.unit.c_str());
      if (c.unit == "GFLOP/s") std::printf("  %5.1f %%", 100 * rate / peak);
      std::printf("\n");
    }
    time_generation();
  }

 private:
  void add(std::string name, double work, std::string unit, std::function<void()> call) {
    cases_.push_back({std::move(name), work, std::move(unit), std::move(call), {}});
  }

  void add_peak() {
    NrdArithmeticProbe* probe = nullptr;
#if defined(__x86_64__)
    probe = target_.isa == "avx512" ? nrd_probe_avx512_f32 : nrd_probe_avx2_f32;
#else
    probe = nrd_probe_neon_f32;
#endif
    add("multiply-adds in registers", static_cast<double>(probe(1)) * 1000, "GFLOP/s",
        [probe] { probe(1000); });
  }

  gemm::MicroKernelSpec spec(int rows) const {
    return {.target = &target_,
            .family = &family_,
            .rows = rows,
            .panel_rows = rows,
            .vectors = family_.vectors};
  }

  // The same two panels over and over.
  void add_tile(int rows, int k) {
    const jit::Code::Entry kernel = *gemm::micro_kernel(spec(rows));
    auto a = std::make_shared<std::vector<float>>(numbers(static_cast<size_t>(k * rows)));
    auto b =
        std::make_shared<std::vector<float>>(numbers(static_cast<size_t>(k * family_.columns())));
    auto c = std::make_shared<std::vector<float>>(static_cast<size_t>(rows * family_.columns()));
    add("tile of " + std::to_string(rows) + " rows, k " + std::to_string(k) + ", in L1",
        2.0 * k * rows * family_.columns(), "GFLOP/s", [=, this] {
          gemm::MicroKernelArgs args;
          args.a = a->data();
          args.b = args.prefetch = b->data();
          args.steps = k;
          args.c = c->data();
          args.announced_c = args.c;
          args.c_row = int64_t{4} * family_.columns();
          kernel(&args);
        });
  }

  // A block of A in L2 against 8 panels of B, one after the other.
  void add_block(int k) {
    const jit::Code::Entry kernel = *gemm::micro_kernel(spec(family_.rows));
    const int panels_a = (384 << 10) / (4 * k * family_.rows), panels_b = 8;
    const size_t a_size = static_cast<size_t>(k * family_.rows);
    const size_t b_size = static_cast<size_t>(k * family_.columns());
    auto a = std::make_shared<std::vector<float>>(numbers(a_size * panels_a));
    auto b = std::make_shared<std::vector<float>>(numbers(b_size * panels_b));
    const int64_t columns = int64_t{panels_b} * family_.columns();
    auto c = std::make_shared<std::vector<float>>(
        static_cast<size_t>(columns * family_.rows * panels_a));
    add("384 KB of A x " + std::to_string(panels_b) + " panels of B, k " + std::to_string(k),
        2.0 * k * family_.rows * panels_a * static_cast<double>(columns), "GFLOP/s", [=, this] {
          gemm::MicroKernelArgs args;
          args.steps = k;
          args.c_row = 4 * columns;
          for (int j = 0; j < panels_b; j++) {
            for (int i = 0; i < panels_a; i++) {
              args.a = a->data() + a_size * static_cast<size_t>(i);
              args.b = b->data() + b_size * static_cast<size_t>(j);
              args.prefetch = args.b;
              args.c = c->data() + i * family_.rows * columns + j * family_.columns();
              args.announced_c = args.c;
              kernel(&args);
            }
          }
        });
  }

  // Panels of B from memory, each used once.
  void add_stream(int rows) {
    const jit::Code::Entry kernel = *gemm::micro_kernel(spec(rows));
    constexpr int kSteps = 4096, kPanels = 256;
    const size_t b_size = static_cast<size_t>(kSteps) * static_cast<size_t>(family_.columns());
    if (!stream_) stream_ = std::make_shared<std::vector<float>>(numbers(b_size * kPanels));
    auto a = std::make_shared<std::vector<float>>(numbers(static_cast<size_t>(kSteps * rows)));
    auto c = std::make_shared<std::vector<float>>(static_cast<size_t>(rows * family_.columns()));
    auto next = std::make_shared<size_t>(0);
    add("B from memory, " + std::to_string(rows) + " rows", 4.0 * static_cast<double>(b_size),
        "GB/s", [=, this] {
          gemm::MicroKernelArgs args;
          args.a = a->data();
          args.b = stream_->data() + b_size * (*next)++;
          *next %= kPanels;
          args.prefetch = static_cast<const char*>(args.b) + 2048;
          args.steps = kSteps;
          args.c = c->data();
          args.announced_c = args.c;
          args.c_row = int64_t{4} * family_.columns();
          kernel(&args);
        });
  }

  void add_pack(gemm::PackSource source, int width, DType dtype) {
    const jit::Code::Entry kernel = *gemm::pack_kernel({&target_, dtype, source, width, width});
    constexpr int kSteps = 256, kLine = 1024;
    const auto size = static_cast<int64_t>(byte_size(dtype));
    auto from = std::make_shared<std::vector<float>>(numbers(static_cast<size_t>(kLine) * kSteps));
    auto to = std::make_shared<std::vector<float>>(static_cast<size_t>(kSteps * width + 64));
    const bool along = source == gemm::PackSource::kAlongK;
    add("pack " + std::string(word(dtype)) + " " + std::to_string(width) +
            (along ? " wide, along k" : " wide, across"),
        static_cast<double>(size) * kSteps * width, "GB/s", [=] {
          gemm::PackArgs args;
          args.from = from->data();
          args.along_k = along ? size : size * kLine;
          args.across = along ? size * kLine : size;
          args.to = to->data();
          args.steps = kSteps;
          kernel(&args);
        });
  }

  void time_generation() {
    gemm::MicroKernelSpec plain = spec(family_.rows), gelu = plain;
    gelu.epilogue.add({gemm::OperandShape::kColumns, DType::kF32, true});
    gelu.epilogue.apply(*catalogue_trace("gelu"));
    time_generation("plain", plain);
    time_generation("bias and gelu", gelu);
  }

  void time_generation(const char* name, const gemm::MicroKernelSpec& spec) {
    std::vector<double> write, encode, map;
    for (int i = 0; i < 200; i++) {
      const auto begin = Clock::now();
      Expected<jit::Program> program = gemm::write_micro_kernel(spec);
      write.push_back(seconds(begin));
      Expected<std::vector<uint8_t>> bytes = jit::encode(*program, target_);
      encode.push_back(seconds(begin));
      auto code = jit::make_code("gemm", *bytes);
      map.push_back(seconds(begin));
    }
    std::printf("generation, %s: written %.1f us, encoded %.1f us, mapped %.1f us\n", name,
                1e6 * median(write), 1e6 * median(encode), 1e6 * median(map));
  }

  const jit::Target& target_;
  const gemm::Family& family_;
  std::vector<Case> cases_;
  std::shared_ptr<std::vector<float>> stream_;
};

}  // namespace

int main(int count, char** words) {
  for (const jit::Target* target : jit::targets(detect_isa())) {
    if (count > 1 && target->isa != words[1]) continue;
    Bench(*target).run();
  }
  return 0;
}
