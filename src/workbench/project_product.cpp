// SPDX-License-Identifier: MIT
// src/workbench/project_product.cpp: one number a row that holds every element of a product.
#include <algorithm>
#include <cmath>

#include "base/convert.h"
#include "workbench/data.h"
#include "workbench/reference.h"

namespace nrd {
namespace {

// A random sign for each column, the same in every process.
double random_sign(uint64_t seed, int64_t column) {
  uint64_t x =
      (seed + 1) * 0x9e3779b97f4a7c15ull + static_cast<uint64_t>(column) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 29)) * 0x94d049bb133111ebull;
  return (x ^ (x >> 32)) & 1 ? 1.0 : -1.0;
}

}  // namespace

double project_product(const Case& c, const std::vector<char>& output, double tolerance) {
  const std::string& op = c.desc.op->name;
  const bool biased = op == "gemm_bias";
  if (op != "gemm" && op != "gemm_prepacked" && !biased) return -1;
  const int64_t m = c.desc.operands[0].sizes[0], k = c.desc.operands[0].sizes[1];
  const int64_t n = c.desc.operands[1].sizes[1];
  auto sign = [&](int64_t j) { return random_sign(c.spec.seed, j); };
  const OperandValues sources[] = {{c, 0}, {c, 1}, {c, biased ? size_t{2} : size_t{0}}};
  auto value = [&](size_t operand, int64_t i) {
    const DType dtype = c.desc.operands[operand].dtype;
    return decode(encode(sources[operand][static_cast<uint64_t>(i)], dtype, Overflow::kIeee),
                  dtype);
  };
  std::vector<double> br(static_cast<size_t>(k), 0.0);
  for (int64_t p = 0; p < k; p++)
    for (int64_t j = 0; j < n; j++) br[static_cast<size_t>(p)] += value(1, p * n + j) * sign(j);
  double shift = 0;
  for (int64_t j = 0; biased && j < n; j++) shift += value(2, j) * sign(j);
  std::vector<double> row(static_cast<size_t>(n));
  const DType dtype = c.desc.operands.back().dtype;
  const double half_unit = dtype == DType::kF32 || !is_float(dtype)
                               ? 0
                               : std::ldexp(1.0, -info(dtype).mantissa_bits - 1);
  double worst = 0;
  for (int64_t i = 0; i < m; i++) {
    convert(output.data() + static_cast<size_t>(i * n) * byte_size(dtype), dtype, row.data(),
            DType::kF64, row.size());
    double left = 0, right = shift, largest = 1;
    for (int64_t j = 0; j < n; j++) {
      left += row[static_cast<size_t>(j)] * sign(j);
      largest = std::max(largest, std::fabs(row[static_cast<size_t>(j)]));
    }
    for (int64_t p = 0; p < k; p++) right += value(0, i * k + p) * br[static_cast<size_t>(p)];
    // Independent errors add up like a random walk; six deviations leave no false alarm.
    const double allowed =
        is_float(dtype) ? 6 * std::sqrt(static_cast<double>(n)) * (tolerance + half_unit) * largest
                        : 0.5;
    worst = std::max(worst, std::isnan(left) ? HUGE_VAL : std::fabs(left - right) / allowed);
  }
  return worst;
}

}  // namespace nrd
