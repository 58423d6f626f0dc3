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
#include "base/threads.h"

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

// A true normal, by Box and Muller, for data whose tails matter.
double exact_normal(uint64_t bits) {
  const double u = (static_cast<double>(bits >> 32) + 0.5) * 0x1p-32;
  const double v = static_cast<double>(bits & 0xffffffff) * 0x1p-32;
  return std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * v);
}

double special(uint64_t bits) {
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

// The largest of 30 million normal values: what a weight of an 8-bit model is scaled by.
constexpr double kLargestNormal = 5.5;

double full_range(uint64_t bits, double largest) {
  const double value = exact_normal(bits);
  return largest > 0 ? std::clamp(value * largest / kLargestNormal, -largest, largest) : value;
}

}  // namespace

OperandValues::OperandValues(const Case& c, size_t index) {
  const Signature& s = c.desc.signature();
  const OperandSpec& spec = s.operands[index];
  distribution_ = c.spec.distribution;
  key_ = mix(c.spec.seed * 0x51ed27f5ull + index);
  constant_ = index % 2 ? -0.75 : 1.5;  // sums of them are exact
  const DType dtype = c.desc.operands[index].dtype;
  if (dtype == DType::kF8E4M3 || dtype == DType::kF8E5M2) largest_ = info(dtype).max;
  if (dtype == DType::kI32) {
    role_ = Role::kIndex;
    indices_ = 4096;  // positions, unless they point into a table
    std::string_view gathers = c.desc.op->gathers;
    int table = s.find_operand(gathers.substr(0, gathers.find(' ')));
    if (table >= 0)
      indices_ = c.desc.operands[static_cast<size_t>(table)].sizes[0];
    else if (spec.name == "acc")
      role_ = Role::kInteger, low_ = -100000, high_ = 100000;
    indices_ = std::max<int64_t>(indices_, 1);
  } else if (dtype == DType::kI8 || dtype == DType::kU8) {
    role_ = Role::kInteger;
    low_ = dtype == DType::kI8 ? -127 : 0;
    high_ = dtype == DType::kI8 ? 127 : 255;
  } else if (spec.name.ends_with("scale") || spec.name == "scale_in") {
    role_ = Role::kScale;
  }
  // A user's function may be given these values alone.
  for (const ValueCheck& check : c.desc.value_checks)
    if (check.operand == index) {
      role_ = Role::kInteger;
      low_ = std::max(std::ceil(check.low), -100000.0);
      high_ = std::min(std::floor(check.high), 100000.0);
    }
}

double OperandValues::operator[](uint64_t i) const {
  const uint64_t bits = mix(key_ ^ mix(i));
  if (role_ == Role::kIndex) return static_cast<double>(bits % static_cast<uint64_t>(indices_));
  if (role_ == Role::kInteger)
    return low_ + static_cast<double>(bits % static_cast<uint64_t>(high_ - low_ + 1));
  if (role_ == Role::kScale) return 0.5 + static_cast<double>(bits >> 40) / (1 << 24);
  switch (distribution_) {
    case Distribution::kNormal: return normal(bits);
    case Distribution::kWide:
      return std::ldexp(normal(bits), static_cast<int>(mix(bits) % 25) - 12);
    case Distribution::kOutliers: return normal(bits) * (mix(bits) % 256 == 0 ? 64 : 1);
    case Distribution::kDenormal: return normal(bits) * 1e-39;
    case Distribution::kConstant: return constant_;
    case Distribution::kSpecial: return special(bits);
    case Distribution::kFull: return full_range(bits, largest_);
  }
  return 0;
}

bool has_contents(const Desc& desc, size_t operand) {
  const OperandSpec& spec = desc.signature().operands[operand];
  return desc.operands[operand].present && (!spec.output || spec.read);
}

bool reads_outputs(const Desc& desc) {
  const Signature& s = desc.signature();
  for (size_t i = static_cast<size_t>(s.inputs); i < s.operands.size(); i++)
    if (has_contents(desc, i)) return true;
  return false;
}

double element_value(const Case& c, size_t operand, uint64_t logical_index) {
  return OperandValues(c, operand)[logical_index];
}

namespace {

// Memory in its own order (largest stride outermost), whatever the logical order is: rows along
// the innermost axis, long ones cut into pieces.
class Layout {
 public:
  explicit Layout(const OperandDesc& operand)
      : operand_(operand),
        logical_(contiguous_strides(operand.sizes)),
        order_(static_cast<size_t>(operand.sizes.size())) {
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(),
                     [&](int a, int b) { return operand.strides[a] > operand.strides[b]; });
    if (order_.empty()) return;
    const int inner = order_.back();
    cols_ = operand.sizes[inner];
    step_ = operand.strides[inner];
    logical_step_ = logical_[inner];
    order_.pop_back();
    for (int axis : order_) rows_ *= operand.sizes[axis];
  }

  int64_t step() const { return step_; }
  uint64_t logical_step() const { return static_cast<uint64_t>(logical_step_); }
  int64_t pieces() const { return rows_ * pieces_of_row(); }

  struct Piece {
    int64_t offset = 0;  // in elements
    uint64_t logical = 0;
    int64_t count = 0;
  };
  Piece piece(int64_t index) const {
    const int64_t begin = index % pieces_of_row() * kPiece;
    Piece p{.offset = begin * step_,
            .logical = static_cast<uint64_t>(begin * logical_step_),
            .count = std::min(kPiece, cols_ - begin)};
    int64_t rest = index / pieces_of_row();
    for (size_t d = order_.size(); d-- > 0;) {
      const int axis = order_[d];
      p.offset += rest % operand_.sizes[axis] * operand_.strides[axis];
      p.logical += static_cast<uint64_t>(rest % operand_.sizes[axis] * logical_[axis]);
      rest /= operand_.sizes[axis];
    }
    return p;
  }

 private:
  static constexpr int64_t kPiece = 16384;
  int64_t pieces_of_row() const { return (cols_ + kPiece - 1) / kPiece; }

  const OperandDesc& operand_;
  Dims logical_;
  std::vector<int> order_;  // of the outer axes
  int64_t rows_ = 1, cols_ = 1, step_ = 1, logical_step_ = 1;
};

}  // namespace

void fill_operand(const Case& c, size_t index, void* data, int threads) {
  const OperandDesc& operand = c.desc.operands[index];
  for (int64_t size : operand.sizes)
    if (size == 0) return;
  const OperandValues source(c, index);
  const Layout layout(operand);
  const auto bytes = static_cast<int64_t>(byte_size(operand.dtype));
  parallel_for({.threads = threads}, layout.pieces(), 1, [&](int64_t begin, int64_t end) {
    std::vector<double> values;
    std::vector<char> packed;
    for (int64_t at = begin; at < end; at++) {
      const Layout::Piece piece = layout.piece(at);
      values.resize(static_cast<size_t>(piece.count));
      for (size_t i = 0; i < values.size(); i++)
        values[i] = source[piece.logical + i * layout.logical_step()];
      char* to = static_cast<char*>(data) + piece.offset * bytes;
      if (layout.step() == 1) {
        convert(values.data(), DType::kF64, to, operand.dtype, values.size());
        continue;
      }
      packed.resize(values.size() * static_cast<size_t>(bytes));
      convert(values.data(), DType::kF64, packed.data(), operand.dtype, values.size());
      for (int64_t i = 0; i < piece.count; i++)
        std::copy_n(packed.data() + i * bytes, bytes, to + i * layout.step() * bytes);
    }
  });
}

}  // namespace nrd
