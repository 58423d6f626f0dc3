// SPDX-License-Identifier: MIT
// benchmarks/cuda_fp8_gemm/main.cpp: every configuration of the wgmma products beside cuBLASLt.
//
//   bench_cuda_fp8_gemm [shapes=4096x4096x4096,1x11264x4096] [modes=fast-tensor,precise-row,block]
//                       [configs=all|plain|chosen] [top=5] [rounds=10] [slice_ms=10] [regime=row|gaps]
//
// For each shape and mode: all configurations that can run it, briefly; each one's result against
// sums in double at sampled places; then the fastest of them, variants of the very best, the chosen
// one and cuBLASLt in turn, and for few rows a kernel that only reads the operands. Weights rotate
// over enough copies to find the L2 cold.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>

#include "cuda/launch/streams.h"
#include "cuda/launch/tables.h"
#include "device.h"
#include "options.h"
#include "peer.h"
#include "problem.h"
#include "race.h"

namespace nrd::bench {
namespace {

using cuda::Fp8GemmConfig;

constexpr int64_t kColdBytes = int64_t{256} << 20;
constexpr int64_t kFewRows = 256;  // bound by memory: compared with a read
// Of the sum of magnitudes: tensor cores keep 13 bits of what they add up.
constexpr double kFastError = 2e-3, kPreciseError = 5e-4;

struct Device {
  cuda::DeviceInfo info;
  std::unique_ptr<Nvml> nvml;
  cuda::OwnStream stream;
  cuda::DeviceMemory flush, sink;
};

std::string name_of(const Fp8GemmConfig& config, const Problem& problem) {
  cuda::Fp8GemmArgs args = problem.args(0);
  args.config = &config;
  return fmt::format("{}, raster {}{}", cuda::fp8_gemm_note(args), config.raster,
                     config.overlap ? "" : ", no overlap");
}

// One configuration as a runner. The workspace lives as long as the runner.
Runner our_runner(const Fp8GemmConfig& config, const Problem& problem) {
  auto kept = std::make_shared<Fp8GemmConfig>(config);
  cuda::Fp8GemmArgs args = problem.args(0);
  args.config = kept.get();
  auto workspace = std::make_shared<cuda::DeviceMemory>();
  Runner runner{.name = name_of(config, problem), .call = {}};
  if (auto memory = cuda::DeviceMemory::allocate(cuda::fp8_gemm_workspace_bytes(args), 0))
    *workspace = std::move(*memory);
  else
    runner.error = memory.error().message();
  runner.call = [&problem, kept, workspace](int i, cuda::Stream stream) {
    cuda::Fp8GemmArgs call = problem.args(i);
    call.config = kept.get();
    return cuda::launch_fp8_gemm(*cuda::tables_sm90().fp8_gemm, call, workspace->data(), stream);
  };
  return runner;
}

// Runs once and compares; the error goes to the runner.
void check(Runner& runner, const Problem& problem, const Device& device) {
  const cuda::Stream stream = device.stream.get();
  auto run = [&]() -> Expected<double> {
    NRD_TRY(problem.poison(stream));
    NRD_TRY(runner.call(0, stream));
    NRD_TRY(cuda::wait_for(stream));
    return problem.worst_error(stream);
  };
  const Expected<double> worst = run();
  const double allowed = problem.mode().fast ? kFastError : kPreciseError;
  if (!worst)
    runner.error = worst.error().message();
  else if (!(*worst <= allowed))
    runner.error = fmt::format("wrong by {:.2g} of the sum of magnitudes", *worst);
  if (!runner.error.empty()) fmt::print("  FAILED {}: {}\n", runner.name, runner.error);
}

RaceOptions race_options(const Options& options, const Device& device, const Mode& mode) {
  RaceOptions race{
      .rounds = options.rounds, .slice_ms = options.slice_ms, .nvml = device.nvml.get()};
  if (options.gaps)
    race.between = [&device](cuda::Stream stream) -> Expected<void> {
      read_all(device.flush.data(), static_cast<int64_t>(device.flush.bytes()), 0,
               device.info.multiprocessors, static_cast<float*>(device.sink.data()), stream);
      return {};
    };
  else
    race.calls_a_graph = mode.m <= kFewRows ? 24 : 8;
  return race;
}

// All configurations, the fastest first.
std::vector<Fp8GemmConfig> rank(const Problem& problem, const Options& options,
                                const Device& device) {
  const Mode& mode = problem.mode();
  cuda::Fp8Sums sums = mode.fast ? cuda::Fp8Sums::kFast : cuda::Fp8Sums::kPrecise;
  if (mode.block) sums = cuda::Fp8Sums::kBlock;
  std::vector<Fp8GemmConfig> configs =
      cuda::all_fp8_gemm_configs({.m = mode.m,
                                  .n = mode.n,
                                  .k = mode.k,
                                  .sums = sums,
                                  .multiprocessors = device.info.multiprocessors});
  if (options.plain)
    std::erase_if(configs, [](const Fp8GemmConfig& config) {
      return config.share != cuda::Fp8Share::kNothing || config.cut_rounds > 0;
    });
  std::vector<Runner> runners;
  for (const Fp8GemmConfig& config : configs) {
    runners.push_back(our_runner(config, problem));
    check(runners.back(), problem, device);
  }
  RaceOptions brief = race_options(options, device, mode);
  brief.rounds = 3;
  brief.slice_ms = std::min(2.0, options.slice_ms);
  brief.nvml = nullptr;
  race(runners, brief, device.stream.get());
  std::vector<size_t> order;
  for (size_t i = 0; i < runners.size(); i++)
    if (runners[i].error.empty()) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return median(runners[a].slices) < median(runners[b].slices);
  });
  std::vector<Fp8GemmConfig> ranked;
  for (size_t i : order) {
    ranked.push_back(configs[i]);
    fmt::print("  scan {:9.2f} us  {}\n", median(runners[i].slices), runners[i].name);
  }
  return ranked;
}

