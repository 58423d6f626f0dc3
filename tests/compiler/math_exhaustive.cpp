// SPDX-License-Identifier: MIT
// tests/compiler/math_exhaustive.cpp: every float through each elementary function, on each ISA of
// this machine; takes minutes, so ctest runs a sample instead (math_accuracy_test.cpp).
//
//   math_exhaustive [FUNCTION|all] [STEP]      STEP: only every STEP-th float
#include <bit>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "jit/code.h"
#include "machine/isa.h"
#include "math_check.h"

namespace {

using namespace nrd::jit;

struct Worst {
  double error = -1;
  float at = 0, got = 0;
  uint64_t above_one = 0;
};

constexpr size_t kBatch = 8192;

Worst scan(const MathFunction& f, const Code& code, int lanes, uint64_t first, uint64_t stride,
           uint64_t step) {
  Worst worst;
  std::vector<float> x(kBatch), out(kBatch);
  for (uint64_t base = first; base < uint64_t{1} << 32; base += stride) {
    for (size_t i = 0; i < kBatch; i++) {
      x[i] = std::bit_cast<float>(static_cast<uint32_t>(base + i * step));
    }
    MathBlock block;
    block.x = block.y = x.data();
    block.out = out.data();
    block.vectors = static_cast<int64_t>(kBatch) / lanes;
    code.entry()(&block);
    for (size_t i = 0; i < kBatch; i++) {
      const double error = ulp_error(out[i], f.exact(static_cast<double>(x[i])));
      worst.above_one += error > 1;
      if (error > worst.error) {
        worst.error = error;
        worst.at = x[i];
        worst.got = out[i];
      }
    }
  }
  return worst;
}

// Two threads, each every other batch.
bool check(const MathFunction& f, const Target& target, uint64_t step) {
  const Program program =
      math_program(f.name, target, [&](Builder& b, V a, G) { return f.make(b, a); });
  const auto bytes = encode(program, target);
  const auto code = bytes ? make_code(program.name, *bytes) : bytes.error();
  if (!code) {
    std::fprintf(stderr, "%s\n", code.error().message().c_str());
    return false;
  }
  Worst parts[2];
  std::thread other(
      [&] { parts[1] = scan(f, **code, program.lanes, kBatch * step, 2 * kBatch * step, step); });
  parts[0] = scan(f, **code, program.lanes, 0, 2 * kBatch * step, step);
  other.join();
  const Worst& worst = parts[parts[1].error > parts[0].error];
  std::printf("%-6s %-7s %8.4f ulp at %a (%.9g): %.9g, exactly %.17g; above 1 ulp: %" PRIu64 "\n",
              std::string(f.name).c_str(), std::string(target.isa).c_str(), worst.error,
              static_cast<double>(worst.at), static_cast<double>(worst.at),
              static_cast<double>(worst.got), f.exact(static_cast<double>(worst.at)),
              parts[0].above_one + parts[1].above_one);
  std::fflush(stdout);
  return worst.error <= 2;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string wanted = argc > 1 ? argv[1] : "all";
  const uint64_t step = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  bool passes = true;
  for (const MathFunction& f : math_functions()) {
    if (wanted != "all" && wanted != f.name) continue;
    for (const Target* target : targets(nrd::detect_isa())) {
      passes &= check(f, *target, step == 0 ? 1 : step);
    }
  }
  return passes ? 0 : 1;
}
