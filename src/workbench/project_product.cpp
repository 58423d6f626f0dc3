// SPDX-License-Identifier: MIT
// src/workbench/project_product.cpp: some numbers a row that hold every element of a product.
//
// Columns go in groups. The two sides of c = a b, times a random sign for each column, are added up
// over a group: one number of the output, and one that needs no product. One wrong element shows in
// its group in full. What hides it is the noise of the right ones, which grows with the square root
// of their number: that is why there are groups, and why an error below some size is not found.
#include <algorithm>
#include <cmath>

#include "base/convert.h"
#include "base/threads.h"
#include "workbench/check.h"
#include "workbench/data.h"
#include "workbench/reference.h"

namespace nrd {
namespace {

// Columns of a group: with fewer, smaller errors are found and each row costs more sums.
constexpr int64_t kGroup = 128;
// Independent errors add up like a random walk; six deviations leave no false alarm.
constexpr double kDeviations = 6;

// A random sign for each column, the same in every process.
double random_sign(uint64_t seed, int64_t column) {
  uint64_t x =
      (seed + 1) * 0x9e3779b97f4a7c15ull + static_cast<uint64_t>(column) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 29)) * 0x94d049bb133111ebull;
  return (x ^ (x >> 32)) & 1 ? 1.0 : -1.0;
}

class ProductProjection {
 public:
  ProductProjection(const Case& c, bool has_bias, double tolerance)
      : tolerance_(tolerance),
        m_(c.desc.operands[0].sizes[0]),
        k_(c.desc.operands[0].sizes[1]),
        n_(c.desc.operands[1].sizes[1]),
        out_(c.desc.operands.back().dtype),
        a_(c, 0),
        a_dtype_(c.desc.operands[0].dtype) {
    for (int64_t j = 0; j < n_; j++) signs_.push_back(random_sign(c.spec.seed, j));
    projected_.resize(static_cast<size_t>(k_ * groups()));
    const OperandValues b(c, 1);
    parallel_for(all_cores(), k_, 1, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; p++)
        project(projected_.data() + p * groups(),
                [&](int64_t j) { return stored(b, c.desc.operands[1].dtype, p * n_ + j); });
    });
    shift_.resize(static_cast<size_t>(groups()));
    if (!has_bias) return;
    const OperandValues bias(c, 2);
    project(shift_.data(), [&](int64_t j) { return stored(bias, c.desc.operands[2].dtype, j); });
  }

  Projection compare(const std::vector<char>& output) const {
    std::vector<Projection> rows(static_cast<size_t>(m_));
    parallel_for(all_cores(), m_, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++)
        rows[static_cast<size_t>(i)] =
            compare_row(i, output.data() + static_cast<size_t>(i * n_) * byte_size(out_));
    });
    Projection worst{0, 0};
    for (const Projection& row : rows)
      worst = {std::max(worst.off, row.off), std::max(worst.finds, row.finds)};
    return worst;
  }

 private:
  static Exec all_cores() { return {.threads = available_cores()}; }
  static double stored(const OperandValues& values, DType dtype, int64_t i) {
    return decode(encode(values[static_cast<uint64_t>(i)], dtype, Overflow::kIeee), dtype);
  }
  int64_t groups() const { return (n_ + kGroup - 1) / kGroup; }

  // Adds a row of n values, with their signs, to a sum for each group.
  template <class Values>
  void project(double* sums, const Values& values) const {
    for (int64_t j = 0; j < n_; j++) sums[j / kGroup] += values(j) * signs_[static_cast<size_t>(j)];
  }

  std::vector<double> expected_row(int64_t i) const {
    std::vector<double> sums = shift_;
    for (int64_t p = 0; p < k_; p++) {
      const double x = stored(a_, a_dtype_, i * k_ + p);
      const double* row = projected_.data() + p * groups();
      for (size_t g = 0; g < sums.size(); g++) sums[g] += x * row[g];
    }
    return sums;
  }

  Projection compare_row(int64_t i, const char* output) const {
    const std::vector<double> expected = expected_row(i);
    std::vector<double> row(static_cast<size_t>(n_)), sums(expected.size());
    convert(output, out_, row.data(), DType::kF64, row.size());
    project(sums.data(), [&](int64_t j) { return row[static_cast<size_t>(j)]; });
    double largest = 1;
    for (double value : row) largest = std::max(largest, std::fabs(value));
    Projection worst{0, 0};
    for (size_t g = 0; g < sums.size(); g++) {
      const auto begin = row.begin() + static_cast<ptrdiff_t>(g) * kGroup;
      const auto end = row.end() - begin > kGroup ? begin + kGroup : row.end();
      const double allowed = is_float(out_) ? noise({begin, end}, largest) : 0.5;
      const double off = std::fabs(sums[g] - expected[g]) / allowed;
      worst.off = std::max(worst.off, std::isnan(off) ? HUGE_VAL : off);
      worst.finds = std::max(worst.finds, 2 * allowed / largest);
    }
    return worst;
  }

  // Every element may be off by the tolerance, and was rounded to somewhere within a unit.
  double noise(std::span<const double> values, double largest) const {
    double sum = 0;
    for (double value : values) {
      const double unit = unit_at(value, out_), off = tolerance_ * largest;
      sum += off * off + unit * unit / 12;
    }
    return kDeviations * std::sqrt(sum);
  }

  const double tolerance_;
  const int64_t m_, k_, n_;
  const DType out_;
  const OperandValues a_;
  const DType a_dtype_;
  std::vector<double> signs_, projected_, shift_;  // b and the bias, projected: [k][group], [group]
};

}  // namespace

std::optional<Projection> project_product(const Case& c, const std::vector<char>& output,
                                          double tolerance) {
  const std::string& op = c.desc.op->name;
  const bool has_bias = op == "gemm_bias";
  if ((op != "gemm" && op != "gemm_prepacked" && !has_bias) || !c.desc.leading.empty()) return {};
  return ProductProjection(c, has_bias, tolerance).compare(output);
}

}  // namespace nrd
