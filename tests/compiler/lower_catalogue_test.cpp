// SPDX-License-Identifier: MIT
// tests/compiler/lower_catalogue_test.cpp: every definition of the catalogue in every dtype on
// every ISA: it lowers, its programs are well formed, and what they store is within the bounds.
#include "compiler/catalogue_traces.h"
#include "lower_run.h"
#include "tests/seed.h"

namespace nrd::jit {
namespace {

constexpr DType kDtypes[] = {DType::kF32, DType::kF16, DType::kBF16, DType::kF8E4M3,
                             DType::kF8E5M2};

size_t first_output(const OpTrace& trace) {
  size_t i = 0;
  for (const TraceParam& p : trace.params) {
    if (p.kind == TraceParamKind::kPointer && p.written) break;
    i++;
  }
  return i;
}

// The input that may be the first output as well, or -1: as many elements, each of which is read
// ahead of its store.
int shared_input(const OpTrace& trace, const Sample& sample) {
  const OpClass c = trace.op_class;
  if (c != OpClass::kElementwise && c != OpClass::kPairwise && c != OpClass::kNorm) return -1;
  const size_t output = first_output(trace);
  const TraceParam& to = trace.params[output];
  for (size_t i = 0; i < output; i++) {
    const bool is_alike = sample.buffers[i].size() == sample.buffers[output].size();
    if (is_alike && trace.params[i].dtype == to.dtype) return static_cast<int>(i);
  }
  return -1;
}

int size_count(const OpTrace& trace) {
  int count = 0;
  for (const TraceParam& p : trace.params) count += p.kind == TraceParamKind::kSize;
  return count;
}

void try_sizes(const OpTrace& trace, const Lowered& lowered, const Runnable& code,
               const Binding& binding, const std::vector<int64_t>& sizes, Spread spread) {
  static uint64_t stream = 1;
  auto made = make_sample(trace, sizes, spread, test_seed(stream++));
  ASSERT_TRUE(made) << made.error().message();
  Sample& sample = *made;
  sample.ints = binding.ints;
  for (bool in_place : {false, true}) {
    Operands operands(trace, sample, binding);
    if (in_place) {
      const int input = shared_input(trace, sample);
      if (input < 0) return;
      operands.share(static_cast<size_t>(input), first_output(trace));
    }
    std::vector<std::vector<char>> rows;
    ArgumentBlock block = block_for(lowered, sample, operands, rows);
    code.run(block);
    EXPECT_TRUE(operands.fits(trace, sample)) << trace.name << (in_place ? " in place" : "");
  }
}

class CatalogueTest : public ::testing::TestWithParam<EmbeddedTrace> {
 protected:
  const OpTrace& trace() const { return *catalogue_trace(GetParam().name); }
};

TEST_P(CatalogueTest, LowersInEveryDtypeOnEveryIsa) {
  for (const Machine& machine : machines()) {
    for (DType dtype : kDtypes) {
      const auto lowered = lower(trace(), binding_in(trace(), dtype), machine.target);
      ASSERT_TRUE(lowered) << machine.target.isa << " " << lowered.error().message();
      EXPECT_EQ(verify_program(lowered->program), "");
      const auto steps = lower_in_steps(trace(), binding_in(trace(), dtype), machine.target);
      ASSERT_TRUE(steps) << machine.target.isa << " " << steps.error().message();
      for (const Step& step : steps->steps) EXPECT_EQ(verify_program(step.program), "");
    }
  }
}

TEST_P(CatalogueTest, StoresWhatTheTraceSays) {
  for (const Machine& machine : machines()) {
    for (DType dtype : kDtypes) {
      SCOPED_TRACE(std::string(machine.target.isa) + " " + std::string(word(dtype)));
      const Binding binding = binding_in(trace(), dtype);
      const auto lowered = lower(trace(), binding, machine.target);
      ASSERT_TRUE(lowered) << lowered.error().message();
      const Runnable code(lowered->program, machine);
      const int64_t points = machine.is_native ? 1 << 11 : 1 << 8;
      for (const std::vector<int64_t>& sizes : sample_sizes(trace(), points)) {
        for (Spread spread : {Spread::kNormal, Spread::kSpecial, Spread::kWide}) {
          try_sizes(trace(), *lowered, code, binding, sizes, spread);
        }
        if (HasFailure()) return;
      }
    }
  }
}

// Every remainder of every vector width, and around the end of a page.
TEST_P(CatalogueTest, EveryLength) {
  if (size_count(trace()) != 1) GTEST_SKIP() << "has several sizes";
  for (const Machine& machine : native_machines()) {
    for (DType dtype : {DType::kF32, DType::kF16, DType::kF8E4M3}) {
      SCOPED_TRACE(std::string(machine.target.isa) + " " + std::string(word(dtype)));
      const Binding binding = binding_in(trace(), dtype);
      const auto lowered = lower(trace(), binding, machine.target);
      ASSERT_TRUE(lowered) << lowered.error().message();
      const Runnable code(lowered->program, machine);
      std::vector<int64_t> lengths = {4095, 4096, 4097, 16383, 16385};
      for (int64_t n = 0; n <= 200; n++) lengths.push_back(n);
      for (int64_t n : lengths) {
        try_sizes(trace(), *lowered, code, binding, {n}, Spread::kNormal);
        if (HasFailure()) return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Definitions, CatalogueTest,
                         ::testing::ValuesIn(embedded_traces().begin(), embedded_traces().end()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace nrd::jit
