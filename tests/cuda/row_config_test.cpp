// SPDX-License-Identifier: MIT
// tests/cuda/row_config_test.cpp: how rows are cut and shared, and that no bit depends on it.
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "base/convert.h"
#include "cuda/config/rows.h"
#include "cuda/launch/division.h"
#include "cuda/launch/row_params.h"
#include "cuda/launch/tables.h"
#include "target.h"

namespace nrd::cuda {
namespace {

TEST(Division, IsExact) {
  for (uint32_t by : {1u, 2u, 3u, 5u, 7u, 64u, 180u, 2047u, 2048u, 2049u, 65537u, 0x7fffffffu})
    for (uint32_t n :
         {0u, 1u, 2u, 63u, 64u, 2879u, 2880u, 65536u, 0x3fffffffu, 0x7ffffffeu, 0x7fffffffu}) {
      EXPECT_EQ(Division(by).quotient(n), n / by) << n << "/" << by;
      const uint32_t multiple = n / by * by;
      EXPECT_EQ(Division(by).quotient(multiple), multiple / by);
      if (multiple > 0) {
        EXPECT_EQ(Division(by).quotient(multiple - 1), (multiple - 1) / by);
      }
    }
}

TEST(RowCut, FollowsTheHeads) {
  const RowCut a = cut_turned_row(DType::kBF16, 4096, 64);
  EXPECT_EQ(std::tuple(a.packet, a.chunks, a.slots()), std::tuple(8, 4, 256));
  const RowCut b = cut_turned_row(DType::kBF16, 2560, 80);  // 5 slots of 8 numbers
  EXPECT_EQ(std::tuple(b.packet, b.chunks, b.slots()), std::tuple(8, 5, 256));
  const RowCut c = cut_turned_row(DType::kF32, 512, 128);
  EXPECT_EQ(std::tuple(c.packet, c.chunks, c.slots()), std::tuple(4, 16, 64));
  EXPECT_EQ(cut_turned_row(DType::kBF16, 100, 10).packet, 1);
  EXPECT_EQ(cut_turned_row(DType::kBF16, 144, 72).packet, 4);
  EXPECT_EQ(cut_plain_row(DType::kBF16, 769).slots(), 97);
}

// What is chosen can be launched, and the shapes that are measured are held in registers.
TEST(RowConfig, IsValid) {
  for (int64_t hidden : {64, 128, 2048, 2880, 4096, 8192, 16384})
    for (int64_t head_dim : {64, 80, 96, 128, 256})
      for (int64_t rows : {1, 64, 300, 8192, 100000})
        for (int most : {2, 4}) {
          if (hidden % head_dim != 0) continue;
          const RowTask task{.cut = cut_turned_row(DType::kBF16, hidden, head_dim),
                             .rows = rows,
                             .most_items = most};
          ASSERT_TRUE(fits_registers(task)) << hidden << " " << head_dim;
          EXPECT_TRUE(is_valid(choose_row_config(task), task)) << hidden << " " << rows;
        }
}

// The fastest on an H200 (bench_gpu_rows).
TEST(RowConfig, IsTheMeasuredOne) {
  struct Measured {
    int64_t rows, hidden;
    int threads;
  };
  for (const Measured& m : {Measured{16384, 4096, 128}, Measured{8192, 2048, 64},
                            Measured{32768, 8192, 128}, Measured{16384, 2880, 64}}) {
    const RowConfig config =
        choose_row_config({.cut = cut_turned_row(DType::kBF16, m.hidden, 64), .rows = m.rows});
    EXPECT_EQ(std::tuple(config.threads, config.rows_per_block), std::tuple(m.threads, 1))
        << m.hidden;
  }
}

class RowConfigs : public TargetTest {};
NRD_ON_EVERY_TARGET(RowConfigs);

// rmsnorm_rope of bf16 rows, straight through the launch function.
struct Rows {
  static constexpr int64_t kBatch = 3, kSeq = 5, kHeadDim = 64;
  const TestTarget& target;
  int64_t hidden;
  DeviceBuffer x, weight, cos, sin, out;

