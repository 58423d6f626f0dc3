// SPDX-License-Identifier: MIT
// benchmarks/compile_time.cpp: how long each step from a definition to code takes, for every
// definition of the catalogue.
//
// Lifting is timed once each (traces are remembered), so its first line pays for cold caches; the
// proofs likewise. Lowering, encoding and mapping are the median of many runs. Microseconds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "compiler/prove_code.h"
#include "jit/code.h"
#include "jit/lower.h"
#include "lift/definition.h"
#include "lift/prove.h"

namespace {

using namespace nrd;
using Clock = std::chrono::steady_clock;

constexpr int kRuns = 51;

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

template <class T>
T or_exit(Expected<T> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "%s\n", result.error().message().c_str());
  std::exit(1);
}

void or_exit(const Expected<void>& result) {
  if (result) return;
  std::fprintf(stderr, "%s\n", result.error().message().c_str());
  std::exit(1);
}

struct Times {
  std::string name;
  double lift = 0, first_proof = 0, second_proof = 0;
  double lower = 0, encode = 0, map = 0;
  size_t instructions = 0, bytes = 0;
  double emission() const { return lower + encode + map; }
};

void time_emission(const OpTrace& trace, const jit::Target& target, Times& times) {
  jit::Binding binding;
  for (const TraceParam& p : trace.params) {
    if (p.kind == TraceParamKind::kPointer) binding.dtypes.push_back(p.dtype);
    if (p.kind == TraceParamKind::kInt) binding.ints.push_back(static_cast<int>(DType::kF32));
  }
  std::vector<double> lower, encode, map;
  for (int i = 0; i < kRuns; i++) {
    auto start = Clock::now();
    const jit::Lowered lowered = or_exit(jit::lower(trace, binding, target));
    lower.push_back(microseconds_since(start));
    start = Clock::now();
    const std::vector<uint8_t> bytes = or_exit(jit::encode(lowered.program, target));
    encode.push_back(microseconds_since(start));
    start = Clock::now();
    or_exit(jit::make_code(trace.name, bytes));
    map.push_back(microseconds_since(start));
    times.instructions = lowered.program.code.size();
    times.bytes = bytes.size();
  }
  times.lower = median(lower), times.encode = median(encode), times.map = median(map);
}

template <class Value>  // double(const Times&)
void summarise(const char* what, const std::vector<Times>& all, Value value) {
  std::vector<double> values;
  const Times* worst = &all.front();
  for (const Times& t : all) {
    values.push_back(value(t));
    if (value(t) > value(*worst)) worst = &t;
  }
  std::printf("%-14s median %8.1f us, most %8.1f us (%s)\n", what, median(values), value(*worst),
              worst->name.c_str());
}

}  // namespace

int main() {
  const std::vector<const jit::Target*> targets = jit::targets(detect_isa());
  if (targets.empty()) {
    std::fprintf(stderr, "this CPU has no ISA of a back end\n");
    return 1;
  }
  std::vector<Times> all;
  std::printf("%-34s %8s %8s %8s %8s %8s %8s %6s %6s   (%s)\n", "definition", "lift", "proof 1",
              "proof 2", "lower", "encode", "map", "insts", "bytes",
              std::string(targets.front()->isa).c_str());
  for (const lift::LiftRequest& request : lift::catalogue_requests()) {
    Times t{.name = request.name};
    lift::LiftStats stats;
    const OpTrace trace = or_exit(lift::lift_function(request, &stats));
    t.lift = stats.total_us;
    auto start = Clock::now();
    static_cast<void>(or_exit(lift::prove_trace(trace, request)));
    t.first_proof = microseconds_since(start);
    start = Clock::now();
    or_exit(prove_code(trace, *targets.front()));
    t.second_proof = microseconds_since(start);
    time_emission(trace, *targets.front(), t);
    std::printf("%-34s %8.1f %8.1f %8.1f %8.1f %8.1f %8.1f %6zu %6zu\n", t.name.c_str(), t.lift,
                t.first_proof, t.second_proof, t.lower, t.encode, t.map, t.instructions, t.bytes);
    all.push_back(std::move(t));
  }
  std::printf("\n");
  summarise("lifting", all, [](const Times& t) { return t.lift; });
  summarise("both proofs", all, [](const Times& t) { return t.first_proof + t.second_proof; });
  summarise("emission", all, [](const Times& t) { return t.emission(); });
  return 0;
}
