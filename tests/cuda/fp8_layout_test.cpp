// SPDX-License-Identifier: MIT
// tests/cuda/fp8_layout_test.cpp: the calls of launch/fp8.h that products make: transposed codes,
// batches, codes from one layout to another. Against straight loops.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/convert.h"
#include "cuda/launch/fp8_kernels.h"
#include "cuda/launch/tables.h"
#include "target.h"
#include "tests/seed.h"

namespace nrd::cuda {
namespace {

struct Matrices {
  int64_t batch, rows, cols;
  std::vector<float> values;  // bf16 numbers, row by row
  float at(int64_t b, int64_t r, int64_t c) const {
    return values[static_cast<size_t>((b * rows + r) * cols + c)];
  }
};

Matrices random_matrices(int64_t batch, int64_t rows, int64_t cols) {
  Matrices m{batch, rows, cols, {}};
  std::mt19937 random(test_seed(5));
  std::normal_distribution<float> normal;
  for (int64_t i = 0; i < batch * rows * cols; i++)
    m.values.push_back(static_cast<float>(
        round_through(static_cast<double>(normal(random)), DType::kBF16, Overflow::kIeee)));
  return m;
}

int64_t tile_of(Fp8Tile tile, const Matrices& m, int64_t r, int64_t c) {
  const int64_t across = (m.cols + 127) / 128;
  switch (tile) {
    case Fp8Tile::kTensor: return 0;
    case Fp8Tile::kRow: return r;
    case Fp8Tile::kColumn: return c;
    case Fp8Tile::kBlock1x128: return r * across + c / 128;
    case Fp8Tile::kBlock128x128: return r / 128 * across + c / 128;
    default: return r / 128 * m.cols + c;
  }
}

struct Expectation {
  std::vector<float> scales;   // batch by batch
  std::vector<uint8_t> codes;  // in the order of values
};

Expectation expectation(const Matrices& m, Fp8Tile tile, int64_t scales_of_matrix) {
  Expectation e;
  e.scales.assign(static_cast<size_t>(m.batch * scales_of_matrix), 0);
  auto scale = [&](int64_t b, int64_t r, int64_t c) -> float& {
    return e.scales[static_cast<size_t>(b * scales_of_matrix + tile_of(tile, m, r, c))];
  };
  auto for_all = [&](auto body) {
    for (int64_t b = 0; b < m.batch; b++)
      for (int64_t r = 0; r < m.rows; r++)
        for (int64_t c = 0; c < m.cols; c++) body(b, r, c);
  };
  for_all([&](int64_t b, int64_t r, int64_t c) {
    scale(b, r, c) = std::max(scale(b, r, c), std::fabs(m.at(b, r, c)));
  });
  for (float& s : e.scales) s = s > 0 ? s / 448 : 1;
  for_all([&](int64_t b, int64_t r, int64_t c) {
    const float quotient = m.at(b, r, c) / scale(b, r, c);
    e.codes.push_back(static_cast<uint8_t>(
        encode(static_cast<double>(quotient), DType::kF8E4M3, Overflow::kSaturate)));
  });
  return e;
}

std::vector<uint16_t> as_bf16(const std::vector<float>& values) {
  std::vector<uint16_t> bits(values.size());
  convert(values.data(), DType::kF32, bits.data(), DType::kBF16, values.size());
  return bits;
}

// Where element (b, r, c) lies, and how much memory that takes.
int64_t place(const Fp8Strides& s, int64_t b, int64_t r, int64_t c) {
  return b * s.batch + r * s.row + c * s.col;
}

const Fp8Tile kTiles[] = {Fp8Tile::kTensor,     Fp8Tile::kRow,          Fp8Tile::kColumn,
                          Fp8Tile::kBlock1x128, Fp8Tile::kBlock128x128, Fp8Tile::kBlock128x1};

class Fp8Layout : public TargetTest {
 protected:
  // x contiguous; codes with the strides, `bytes` in all.
  void expect_right(const Matrices& m, Fp8Tile tile, const Fp8Strides& q, int64_t bytes) {
    SCOPED_TRACE(::testing::Message() << "tile " << static_cast<int>(tile) << ", " << m.batch << "x"
                                      << m.rows << "x" << m.cols);
    Fp8QuantizeArgs a;
    a.tile = tile;
    a.batch = m.batch, a.rows = m.rows, a.cols = m.cols;
    a.x_strides = {m.rows * m.cols, m.cols, 1};
    a.q_strides = q;
    a.scale_strides = contiguous_scales(tile, m.rows, m.cols);
    const Expectation expected = expectation(m, tile, a.scale_strides.batch);
    DeviceBuffer x = DeviceBuffer::of(target(), as_bf16(m.values));
    DeviceBuffer codes(target(), static_cast<size_t>(bytes));
    DeviceBuffer scales(target(), expected.scales.size() * sizeof(float));
    DeviceBuffer workspace(target(), fp8_quantize_workspace(a, target().target));
    codes.fill(0xa5);
    a.x = x.data(), a.q = codes.as<uint8_t>(), a.scale = scales.as<float>();
    a.workspace = workspace.data();
    ASSERT_EQ(fp8_quantize(a, target().target, nullptr), cudaSuccess);
    ASSERT_TRUE(finish(target()));
    EXPECT_EQ(scales.values<float>(), expected.scales);
    std::vector<uint8_t> wanted(static_cast<size_t>(bytes), 0xa5);
    size_t i = 0;
    for (int64_t b = 0; b < m.batch; b++)
      for (int64_t r = 0; r < m.rows; r++)
        for (int64_t c = 0; c < m.cols; c++)
          wanted[static_cast<size_t>(place(q, b, r, c))] = expected.codes[i++];
    EXPECT_EQ(codes.values<uint8_t>(), wanted);
    for (DeviceBuffer* buffer : {&x, &codes, &scales, &workspace})
      EXPECT_TRUE(buffer->check_guards());
  }
};
NRD_ON_EVERY_TARGET(Fp8Layout);

TEST_P(Fp8Layout, CodesAreTransposedWhileTheyAreMade) {
  for (auto [rows, cols] : {std::pair{144, 136}, {130, 260}, {37, 5}, {1, 9}, {300, 1}}) {
    const Matrices m = random_matrices(1, rows, cols);
    const int64_t pitch = (rows + 15) / 16 * 16;
    for (Fp8Tile tile : kTiles) {
      expect_right(m, tile, {0, 1, pitch}, pitch * cols);
      expect_right(m, tile, {0, 1, rows + 3}, (rows + 3) * cols);  // no vectors
    }
  }
}

TEST_P(Fp8Layout, BatchesHaveScalesOfTheirOwn) {
  const Matrices m = random_matrices(3, 40, 136);
  for (Fp8Tile tile : kTiles) {
    expect_right(m, tile, {40 * 136, 136, 1}, 3 * 40 * 136);
    expect_right(m, tile, {48 * 136, 1, 48}, 3 * 48 * 136);
    expect_right(m, tile, {136, 3 * 136, 1}, 3 * 40 * 136);  // interleaved
  }
}

TEST_P(Fp8Layout, MoreMatricesThanAGridHasRows) {
  if (target().is_emulated()) GTEST_SKIP() << "17 million threads take half a minute";
  const Matrices m = random_matrices(65540, 2, 2);
  expect_right(m, Fp8Tile::kBlock128x128, {4, 2, 1}, 4 * 65540);
}

TEST_P(Fp8Layout, CopiesTranspose) {
  for (auto [rows, cols] : {std::pair{160, 144}, {129, 131}, {5, 300}, {1, 1}}) {
    std::vector<uint8_t> bytes;
    for (int64_t i = 0; i < 2 * rows * cols; i++)
      bytes.push_back(static_cast<uint8_t>(i * 7 + i / 256));
    for (int64_t pitch : {(rows + 15) / 16 * 16, rows + 1}) {
      Fp8CopyArgs a;
      a.batch = 2, a.rows = rows, a.cols = cols;
      a.from_strides = {rows * cols, cols, 1};
      a.to_strides = {pitch * cols, 1, pitch};
      DeviceBuffer from = DeviceBuffer::of(target(), bytes);
      DeviceBuffer to(target(), static_cast<size_t>(2 * pitch * cols));
      to.fill(0x11);
      a.from = from.as<uint8_t>(), a.to = to.as<uint8_t>();
      ASSERT_EQ(fp8_copy(a, target().target, nullptr), cudaSuccess);
      ASSERT_TRUE(finish(target()));
      std::vector<uint8_t> wanted(to.bytes(), 0x11);
      for (int64_t b = 0; b < 2; b++)
        for (int64_t r = 0; r < rows; r++)
          for (int64_t c = 0; c < cols; c++)
            wanted[static_cast<size_t>(place(a.to_strides, b, r, c))] =
                bytes[static_cast<size_t>(place(a.from_strides, b, r, c))];
      EXPECT_EQ(to.values<uint8_t>(), wanted) << rows << "x" << cols << ", pitch " << pitch;
      EXPECT_TRUE(to.check_guards());
    }
  }
}

// One scale, codes and guards of a tensor on a machine of this size with these kernels.
void expect_tensor(const TestTarget& target, const Target& machine, const Matrices& m) {
  Fp8QuantizeArgs a;
  a.rows = m.rows, a.cols = m.cols;
  a.x_strides = a.q_strides = {0, m.cols, 1};
  DeviceBuffer x = DeviceBuffer::of(target, as_bf16(m.values));
  DeviceBuffer codes(target, m.values.size()), scale(target, sizeof(float));
  DeviceBuffer workspace(target, fp8_quantize_workspace(a, machine));
  a.x = x.data(), a.q = codes.as<uint8_t>(), a.scale = scale.as<float>();
  a.workspace = workspace.data();
  ASSERT_EQ(fp8_quantize(a, machine, nullptr), cudaSuccess);
  ASSERT_TRUE(finish(target));
  const Expectation expected = expectation(m, Fp8Tile::kTensor, 1);
  EXPECT_EQ(codes.values<uint8_t>(), expected.codes);
  EXPECT_EQ(scale.values<float>(), expected.scales);
  EXPECT_TRUE(codes.check_guards());
  EXPECT_TRUE(workspace.check_guards());
}

TEST_P(Fp8Layout, MachinesThatKeepLittleOnTheChipStreamTheRest) {
  if (!target().is_emulated()) GTEST_SKIP() << "a real device is as large as it is";
  for (int shared_bytes : {48 * 1024, 100 * 1024})
    for (int multiprocessors : {1, 3}) {
      Target small = target().target;
      small.device.shared_bytes = shared_bytes;
      small.device.multiprocessors = multiprocessors;
      expect_tensor(target(), small, random_matrices(1, 331, 401));
    }
}

TEST_P(Fp8Layout, TensorsAreReadTwiceWhereAGridDoesNotFit) {
  KernelTables tables = *target().target.kernels;
  Fp8Kernels kernels = *tables.fp8;
  kernels.quantize_on_chip = [](const Fp8QuantizeArgs&, const Fp8FlatPlan&, Stream) {
    return cudaErrorCooperativeLaunchTooLarge;
  };
  tables.fp8 = &kernels;
  expect_tensor(target(), {target().target.device, &tables}, random_matrices(1, 331, 401));
}

}  // namespace
}  // namespace nrd::cuda