  static std::vector<uint16_t> some(int64_t count, int seed) {
    std::vector<uint16_t> v;
    for (int64_t i = 0; i < count; i++)
      v.push_back(
          static_cast<uint16_t>(encode(std::sin(seed + 0.37 * static_cast<double>(i * i % 1013)),
                                       DType::kBF16, Overflow::kIeee)));
    return v;
  }
  Rows(const TestTarget& on, int64_t cols)
      : target(on),
        hidden(cols),
        x(DeviceBuffer::of(on, some(kBatch * kSeq * cols, 1))),
        weight(DeviceBuffer::of(on, some(cols, 2))),
        cos(DeviceBuffer::of(on, some(kSeq * kHeadDim, 3))),
        sin(DeviceBuffer::of(on, some(kSeq * kHeadDim, 4))),
        out(on, static_cast<size_t>(kBatch * kSeq * cols) * 2) {}

  NormRopeArgs args() const {
    NormRopeArgs a;
    a.outer[2] = kBatch, a.outer[3] = kSeq;
    a.cols = hidden, a.head_dim = kHeadDim;
    a.turn = Turn::kHalf;
    a.eps = 1e-6f;
    auto operand = [&](const DeviceBuffer& b, int64_t batch, int64_t seq) {
      return RowOperand{.present = true,
                        .data = b.data(),
                        .dtype = DType::kBF16,
                        .outer = {0, 0, batch, seq},
                        .head = kHeadDim};
    };
    a.x = operand(x, kSeq * hidden, hidden), a.out = operand(out, kSeq * hidden, hidden);
    a.weight = operand(weight, 0, 0);
    a.cos = operand(cos, 0, kHeadDim), a.sin = operand(sin, 0, kHeadDim);
    return a;
  }
  std::vector<uint16_t> run(const RowConfig& config) {
    NormRopeParams p;
    NormRopeChoice choice;
    EXPECT_TRUE(make_params(args(), config, p, choice));  // not the slow way
    out.fill(0);
    EXPECT_EQ(target.target.kernels->rows->norm_rope(args(), config, nullptr), cudaSuccess);
    EXPECT_TRUE(finish(target));
    EXPECT_TRUE(out.check_guards());
    return out.values<uint16_t>();
  }
};

TEST_P(RowConfigs, DoNotChangeBits) {
  for (int64_t hidden : {2048, 2880, 4096}) {
    Rows rows(target(), hidden);
    const std::vector<uint16_t> first = rows.run({.threads = 512, .rows_per_block = 1});
    for (int threads : {32, 64, 128, 256})
      for (int rows_per_block : {1, 2, 4}) {
        const RowConfig config{threads, rows_per_block};
        const RowTask task = row_task(rows.args(), 132);
        if (!is_valid(config, task)) continue;
        EXPECT_EQ(rows.run(config), first) << hidden << " " << threads << " " << rows_per_block;
      }
  }
}

// A configuration that cannot be is no error: the slow way takes the rows.
TEST_P(RowConfigs, ThatCannotBeAreNotTaken) {
  Rows rows(target(), 2048);
  const std::vector<uint16_t> first = rows.run({.threads = 64, .rows_per_block = 2});
  for (const RowConfig& config : {RowConfig{.threads = 2}, RowConfig{.threads = 48},
                                  RowConfig{.threads = 1024, .rows_per_block = 1}}) {
    rows.out.fill(0);
    EXPECT_EQ(target().target.kernels->rows->norm_rope(rows.args(), config, nullptr), cudaSuccess);
    EXPECT_TRUE(finish(target()));
    EXPECT_EQ(rows.out.values<uint16_t>(), first);
  }
}

}  // namespace
}  // namespace nrd::cuda
