// SPDX-License-Identifier: MIT
// src/workbench/data.cpp: counter-based data; no state, no order.
#include "workbench/data.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/convert.h"

namespace nrd {
namespace {

// splitmix64's finaliser: every bit of the counter reaches every bit of the result.
uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// Four 16-bit uniforms added up: near enough to a normal (variance 1, never beyond 3.5), and
// cheap enough for gigabytes.
double normal(uint64_t bits) {
  uint64_t sum = (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
  return (static_cast<double>(sum) / 65536.0 - 2.0) * 1.7320508;
}

enum class Role { kValue, kScale, kIndex, kInteger };

// What an operand holds follows from its dtype and its name.
struct Filler {
  Role role = Role::kValue;
  int64_t indices = 1;       // kIndex: how many there are to point at
  double low = 0, high = 0;  // kInteger
  Distribution distribution = Distribution::kNormal;
  uint64_t key = 0;
  double constant = 1.5;

  double value(uint64_t i) const {
    const uint64_t bits = mix(key ^ mix(i));
    if (role == Role::kIndex) return static_cast<double>(bits % static_cast<uint64_t>(indices));
    if (role == Role::kInteger)
      return low + static_cast<double>(bits % static_cast<uint64_t>(high - low + 1));
    if (role == Role::kScale) return 0.5 + static_cast<double>(bits >> 40) / (1 << 24);
    switch (distribution) {
      case Distribution::kNormal: return normal(bits);
      case Distribution::kWide:
        return std::ldexp(normal(bits), static_cast<int>(mix(bits) % 25) - 12);
      case Distribution::kOutliers: return normal(bits) * (mix(bits) % 256 == 0 ? 64 : 1);
      case Distribution::kDenormal: return normal(bits) * 1e-39;
      case Distribution::kConstant: return constant;
      case Distribution::kSpecial: return special(bits);
    }
    return 0;
  }

  static double special(uint64_t bits) {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    switch (mix(bits) % 512) {
      case 0: return std::numeric_limits<double>::quiet_NaN();
      case 1: return kInf;
      case 2: return -kInf;
      case 3: return -0.0;
      case 4: return 0.0;
      default: return normal(bits);
    }
  }
};

Filler make_filler(const Case& c, size_t index) {
  const Signature& s = c.desc.signature();
  const OperandSpec& spec = s.operands[index];
  Filler f;
  f.distribution = c.spec.distribution;
  f.key = mix(c.spec.seed * 0x51ed27f5ull + index);
  f.constant = index % 2 ? -0.75 : 1.5;  // sums of them are exact
  const DType dtype = c.desc.operands[index].dtype;
  if (dtype == DType::kI32) {
    f.role = Role::kIndex;
    f.indices = 4096;  // positions, unless they point into a table
    std::string_view gathers = c.desc.op->gathers;
    int table = s.find_operand(gathers.substr(0, gathers.find(' ')));
    if (table >= 0)
      f.indices = c.desc.operands[static_cast<size_t>(table)].sizes[0];
    else if (spec.name == "acc")
      f.role = Role::kInteger, f.low = -100000, f.high = 100000;
    f.indices = std::max<int64_t>(f.indices, 1);
  } else if (dtype == DType::kI8 || dtype == DType::kU8) {
    f.role = Role::kInteger;
    f.low = dtype == DType::kI8 ? -127 : 0;
    f.high = dtype == DType::kI8 ? 127 : 255;
  } else if (spec.name.ends_with("scale") || spec.name == "scale_in") {
    f.role = Role::kScale;
  }
  return f;
}

}  // namespace

double element_value(const Case& c, size_t operand, uint64_t logical_index) {
  return make_filler(c, operand).value(logical_index);
}

void fill_operand(const Case& c, size_t index, void* data) {
  const OperandDesc& operand = c.desc.operands[index];
  const Filler filler = make_filler(c, index);
  const int rank = operand.sizes.size();
  for (int64_t size : operand.sizes)
    if (size == 0) return;
  // Walk memory in its own order (largest stride outermost), whatever the logical order is.
  const Dims logical = contiguous_strides(operand.sizes);
  std::vector<int> order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return operand.strides[a] > operand.strides[b]; });
  const int inner = rank ? order.back() : 0;
  const int64_t cols = rank ? operand.sizes[inner] : 1;
  const int64_t step = rank ? operand.strides[inner] : 1;
  const uint64_t logical_step = rank ? static_cast<uint64_t>(logical[inner]) : 1;
  const auto bytes = static_cast<int64_t>(byte_size(operand.dtype));
  std::vector<double> values(static_cast<size_t>(cols));
  std::vector<char> row(static_cast<size_t>(cols * bytes));
  int64_t rows = 1;
  for (int d = 0; d + 1 < rank; d++) rows *= operand.sizes[order[static_cast<size_t>(d)]];
  for (int64_t r = 0; r < rows; r++) {
    int64_t offset = 0, rest = r;
    uint64_t first = 0;
    for (int d = rank - 2; d >= 0; d--) {
      const int axis = order[static_cast<size_t>(d)];
      offset += rest % operand.sizes[axis] * operand.strides[axis];
      first += static_cast<uint64_t>(rest % operand.sizes[axis] * logical[axis]);
      rest /= operand.sizes[axis];
    }
    for (size_t i = 0; i < values.size(); i++) values[i] = filler.value(first + i * logical_step);
    char* to = static_cast<char*>(data) + offset * bytes;
    if (step == 1) {
      convert(values.data(), DType::kF64, to, operand.dtype, values.size());
      continue;
    }
    convert(values.data(), DType::kF64, row.data(), operand.dtype, values.size());
    for (int64_t i = 0; i < cols; i++)
      std::copy_n(row.data() + i * bytes, bytes, to + i * step * bytes);
  }
}

}  // namespace nrd
