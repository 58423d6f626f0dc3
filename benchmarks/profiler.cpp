// SPDX-License-Identifier: MIT
// benchmarks/profiler.cpp: is the profiler right? A plain memory copy, timed by it and by a loop
// that shares nothing with it, in alternating slices; and what a call of nothing costs.
#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <iostream>

#include "workbench/profile.h"
#include "workbench/stats.h"

namespace {

using namespace nrd;

// out = x, or nothing at all.
class CopyKernel final : public Kernel {
 public:
  explicit CopyKernel(bool nothing) : nothing_(nothing) {}
  std::string name() const override { return "copy"; }
  Expected<void> accepts(const Desc&) const override { return {}; }
  Expected<std::unique_ptr<PreparedKernel>> prepare(const Desc& desc,
                                                    std::span<void* const>) const override {
    struct Run final : PreparedKernel {
      size_t bytes = 0;
      Expected<void> run(const Args& args, void*, const Exec&) const override {
        if (bytes) std::memcpy(args.pointers[1], args.pointers[0], bytes);
        return {};
      }
    };
    auto run = std::make_unique<Run>();
    run->bytes = nothing_ ? 0 : static_cast<size_t>(desc.axes[0]) * sizeof(float);
    return std::unique_ptr<PreparedKernel>(std::move(run));
  }

 private:
  bool nothing_;
};

// Best practice of a stand-alone program: repeat for a while, total time over total calls.
double independent_us(char* to, const char* from, size_t bytes, double milliseconds) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> samples;
  const auto begin = Clock::now();
  while (std::chrono::duration<double, std::milli>(Clock::now() - begin).count() < milliseconds) {
    const int calls = bytes < 1 << 16 ? 100 : 1;
    const auto start = Clock::now();
    for (int i = 0; i < calls; i++) {
      std::memcpy(to, from, bytes);
      asm volatile("" : : "r"(to) : "memory");
    }
    samples.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count() /
                      calls);
  }
  return median(samples);
}

Case copy_case(int64_t n) {
  CaseSpec spec;
  spec.op = "relu";  // any operator with one input and one output of the same shape
  spec.request.sizes = {{"n", n}};
  return *make_case(spec);
}

void compare_copies(int64_t n) {
  const size_t bytes = static_cast<size_t>(n) * sizeof(float);
  const Case c = copy_case(n);
  const CopyKernel kernel(false);
  Expected<KernelRunner> runner = KernelRunner::create({nullptr, &kernel}, c, MemoryMode::kTimed);
  Profiler profiler(*runner, false);
  // The two arrays lie as a case's operands do, a page and 19 lines apart: on a copy from memory
  // their distance alone makes a tenth.
  constexpr size_t kApart = 4096 + 19 * 64;
  Expected<Buffer> block = Buffer::allocate(2 * bytes + kApart, MemoryMode::kTimed);
  std::memset(block->data(), 1, block->bytes());
  char* from = static_cast<char*>(block->data());
  char* to = from + bytes + kApart;
  std::vector<double> ours, theirs;
  for (int round = 0; round < 20; round++) {
    ours.push_back(median(profiler.slice(20)->samples_us));
    theirs.push_back(independent_us(to, from, bytes, 22));
  }
  const Ratio r = paired_ratio(ours, theirs);
  std::cout << fmt::format(
      "copy of {:>9} bytes: profiler {:9.2f} us, independent {:9.2f} us, ratio {:.3f} [{:.3f}, "
      "{:.3f}]\n",
      bytes, median(ours), median(theirs), r.median, r.low, r.high);
}

}  // namespace

int main() {
  for (int64_t n : {1024, 65536, 1 << 20, 1 << 25}) compare_copies(n);
  const Case c = copy_case(1);
  const CopyKernel nothing(true);
  Expected<KernelRunner> runner = KernelRunner::create({nullptr, &nothing}, c, MemoryMode::kTimed);
  Profiler profiler(*runner, false);
  std::vector<double> slices;
  for (int round = 0; round < 10; round++) slices.push_back(median(profiler.slice(20)->samples_us));
  std::cout << fmt::format("a call of nothing: {:.1f} ns in the timed path\n",
                           median(slices) * 1e3);
}
