// SPDX-License-Identifier: MIT
// tests/cuda/emulator/products.cpp: what tensor cores compute.
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "emulator/mma_sync.h"
#include "emulator/tma.h"
#include "emulator/wgmma.h"

namespace nrd::cuda::emulator {

struct Product {
  int columns = 0;
  uint64_t a = 0, b = 0;
  bool accumulate = false;
  int issued = 0;  // threads that have
  std::array<float*, 128> sums{};
};

namespace {

// All values of the narrow types, decoded once.
const std::array<float, 256> kE4m3Values = [] {
  std::array<float, 256> all{};
  for (size_t i = 0; i < all.size(); i++) {
    __nv_fp8_e4m3 x;
    x.__x = static_cast<unsigned char>(i);
    all[i] = static_cast<float>(x);
  }
  return all;
}();
const std::vector<float> kF16Values = [] {
  std::vector<float> all(1 << 16);
  for (size_t i = 0; i < all.size(); i++) {
    __half_raw raw;
    raw.x = static_cast<unsigned short>(i);
    all[i] = __half2float(__half(raw));
  }
  return all;
}();

constexpr int kGroup = 128;    // threads
constexpr int64_t kOpen = -1;  // the last of a thread's groups, which a fence has begun
constexpr int kRows = 64, kDepth = 32;

// The byte `k` of row `row` of a K-major tile, in the window of shared memory.
uint32_t tile_address(uint64_t descriptor, uint32_t row, uint32_t k) {
  const auto start = static_cast<uint32_t>(descriptor & 0x3fff) << 4;
  const auto leading = static_cast<uint32_t>(descriptor >> 16 & 0x3fff) << 4;
  const auto stride = static_cast<uint32_t>(descriptor >> 32 & 0x3fff) << 4;
  const uint32_t group = start + row / 8 * stride, within = row % 8;
  switch (descriptor >> 62) {
    case 1: return swizzled(group + within * 128 + k, Swizzle::k128B);
    case 2: return swizzled(group + within * 64 + k, Swizzle::k64B);
    case 3: return swizzled(group + within * 32 + k, Swizzle::k32B);
    default: return group + within * 16 + k / 16 * leading + k % 16;
  }
}

void read_tile(const Block& block, uint64_t descriptor, int rows, float* values) {
  if (descriptor >> 49 & 7) fail("a tile descriptor with a base offset");
  for (int row = 0; row < rows; row++) {
    for (int k = 0; k < kDepth; k += 16) {
      const uint32_t address =
          tile_address(descriptor, static_cast<uint32_t>(row), static_cast<uint32_t>(k));
      const auto* codes = static_cast<const unsigned char*>(shared_pointer(block, address, 16));
      for (int i = 0; i < 16; i++) values[row * kDepth + k + i] = kE4m3Values[codes[i]];
    }
  }
}

// What a product reads, from its issue to the wait: `number` is its count.
void note_tiles(Thread& by, ProductQueue& queue, const Product& p, int64_t number) {
  Block& block = *by.block;
  if (queue.agent == 0) queue.agent = block.order->add_agent();
  const auto note = [&](uint64_t descriptor, int rows) {
    for (int row = 0; row < rows; row++) {
      for (uint32_t k = 0; k < kDepth; k += 16) {
        const uint32_t address = tile_address(descriptor, static_cast<uint32_t>(row), k);
        const auto* at = static_cast<const char*>(shared_pointer(block, address, 16));
        block.shadow->read_async(by, static_cast<size_t>(at - block.shared), 16, queue.agent,
                                 static_cast<uint32_t>(number));
      }
    }
  };
  note(p.a, kRows);
  note(p.b, p.columns);
}

void execute(const Block& block, const Product& p) {
  // Too much for the stack of a fiber; one product is executed at a time.
  static std::array<float, kRows * kDepth> a;
  static std::array<float, 256 * kDepth> b, b_by_k;
  read_tile(block, p.a, kRows, a.data());
  read_tile(block, p.b, p.columns, b.data());
  for (int n = 0; n < p.columns; n++) {
    for (int k = 0; k < kDepth; k++)
      b_by_k[static_cast<size_t>(k * p.columns + n)] = b[static_cast<size_t>(n * kDepth + k)];
  }
  std::array<float, 256> sums;
  for (int row = 0; row < kRows; row++) {
    std::fill_n(sums.data(), p.columns, 0.0f);
    for (int k = 0; k < kDepth; k++) {
      const float x = a[static_cast<size_t>(row * kDepth + k)];
      const float* y = b_by_k.data() + k * p.columns;
      for (int n = 0; n < p.columns; n++) sums[static_cast<size_t>(n)] += x * y[n];
    }
    // Row 16 w + 8 h + g belongs to lanes 4 g to 4 g + 3 of warp w.
    const int first_thread = row / 16 * 32 + row % 8 * 4, h = row % 16 / 8;
    for (int n = 0; n < p.columns; n++) {
      float* d = p.sums[static_cast<size_t>(first_thread + n % 8 / 2)];
      float& to = d[n / 8 * 4 + 2 * h + n % 2];
      to = (p.accumulate ? to : 0.0f) + sums[static_cast<size_t>(n)];
    }
  }
}

// All products up to number `end`, in order; all 128 threads have issued them.
void execute_until(Block& block, ProductQueue& queue, int64_t end) {
  while (queue.executed < end) {
    execute(block, *queue.products.front());
    queue.products.pop_front();
    queue.executed++;
  }
}

ProductQueue& queue_of(Thread& t) {
  return t.block->warpgroups[static_cast<size_t>(t.index / kGroup)];
}

// All values of a type of few bits, decoded once.
int decode_values(MmaType type, const unsigned char* bytes, float* values) {
  if (type == MmaType::kE4M3) {
    for (int i = 0; i < 32; i++) values[i] = kE4m3Values[bytes[i]];
    return 32;
  }
  for (int i = 0; i < 16; i++) {
    uint16_t word;
    std::memcpy(&word, bytes + 2 * i, 2);
    values[i] = type == MmaType::kF16 ? kF16Values[word] : std::bit_cast<float>(word << 16);
  }
  return 16;
}

// In eight chains, which the compiler turns into vectors.
float dot(const float* a, const float* b, int count) {
  float sums[8] = {};
  for (int i = 0; i < count; i += 8) {
    for (int j = 0; j < 8; j++) sums[j] += a[i + j] * b[i + j];
  }
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

}  // namespace

void wgmma_fence() {
  exchange(0xffffffff, "wgmma_fence", Words{}, true);
  self().product_groups.push_back(kOpen);
}

void wgmma_issue(float* d, int columns, uint64_t a, uint64_t b, bool accumulate) {
  Thread& t = self();
  if (t.product_groups.empty() || t.product_groups.back() != kOpen)
    fail("a group of wgmma without wgmma_fence() in front: its sums may still be written");
  ProductQueue& queue = queue_of(t);
  const int64_t number = t.products++ - queue.executed;
  if (number == static_cast<int64_t>(queue.products.size())) {
    queue.products.push_back(std::make_shared<Product>());
    *queue.products.back() = {.columns = columns, .a = a, .b = b, .accumulate = accumulate};
  }
  Product& p = *queue.products[static_cast<size_t>(number)];
  if (p.columns != columns || p.a != a || p.b != b || p.accumulate != accumulate)
    fail("a wgmma differs between the threads of the warpgroup");
  p.sums[static_cast<size_t>(t.index % kGroup)] = d;
  if (++p.issued < kGroup) return;
  note_tiles(t, queue, p, queue.executed + number + 1);
  if (!prefers_late()) execute_until(*t.block, queue, queue.executed + number + 1);
}

void wgmma_commit() {
  Thread& t = self();
  if (!t.product_groups.empty() && t.product_groups.back() == kOpen) t.product_groups.pop_back();
  t.product_groups.push_back(t.products);
}

void wgmma_wait(int groups) {
  Thread& t = self();
  ProductQueue& queue = queue_of(t);
  int64_t end = 0;
  while (static_cast<int>(t.product_groups.size()) > groups) {
    end = t.product_groups.front();
    t.product_groups.pop_front();
  }
  const auto is_issued = [&] {
    if (queue.executed >= end) return true;
    const auto last = static_cast<size_t>(end - queue.executed - 1);
    return queue.products[last]->issued == kGroup;
  };
  wait_until(is_issued, [&] {
    return "wgmma number " + std::to_string(end - 1) + " of the warpgroup, which " +
           std::to_string(queue.products[static_cast<size_t>(end - queue.executed - 1)]->issued) +
           " of 128 threads have issued";
  });
  execute_until(*t.block, queue, end);
  if (end > 0) t.clock.learn_fenced(queue.agent, static_cast<uint32_t>(end));
}

void mma_m16n8(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], MmaType type) {
  Words own;
  std::memcpy(own.of.data(), a, 16);
  std::memcpy(own.of.data() + 2, b, 8);
  const Words* all = exchange(0xffffffff, "mma.sync", own);
  const int g = lane() / 4, t = lane() % 4;
  // Lanes 4 g to 4 g + 3 hold rows g and g + 8 of a, and column g of b.
  unsigned char rows[2][32], columns[2][32];
  for (int i = 0; i < 4; i++) {
    const auto* words = reinterpret_cast<const unsigned char*>(&all[4 * g + i]);
    for (int half = 0; half < 2; half++) {
      std::memcpy(rows[0] + 16 * half + 4 * i, words + 8 * half, 4);
      std::memcpy(rows[1] + 16 * half + 4 * i, words + 8 * half + 4, 4);
      for (int c = 0; c < 2; c++) {
        const auto* of_b = reinterpret_cast<const unsigned char*>(&all[4 * (2 * t + c) + i]) + 16;
        std::memcpy(columns[c] + 16 * half + 4 * i, of_b + 4 * half, 4);
      }
    }
  }
  float x[2][32], y[2][32];
  int count = 0;
  for (int i = 0; i < 2; i++) {
    count = decode_values(type, rows[i], x[i]);
    decode_values(type, columns[i], y[i]);
  }
  for (int i = 0; i < 4; i++) d[i] += dot(x[i / 2], y[i % 2], count);
}

}  // namespace nrd::cuda::emulator