// What is worth a try around the best.
std::vector<Fp8GemmConfig> variants(const Fp8GemmConfig& best) {
  std::vector<Fp8GemmConfig> all;
  for (int raster : {best.raster / 2, best.raster * 2}) {
    Fp8GemmConfig v = best;
    v.raster = std::max(1, raster);
    if (v.raster != best.raster) all.push_back(v);
  }
  Fp8GemmConfig v = best;
  v.overlap = !best.overlap;
  all.push_back(v);
  return all;
}

void print(const std::vector<Runner>& runners, const Problem& problem, const Device& device) {
  const Runner& base = runners.front();
  const double bytes = static_cast<double>(problem.operand_bytes());
  for (const Runner& r : runners) {
    if (!r.error.empty()) {
      fmt::print("  {:>10}                                          {}: {}\n", "-", r.name,
                 r.error);
      continue;
    }
    const double us = median(r.slices), tflops = problem.mode().flops() / us * 1e-6;
    const GpuReading reading = r.readings.mean();
    const double mhz = reading.sm_mhz.value_or(0);
    // 8192 operations a clock and multiprocessor.
    const double peak = mhz * 1e6 * 8192 * device.info.multiprocessors * 1e-12;
    fmt::print(
        "  {:10.2f} us {:7.1f} TFLOPS {:7.1f} GB/s  x{:.3f}  {:4.0f} MHz {:5.1f} % {:4.0f} W  {}\n",
        us, tflops, bytes / us * 1e-3, ratio(r, base), mhz, peak > 0 ? 100 * tflops / peak : 0,
        reading.watts.value_or(0), r.name);
  }
  std::fflush(stdout);
}

