// SPDX-License-Identifier: MIT
// tests/compiler/lower_order_test.cpp: reductions have one order of operations, whatever the ISA
// and however the work is shared out; ties and NaN of extrema go as the scalar function's.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>

#include "compiler/catalogue_traces.h"
#include "lower_run.h"
#include "tests/seed.h"
#include "trace/text.h"

namespace nrd::jit {
namespace {

// The order in plain C: 64 virtual lanes a chunk, a tree, chunks in order.
float sum_in_order(const std::vector<float>& x) {
  float total = 0;
  for (size_t begin = 0; begin < x.size(); begin += 16384) {
    float lanes[64] = {};
    for (size_t i = begin; i < std::min(x.size(), begin + 16384); i++) lanes[i % 64] += x[i];
    for (int distance = 32; distance > 0; distance /= 2) {
      for (int lane = 0; lane < distance; lane++) lanes[lane] += lanes[lane + distance];
    }
    total += lanes[0];
  }
  return total;
}

std::vector<float> numbers(size_t count, uint32_t stream) {
  std::mt19937 generator(test_seed(stream));
  std::normal_distribution<float> normal;
  std::vector<float> x(count);
  for (float& v : x) v = normal(generator);
  return x;
}

template <class Out>
Out reduce(const Runnable& code, const Lowered& lowered, const std::vector<float>& x) {
  Out out{};
  ArgumentBlock block(lowered.layout);
  block.set_pointer(0, x.data());
  block.set_pointer(1, &out);
  block.set_size(0, static_cast<int64_t>(x.size()));
  code.run(block);
  return out;
}

TEST(LowerOrder, SumsAreThoseOf64Lanes) {
  const OpTrace& trace = *catalogue_trace("vec_sum");
  for (const Machine& machine : machines()) {
    const auto lowered = lower(trace, binding_in(trace, DType::kF32), machine.target);
    ASSERT_TRUE(lowered) << lowered.error().message();
    const Runnable code(lowered->program, machine);
    for (size_t n : {0, 1, 5, 63, 64, 65, 1000, 16384, 16385, 40000}) {
      const std::vector<float> x = numbers(n, static_cast<uint32_t>(n));
      const float got = reduce<float>(code, *lowered, x);
      EXPECT_EQ(std::bit_cast<uint32_t>(got), std::bit_cast<uint32_t>(sum_in_order(x)))
          << machine.target.isa << " " << n;
    }
  }
}

int32_t scalar_argmax(const std::vector<float>& x) {
  float best = -INFINITY;
  int32_t at = 0;
  for (size_t i = 0; i < x.size(); i++) {
    if (!(x[i] > best || (std::isnan(x[i]) && !std::isnan(best)))) continue;
    best = x[i];
    at = static_cast<int32_t>(i);
  }
  return at;
}

TEST(LowerOrder, TheFirstOfEqualMaximaAndTheFirstNan) {
  const OpTrace& trace = *catalogue_trace("argmax");
  std::mt19937 generator(test_seed(7));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float choices[] = {-INFINITY, -1, -0.0f, 0, 1, 2, 2, INFINITY, nan};
  for (const Machine& machine : machines()) {
    const auto lowered = lower(trace, binding_in(trace, DType::kF32), machine.target);
    ASSERT_TRUE(lowered) << lowered.error().message();
    const Runnable code(lowered->program, machine);
    for (int round = 0; round < 300; round++) {
      const size_t kinds = 1 + generator() % std::size(choices);
      std::vector<float> x(generator() % 300);
      for (float& v : x) v = choices[generator() % kinds];
      EXPECT_EQ(reduce<int32_t>(code, *lowered, x), scalar_argmax(x)) << machine.target.isa;
    }
  }
}

class StepsTest : public ::testing::TestWithParam<EmbeddedTrace> {
 protected:
  const OpTrace& trace() const { return *catalogue_trace(GetParam().name); }

