// SPDX-License-Identifier: MIT
// benchmarks/gpu_rows.cpp: every configuration of rmsnorm_rope beside every copy of as many bytes.
//
//   bench_gpu_rows [batch seq hidden head_dim]
//
// Each candidate is a graph of calls on memory that no cache holds; graphs take turns. Prints the
// median microseconds of a call and the share of the best copy's rate. What comes out best belongs
// into src/cuda/config/rows.cpp (rows) and src/cuda/launch/traffic.h (copies).
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cuda/devices.h"
#include "cuda/launch/error.h"
#include "cuda/launch/memory.h"
#include "cuda/launch/row_params.h"
#include "cuda/launch/tables.h"
#include "cuda/launch/timing.h"
#include "cuda/launch/traffic.h"

namespace nrd::cuda {
namespace {

constexpr double kApartBytes = 1.0 * (1 << 30);  // of all sets together: no cache holds them
constexpr int kRounds = 11;
constexpr double kGraphUs = 2000;  // of one graph, about

template <class T>
T take(Expected<T> value) {
  if (value) return std::move(*value);
  fmt::print(stderr, "{}\n", value.error().message());
  std::exit(1);
}
void take(Expected<void> value) {
  if (value) return;
  fmt::print(stderr, "{}\n", value.error().message());
  std::exit(1);
}

struct Shape {
  int64_t batch, seq, hidden, head_dim;
  int64_t rows() const { return batch * seq; }
  // x and out, the weight, and the tables once.
  double bytes() const {
    return 2.0 * (2.0 * static_cast<double>(rows() * hidden) + static_cast<double>(hidden) +
                  2.0 * static_cast<double>(seq * head_dim));
  }
};

// Bytes of noise that are finite as bf16 and as f16.
DeviceMemory noise(size_t bytes) {
  std::vector<uint16_t> host(std::max<size_t>(bytes / 2, 1));
  uint32_t state = 12345;
  for (uint16_t& h : host) {
    state = state * 1664525 + 1013904223;
    h = static_cast<uint16_t>((state >> 16 & 0x83ff) | 0x3c00);
  }
  DeviceMemory memory = take(DeviceMemory::allocate(host.size() * 2, 0));
  take(check("cudaMemcpy", cudaMemcpy(memory.data(), host.data(), bytes, cudaMemcpyHostToDevice)));
  return memory;
}

struct Candidate {
  std::string name;
  bool copies = false;
  std::function<cudaError_t(size_t set, Stream stream)> enqueue;
  RecordedCalls graph;
  std::vector<double> us;
  double median() const {
    std::vector<double> sorted = us;
    std::sort(sorted.begin(), sorted.end());
    return sorted.empty() ? 0 : sorted[sorted.size() / 2];
  }
};

class Sweep {
 public:
  Sweep(const Shape& shape, DType dtype) : shape_(shape), dtype_(dtype) {
    const auto rows = static_cast<size_t>(shape.rows() * shape.hidden) * 2;
    const size_t sets =
        std::clamp<size_t>(static_cast<size_t>(kApartBytes / shape.bytes()) + 1, 2, 512);
    for (size_t i = 0; i < sets; i++) {
      x_.push_back(i < 2 ? noise(rows) : take(DeviceMemory::allocate(rows, 0)));
      out_.push_back(take(DeviceMemory::allocate(rows, 0)));
      if (i >= 2)
        take(check("cudaMemcpy",
                   cudaMemcpy(x_[i].data(), x_[i % 2].data(), rows, cudaMemcpyDeviceToDevice)));
    }
    weight_ = noise(static_cast<size_t>(shape.hidden) * 2);
    cos_ = noise(static_cast<size_t>(shape.seq * shape.head_dim) * 2);
    sin_ = noise(static_cast<size_t>(shape.seq * shape.head_dim) * 2);
    // A copy moves half of the bytes each way; the tables' share lies in memory of its own.
    half_ = (static_cast<size_t>(shape.bytes() / 2) + 511) / 512 * 512;
    for (size_t i = 0; i < sets; i++) {
      from_.push_back(take(DeviceMemory::allocate(half_, 0)));
      to_.push_back(take(DeviceMemory::allocate(half_, 0)));
    }
  }

  void add_rows(const KernelTables& tables, const RowConfig& config, const std::string& note) {
    NormRopeParams p;
    NormRopeChoice choice;
    const NormRopeArgs first = args(0);
    if (!make_params(first, config, p, choice)) return;
    const RowKernels* rows = tables.rows;
    candidates_.push_back({.name = fmt::format("{}{} threads, {} rows a block, {} slots", note,
                                               config.threads, config.rows_per_block, choice.items),
                           .enqueue = [this, rows, config](size_t set, Stream stream) {
                             return rows->norm_rope(args(set), config, stream);
                           }});
  }

  void add_copy(const KernelTables& tables, const TrafficConfig& config) {
    const TrafficKernels* traffic = tables.traffic;
    candidates_.push_back(
        {.name = fmt::format("copy: {} vectors, {} threads, {} blocks, hint {}", config.vectors,
                             config.threads, config.blocks, static_cast<int>(config.hint)),
         .copies = true,
         .enqueue = [this, traffic, config](size_t set, Stream stream) {
           return traffic->copy(from_[set].data(), to_[set].data(), half_, config, stream);
         }});
  }