Expected<void> measure(const Mode& mode, const Options& options, const Device& device) {
  fmt::print("{}\n", mode.text());
  Expected<Problem> problem =
      Problem::make(mode, kColdBytes, device.info.multiprocessors, device.stream.get());
  if (!problem) return problem.error();
  std::vector<Runner> runners;
  Expected<std::unique_ptr<Peer>> peer =
      Peer::make(problem->args(0), static_cast<size_t>(device.info.l2_bytes));
  runners.push_back({.name = "cublaslt", .call = {}});
  if (peer)
    runners.back().call = [&](int i, cuda::Stream s) { return (*peer)->run(problem->args(i), s); };
  else
    runners.back().error = peer.error().message();
  const Fp8GemmConfig chosen = cuda::fp8_gemm_config(problem->args(0));
  runners.push_back(our_runner(chosen, *problem));
  runners.back().name = "CHOSEN " + runners.back().name;
  check(runners.back(), *problem, device);
  if (options.all_configs) {
    const std::vector<Fp8GemmConfig> ranked = rank(*problem, options, device);
    const size_t top = std::min(ranked.size(), static_cast<size_t>(options.top));
    for (size_t i = 0; i < top; i++) runners.push_back(our_runner(ranked[i], *problem));
    if (top > 0)
      for (const Fp8GemmConfig& v : variants(ranked[0])) runners.push_back(our_runner(v, *problem));
  }
  if (mode.m <= kFewRows)
    for (int variant = 0; variant < kReadVariants; variant++)
      runners.push_back({.name = fmt::format("read of the weights, variant {}", variant),
                         .call = [&, variant](int i, cuda::Stream s) -> Expected<void> {
                           read_all(problem->args(i).b, problem->weight_bytes(), variant,
                                    device.info.multiprocessors,
                                    static_cast<float*>(device.sink.data()), s);
                           return {};
                         }});
  race(runners, race_options(options, device, mode), device.stream.get());
  print(runners, *problem, device);
  return {};
}

Expected<Device> open_device() {
  Device device;
  Expected<std::vector<cuda::DeviceInfo>> all = cuda::list_devices();
  if (!all) return all.error();
  if (all->empty() || all->front().major != 9)
    return make_error({.code = ErrorCode::kEnvironment,
                       .argument = "device",
                       .got = all->empty() ? "none" : all->front().name,
                       .allowed = "one of compute capability 9.0"});
  device.info = all->front();
  char bus[32] = {};
  cudaDeviceGetPCIBusId(bus, sizeof bus, 0);
  if (auto nvml = Nvml::open(bus)) device.nvml = std::move(*nvml);
  Expected<cuda::OwnStream> stream = cuda::OwnStream::create(0);
  if (!stream) return stream.error();
  device.stream = std::move(*stream);
  Expected<cuda::DeviceMemory> flush = cuda::DeviceMemory::allocate(kColdBytes, 0);
  Expected<cuda::DeviceMemory> sink = cuda::DeviceMemory::allocate(256, 0);
  if (!flush) return flush.error();
  if (!sink) return sink.error();
  device.flush = std::move(*flush);
  device.sink = std::move(*sink);
  return device;
}

Expected<void> run(int argc, char** argv) {
  Expected<Options> options = read_options(argc, argv);
  if (!options) return options.error();
  Expected<Device> device = open_device();
  if (!device) return device.error();
  fmt::print("{}, {} multiprocessors, {}\n", device->info.name, device->info.multiprocessors,
             options->gaps ? "each call alone behind 256 MiB of reads" : "calls in a row");
  for (const Mode& mode : options->modes)
    if (Expected<void> done = measure(mode, *options, *device); !done)
      fmt::print("  {}\n", done.error().message());
  return {};
}

}  // namespace
}  // namespace nrd::bench

int main(int argc, char** argv) {
  const nrd::Expected<void> done = nrd::bench::run(argc, argv);
  if (done) return 0;
  fmt::print(stderr, "{}\n", done.error().message());
  return 1;
}
