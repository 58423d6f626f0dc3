// SPDX-License-Identifier: MIT
// benchmarks/cuda_fp8_gemm/problem.cpp
#include "problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/convert.h"
#include "device.h"

namespace nrd::bench {
namespace {

int64_t blocks(int64_t size) { return (size + 127) / 128; }

Expected<void> allocate(cuda::DeviceMemory& memory, int64_t bytes) {
  Expected<cuda::DeviceMemory> got = cuda::DeviceMemory::allocate(static_cast<size_t>(bytes), 0);
  if (!got) return got.error();
  memory = std::move(*got);
  return {};
}

// All combinations of the rows and columns around tile edges, and random places.
std::vector<Sample> choose_samples(const Mode& mode) {
  constexpr int kCount = 4096;
  std::mt19937_64 random(7);
  auto edges = [](int64_t size) {
    std::vector<int64_t> at;
    for (int64_t x :
         {int64_t{0}, int64_t{63}, int64_t{64}, int64_t{127}, int64_t{128}, int64_t{175},
          int64_t{176}, int64_t{255}, int64_t{256}, size / 2, size - 2, size - 1})
      if (x >= 0 && x < size) at.push_back(x);
    return at;
  };
  std::vector<Sample> samples;
  for (int64_t row : edges(mode.m))
    for (int64_t col : edges(mode.n))
      samples.push_back({static_cast<int32_t>(row), static_cast<int32_t>(col), 0, 0});
  while (samples.size() < kCount)
    samples.push_back({static_cast<int32_t>(random() % static_cast<uint64_t>(mode.m)),
                       static_cast<int32_t>(random() % static_cast<uint64_t>(mode.n)), 0, 0});
  return samples;
}

}  // namespace

std::string Mode::text() const {
  return fmt::format("{}x{}x{} {} {}", m, n, k, fast ? "fast" : "precise",
                     block ? "block" : (one_scale ? "tensor" : "row_column"));
}

Expected<Problem> Problem::make(const Mode& mode, int64_t cold_bytes, int multiprocessors,
                                cuda::Stream stream) {
  Problem p;
  p.mode_ = mode;
  p.row_ = (mode.k + 15) / 16 * 16;
  p.multiprocessors_ = multiprocessors;
  NRD_TRY(allocate(p.a_, mode.m * p.row_));
  NRD_TRY(allocate(p.c_, mode.m * mode.n * 2));
  const int64_t a_scales = mode.m * (mode.block ? blocks(mode.k) : 1);
  const int64_t b_scales = mode.block ? blocks(mode.n) * blocks(mode.k) : mode.n;
  NRD_TRY(allocate(p.a_scale_, a_scales * 4));
  NRD_TRY(allocate(p.b_scale_, b_scales * 4));
  fill_codes(p.a_.data(), mode.m * p.row_, 1, stream);
  fill_scales(static_cast<float*>(p.a_scale_.data()), a_scales, 2, stream);
  fill_scales(static_cast<float*>(p.b_scale_.data()), b_scales, 3, stream);
  const int64_t copies =
      std::max<int64_t>(1, (cold_bytes + p.weight_bytes() - 1) / p.weight_bytes());
  for (int64_t i = 0; i < copies; i++) {
    NRD_TRY(allocate(p.b_.emplace_back(), p.weight_bytes()));
    fill_codes(p.b_.back().data(), p.weight_bytes(), static_cast<uint64_t>(100 + i), stream);
  }
  NRD_TRY(cuda::wait_for(stream));
  return p;
}

cuda::Fp8GemmArgs Problem::args(int i) const {
  cuda::Fp8GemmArgs args{.m = mode_.m, .n = mode_.n, .k = mode_.k};
  args.a = a_.data();
  args.b = b_[static_cast<size_t>(i) % b_.size()].data();
  args.a_row = args.b_row = row_;
  args.b_constant = true;
  args.c = c_.data();
  args.c_row = mode_.n;
  args.a_scale = static_cast<const float*>(a_scale_.data());
  args.b_scale = static_cast<const float*>(b_scale_.data());
  args.fast = mode_.fast;
  args.multiprocessors = multiprocessors_;
  if (mode_.block) {
    args.scales = cuda::Fp8Scales::kBlock;
    args.a_scale_row = blocks(mode_.k), args.a_scale_k = 1;
    args.b_scale_column = 1, args.b_scale_k = blocks(mode_.n);
  } else {
    args.one_scale = mode_.one_scale;
    args.a_scale_row = args.b_scale_column = mode_.one_scale ? 0 : 1;
  }
  return args;
}

Expected<void> Problem::poison(cuda::Stream stream) const {
  return cuda::fill_bytes(c_.data(), 0xff, c_.bytes(), stream);
}

Expected<double> Problem::worst_error(cuda::Stream stream) const {
  std::vector<Sample> samples = choose_samples(mode_);
  const size_t bytes = samples.size() * sizeof(Sample);
  cuda::DeviceMemory on_device;
  NRD_TRY(allocate(on_device, static_cast<int64_t>(bytes)));
  NRD_TRY(cuda::copy_to_device(on_device.data(), samples.data(), bytes, stream));
  reference(args(0), static_cast<Sample*>(on_device.data()), static_cast<int>(samples.size()),
            stream);
  NRD_TRY(cuda::copy_to_host(samples.data(), on_device.data(), bytes, stream));
  double worst = 0;
  for (const Sample& s : samples) {
    const double got = decode(s.got, DType::kBF16);
    // Half a unit of bf16 is the store's own.
    const double error = std::fabs(got - s.value) - std::fabs(s.value) / 256;
    worst = std::isfinite(got) ? std::max(worst, error / s.magnitude) : HUGE_VAL;
  }
  return worst;
}

}  // namespace nrd::bench