  std::vector<std::vector<int64_t>> sizes() const {
    size_t count = 0;
    for (const TraceParam& p : trace().params) count += p.kind == TraceParamKind::kSize;
    if (count == 1) return {{0}, {1}, {1000}, {16384}, {16385}, {50001}};
    if (count == 2) return {{0, 5}, {1, 1}, {40, 200}, {150, 33}};
    return {std::vector<int64_t>(count, 21)};
  }
};

// Runs a step's range in pieces, in no particular order.
void run_in_pieces(const Runnable& code, ArgumentBlock& block, int64_t extent, int64_t grain,
                   std::mt19937& generator) {
  std::vector<int64_t> cuts = {0, extent};
  for (int i = 0; i < 3 && extent > 0; i++) {
    cuts.push_back(static_cast<int64_t>(generator() % static_cast<uint64_t>(extent)) / grain *
                   grain);
  }
  std::sort(cuts.begin(), cuts.end());
  std::vector<size_t> order;
  for (size_t i = 0; i + 1 < cuts.size(); i++) order.push_back(i);
  std::shuffle(order.begin(), order.end(), generator);
  for (size_t i : order) {
    block.set_range(cuts[i], cuts[i + 1]);
    code.run(block);
  }
}

std::vector<char> run_whole(const OpTrace& trace, const Lowered& lowered, const Runnable& code,
                            const Sample& sample, const Binding& binding) {
  Operands operands(trace, sample, binding);
  std::vector<std::vector<char>> rows;
  const ArgumentBlock block = block_for(lowered, sample, operands, rows);
  code.run(block);
  return operands.stored();
}

// The steps' block is laid out as a Lowered's whose scratch is the shared rows.
std::vector<char> run_in_steps(const LoweredSteps& steps, const std::vector<Runnable>& parts,
                               const Sample& sample, const Operands& operands,
                               std::mt19937& generator) {
  Lowered layout;
  layout.layout = steps.layout;
  layout.trace = steps.trace;
  std::vector<std::vector<char>> rows;
  ArgumentBlock block = block_for(layout, sample, operands, rows);
  int pointer = steps.layout.pointers - static_cast<int>(steps.rows.size());
  for (const SharedRow& row : steps.rows) {
    const int64_t n = std::max<int64_t>(0, evaluate_size(steps.trace, row.elements, sample.sizes));
    rows.emplace_back(static_cast<size_t>(n) * byte_size(row.dtype));
    block.set_pointer(pointer++, rows.back().data());
  }
  for (size_t i = 0; i < parts.size(); i++) {
    const Step& step = steps.steps[i];
    if (step.range == kNoValue) {
      parts[i].run(block);
    } else {
      run_in_pieces(parts[i], block, evaluate_size(steps.trace, step.range, sample.sizes),
                    step.grain, generator);
    }
  }
  return operands.stored();
}

using Fill = std::function<void(Sample&)>;

void expect_same_bits_in_pieces(const OpTrace& trace, DType dtype,
                                const std::vector<std::vector<int64_t>>& sizes, const Fill& fill) {
  std::mt19937 generator(test_seed(11));
  const Binding binding = binding_in(trace, dtype);
  for (const Machine& machine : native_machines()) {
    const auto lowered = lower(trace, binding, machine.target);
    const auto steps = lower_in_steps(trace, binding, machine.target);
    ASSERT_TRUE(lowered) << lowered.error().message();
    ASSERT_TRUE(steps) << steps.error().message();
    const Runnable whole(lowered->program, machine);
    std::vector<Runnable> parts;
    for (const Step& step : steps->steps) parts.emplace_back(step.program, machine);
    for (const std::vector<int64_t>& size : sizes) {
      auto sample = make_sample(trace, size, Spread::kNormal, 5);
      ASSERT_TRUE(sample) << sample.error().message();
      sample->ints = binding.ints;
      if (fill) fill(*sample);
      const Operands operands(trace, *sample, binding);
      EXPECT_EQ(run_in_steps(*steps, parts, *sample, operands, generator),
                run_whole(trace, *lowered, whole, *sample, binding))
          << machine.target.isa << " " << sample->text();
    }
  }
}

TEST_P(StepsTest, PiecesGiveTheSameBits) {
  for (DType dtype : {DType::kF32, DType::kF16})
    expect_same_bits_in_pieces(trace(), dtype, sizes(), {});
}

INSTANTIATE_TEST_SUITE_P(Definitions, StepsTest,
                         ::testing::ValuesIn(embedded_traces().begin(), embedded_traces().end()),
                         [](const auto& info) { return std::string(info.param.name); });

// A few zeros of either sign among ones of one sign: an extremum has several to choose from.
void make_ties(float others, std::mt19937& generator, std::vector<char>& buffer) {
  for (size_t at = 0; at + sizeof(float) <= buffer.size(); at += sizeof(float)) {
    const uint32_t draw = generator() % 4096;
    const float value = draw == 0 ? 0.0f : draw == 1 ? -0.0f : others;
    std::memcpy(buffer.data() + at, &value, sizeof value);
  }
}

TEST(LowerOrder, AnExtremumIsTheSameZeroInPieces) {
  std::mt19937 generator(test_seed(13));
  for (const char* op : {"max_first", "min_first", "max_nan", "min_nan", "max_num", "min_num"}) {
    const bool is_max = op[1] == 'a';
    const std::string start = is_max ? "-inf" : "inf";
    const std::string combined = "%3 = " + std::string(op) + " f32 ";
    const auto row = parse_trace(
        "trace f : opaque\nparam x : in f32\nparam out : out f32\n"
        "param n : size\n%1 = const f32 " +
        start + "\nfor i0 < n carry %2 = %1 {\n  %4 = load f32 x[i0]\n  " + combined +
        "%4 %2\n} next %3 -> %5\nstore out[0] %5\n");
    const auto matrix = parse_trace(
        "trace f : opaque\nparam x : in f32\nparam out : out f32\n"
        "param m : size\nparam n : size\n%1 = const f32 " +
        start +
        "\nfor i0 < m carry %6 = %1 {\n  for i1 < n carry %2 = %6 {\n"
        "    %4 = load f32 x[i0 * n + i1]\n    " +
        combined + "%4 %2\n  } next %3 -> %5\n} next %5 -> %7\nstore out[0] %7\n");
    ASSERT_TRUE(row) << row.error().message();
    ASSERT_TRUE(matrix) << matrix.error().message();
    const Fill ties = [&](Sample& s) { make_ties(is_max ? -1 : 1, generator, s.buffers[0]); };
    expect_same_bits_in_pieces(*row, DType::kF32, {{20000}, {40000}, {50001}, {70000}}, ties);
    expect_same_bits_in_pieces(*matrix, DType::kF32, {{40, 1000}, {70, 500}, {900, 33}}, ties);
  }
}

// Instances follow each other by the pointers' strides; a stride of 0 keeps an operand.
TEST(LowerOrder, InstancesMoveByTheirStrides) {
  const OpTrace& trace = *catalogue_trace("rms_norm_after_weight");
  for (const Machine& machine : machines()) {
    const auto lowered = lower(trace, binding_in(trace, DType::kF32), machine.target);
    ASSERT_TRUE(lowered) << lowered.error().message();
    const Runnable code(lowered->program, machine);
    constexpr int64_t kRows = 5, kCols = 37, kStride = 40;
    const std::vector<float> x = numbers(kRows * kStride, 3), w = numbers(kCols, 4);
    std::vector<float> together(kRows * kStride, 9), alone(kRows * kStride, 9);
    auto run = [&](int64_t first, int64_t count, std::vector<float>& out) {
      ArgumentBlock block(lowered->layout);
      block.set_count(count);
      block.set_pointer(0, x.data() + first * kStride, kStride * 4);
      block.set_pointer(1, w.data(), 0);
      block.set_pointer(2, out.data() + first * kStride, kStride * 4);
      block.set_size(0, kCols);
      block.set_number(0, 1e-5f);
      code.run(block);
    };
    run(0, kRows, together);
    for (int64_t row = 0; row < kRows; row++) run(row, 1, alone);
    EXPECT_EQ(together, alone) << machine.target.isa;
    EXPECT_EQ(together[kCols], 9);
    run(0, 0, together);
    EXPECT_EQ(together, alone);
  }
}

}  // namespace
}  // namespace nrd::jit
