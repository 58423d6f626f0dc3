// SPDX-License-Identifier: MIT
// src/trace/program.cpp: see program.h.
#include "trace/program.h"

#include "trace/liveness.h"

namespace nrd {
namespace {

class Lineariser {
 public:
  explicit Lineariser(const OpTrace& trace) : trace_(trace), live_(live_values(trace)) {}

  void body(const std::vector<ValueId>& statements) {
    for (ValueId id : statements) {
      const Value& v = trace_[id];
      if (v.op == TraceOp::kLoop) {
        if (live_.loops[v.index]) loop(v.index);
      } else if (live_.values[id] && v.op != TraceOp::kConst && v.op != TraceOp::kParam) {
        steps.push_back({.kind = StepKind::kValue, .value = id});
      }
    }
  }

  std::vector<Step> steps;

 private:
  void loop(uint16_t number) {
    const size_t begin = steps.size();
    steps.push_back({.kind = StepKind::kBegin, .loop = number});
    body(trace_.loops[number].body);
    steps.push_back(
        {.kind = StepKind::kEnd, .loop = number, .other = static_cast<uint32_t>(begin + 1)});
    steps[begin].other = static_cast<uint32_t>(steps.size());
  }

  const OpTrace& trace_;
  Liveness live_;
};

}  // namespace

std::vector<Step> linearise(const OpTrace& trace) {
  Lineariser lineariser(trace);
  lineariser.body(trace.body);
  return std::move(lineariser.steps);
}

std::vector<size_t> param_ranks(const OpTrace& trace) {
  std::array<size_t, 4> seen{};
  std::vector<size_t> ranks;
  for (const TraceParam& p : trace.params) ranks.push_back(seen[static_cast<size_t>(p.kind)]++);
  return ranks;
}

}  // namespace nrd
