// SPDX-License-Identifier: MIT
// tests/kernel/guarded_tensor.h: an operand of any axes order, against a guard page.
#pragma once

#include <cstring>
#include <random>
#include <vector>

#include "base/convert.h"
#include "ops/desc.h"
#include "tests/seed.h"
#include "workbench/memory.h"

namespace nrd {

// `order` lists the axes from the outermost in memory.
struct Tensor {
  Tensor(const Dims& sizes, DType dtype, std::vector<int> order = {}) {
    desc.dtype = dtype;
    desc.sizes = sizes;
    desc.strides = contiguous_strides(sizes);
    int64_t step = 1;
    for (size_t i = order.size(); i-- > 0; step *= sizes[order[i]]) desc.strides[order[i]] = step;
    int64_t count = 1;
    for (int64_t size : sizes) count *= size;
    const auto bytes = static_cast<size_t>(count) * byte_size(dtype);
    buffer = std::move(*Buffer::allocate(bytes, MemoryMode::kGuarded));
    std::memset(buffer.data(), 0xff, bytes);
  }
  Tensor& fill(uint32_t stream) {
    std::mt19937 random(test_seed(stream));
    std::uniform_real_distribution<double> real(-1, 1);
    const size_t size = byte_size(desc.dtype);
    for (size_t i = 0; i < buffer.bytes() / size; i++) {
      const uint64_t bits = encode(real(random), desc.dtype, Overflow::kIeee);
      std::memcpy(static_cast<char*>(buffer.data()) + i * size, &bits, size);
    }
    return *this;
  }
  // The first matrix or vector of an instance: its last `core` axes.
  OperandDesc core(int count) const {
    OperandDesc one = desc;
    one.sizes = one.strides = {};
    for (int d = desc.sizes.size() - count; d < desc.sizes.size(); d++) {
      one.sizes.push_back(desc.sizes[d]);
      one.strides.push_back(desc.strides[d]);
    }
    return one;
  }
  void* at(const Dims& leading, int64_t instance, int core_rank) const {
    const int own = desc.sizes.size() - core_rank;
    int64_t offset = 0;
    for (int d = leading.size(); d-- > 0 && instance > 0; instance /= leading[d]) {
      const int mine = d - (leading.size() - own);
      if (mine >= 0 && desc.sizes[mine] > 1) offset += instance % leading[d] * desc.strides[mine];
    }
    return static_cast<char*>(buffer.data()) + offset * static_cast<int64_t>(byte_size(desc.dtype));
  }
  OperandDesc desc;
  Buffer buffer;
};

}  // namespace nrd