  void run() {
    const double guess = shape_.bytes() / 4e6 + 3;
    const int calls = std::clamp(static_cast<int>(kGraphUs / guess), 2, 400);
    size_t set = 0;
    for (Candidate& c : candidates_)
      c.graph = take(RecordedCalls::record([&](Stream stream) -> Expected<void> {
        for (int i = 0; i < calls; i++)
          NRD_TRY(check("launch", c.enqueue(set++ % x_.size(), stream)));
        return {};
      }));
    Event begin = take(Event::create()), end = take(Event::create());
    for (int round = -2; round < kRounds; round++) {
      for (Candidate& c : candidates_) {
        take(begin.record(nullptr));
        take(c.graph.launch(nullptr));
        take(end.record(nullptr));
        take(end.wait());
        if (round >= 0) c.us.push_back(take(microseconds_between(begin, end)) / calls);
      }
    }
    print();
  }

 private:
  NormRopeArgs args(size_t set) const {
    NormRopeArgs a;
    a.outer[2] = shape_.batch, a.outer[3] = shape_.seq;
    a.cols = shape_.hidden, a.head_dim = shape_.head_dim;
    a.turn = Turn::kHalf;
    a.eps = 1e-6f;
    auto operand = [&](const DeviceMemory& m, int64_t batch, int64_t seq) {
      return RowOperand{.present = true,
                        .data = m.data(),
                        .dtype = dtype_,
                        .outer = {0, 0, batch, seq},
                        .head = shape_.head_dim};
    };
    const int64_t row = shape_.hidden;
    a.x = operand(x_[set], shape_.seq * row, row),
    a.out = operand(out_[set], shape_.seq * row, row);
    a.weight = operand(weight_, 0, 0);
    a.cos = operand(cos_, 0, shape_.head_dim), a.sin = operand(sin_, 0, shape_.head_dim);
    return a;
  }

  void print() {
    double best_copy = 1e30;
    for (const Candidate& c : candidates_)
      if (c.copies) best_copy = std::min(best_copy, c.median());
    std::stable_sort(candidates_.begin(), candidates_.end(),
                     [](const Candidate& a, const Candidate& b) {
                       return std::pair(a.copies, a.median()) < std::pair(b.copies, b.median());
                     });
    fmt::print("\n{} x {} x {}, heads of {}, {}: {:.1f} MB\n", shape_.batch, shape_.seq,
               shape_.hidden, shape_.head_dim, word(dtype_), shape_.bytes() * 1e-6);
    for (const Candidate& c : candidates_)
      fmt::print("{:9.2f} us {:7.0f} GB/s {:6.1f} %  {}\n", c.median(),
                 shape_.bytes() / c.median() * 1e-3, 100 * best_copy / c.median(), c.name);
    std::fflush(stdout);
  }

  Shape shape_;
  DType dtype_;
  std::vector<DeviceMemory> x_, out_, from_, to_;
  DeviceMemory weight_, cos_, sin_;
  size_t half_ = 0;
  std::vector<Candidate> candidates_;
};

void sweep(const Shape& shape, DType dtype, const DeviceInfo& device) {
  const KernelTables& tables = device.major == 9 ? tables_sm90() : tables_sm80();
  Sweep s(shape, dtype);
  const RowTask task{.cut = cut_turned_row(dtype, shape.hidden, shape.head_dim),
                     .rows = shape.rows(),
                     .most_items = 4,
                     .multiprocessors = device.multiprocessors};
  s.add_rows(tables, choose_row_config(task), "chosen: ");
  for (int threads : {32, 64, 128, 256, 512})
    for (int rows : {1, 2, 4, 8}) {
      if (threads * rows > 256 && rows > 1) continue;
      s.add_rows(tables, {threads, rows}, "");
    }
  for (TrafficHint hint : {TrafficHint::kOften, TrafficHint::kOnce, TrafficHint::kFirstOut})
    for (int vectors : {1, 2, 4, 8})
      for (int threads : {128, 256, 512}) s.add_copy(tables, {vectors, threads, 0, hint});
  for (int blocks : {4, 8, 16})
    s.add_copy(tables, {4, 256, blocks * device.multiprocessors, TrafficHint::kOnce});
  s.run();
}

}  // namespace
}  // namespace nrd::cuda

int main(int argc, char** argv) {
  using namespace nrd;
  using namespace nrd::cuda;
  const std::vector<DeviceInfo> devices = take(list_devices());
  if (devices.empty()) return fmt::print(stderr, "no CUDA device\n"), 1;
  fmt::print("{}\n", devices[0].name);
  std::vector<Shape> shapes = {{8, 2048, 4096, 64}, {1, 8192, 2048, 64}, {4, 8192, 8192, 64},
                               {8, 2048, 2880, 64}, {1, 1, 4096, 64},    {64, 1, 4096, 64}};
  if (argc == 5)
    shapes = {{std::atoll(argv[1]), std::atoll(argv[2]), std::atoll(argv[3]), std::atoll(argv[4])}};
  for (const Shape& shape : shapes) sweep(shape, DType::kBF16, devices[0]);
  return 0;
}
