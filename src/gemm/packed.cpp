// SPDX-License-Identifier: MIT
// src/gemm/packed.cpp: see packed.h.
#include "gemm/packed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/convert.h"
#include "base/pages.h"
#include "gemm/matrix_packer.h"

namespace nrd::gemm {

Expected<PackedLayout> make_packed_layout(const Family& family, DType source, int64_t k,
                                          int64_t n) {
  NRD_TRY(check_dtypes(family, source, source));
  const int64_t columns = family.columns();
  const int64_t padded = n > INT64_MAX - columns ? n : (n + columns - 1) / columns * columns;
  const int64_t depth = family.depth;
  const int64_t whole = k > INT64_MAX - depth ? k : family.steps(k) * depth;
  // One row more for the corrections, and never nothing: a panel's bytes are computed all the same.
  const int64_t rows = whole > INT64_MAX - 4 ? whole : whole + 4;
  Expected<int64_t> count =
      element_count({rows, std::max(padded, columns)}, static_cast<size_t>(family.element));
  if (!count) return count.error();
  return PackedLayout{&family, source, k, n};
}

namespace {

std::string family_text(const Family& family) {
  return fmt::format("{} ({}, {}x{})", family.isa, numerics_word(family.numerics), family.depth,
                     family.columns());
}

}  // namespace

Expected<void> check_packed(const PackedLayout& has, const Family& family, int64_t k, int64_t n) {
  if (has.family != &family) {
    return make_error({.code = ErrorCode::kUnsupported,
                       .op = "gemm_prepacked",
                       .argument = "packed",
                       .got = fmt::format("a matrix packed for {}", family_text(*has.family)),
                       .allowed = fmt::format("one packed for {}", family_text(family)),
                       .hint = "pack it on the machine that uses it"});
  }
  if (has.k != k || has.n != n) {
    return make_error({.code = ErrorCode::kShapeMismatch,
                       .op = "gemm_prepacked",
                       .argument = "packed",
                       .got = fmt::format("[{}, {}]", has.k, has.n),
                       .allowed = fmt::format("[{}, {}]", k, n)});
  }
  return {};
}

void PackedMatrix::Unmap::operator()(void* data) const { unmap_pages(data, bytes); }

Expected<PackedMatrix> PackedMatrix::make(const jit::Target& target, const PackedLayout& layout,
                                          const Matrix& b, const Exec& exec) {
  PackedMatrix packed;
  packed.layout_ = layout;
  const size_t bytes = std::max<size_t>(layout.bytes(), 1);
  packed.data_ = {map_pages(bytes), Unmap{bytes}};
  if (!packed.data_) {
    return make_error({.code = ErrorCode::kEnvironment,
                       .op = "pack_b",
                       .argument = "memory",
                       .got = fmt::format("{} for {} bytes", std::strerror(errno), bytes)});
  }
  NRD_TRY(pack_b(target, layout, b, packed.data_.get(), exec));
  return packed;
}

Expected<void> pack_b(const jit::Target& target, const PackedLayout& layout, const Matrix& b,
                      void* to, const Exec& exec) {
  Expected<MatrixPacker> packer = MatrixPacker::make(target, layout, b);
  if (!packer) return packer.error();
  packer->run(b.data, b.scales, to, exec);
  return {};
}

namespace {

// Where an element of a panel is, in bytes.
int64_t element_at(const Family& family, int64_t k, int64_t column) {
  const int64_t part = family.part_columns(), group = family.group;
  const int64_t step = k / family.depth * family.columns() * family.depth;
  const int64_t apart = column / part * part * family.depth;
  const int64_t within = (k % family.depth / group * part + column % part) * group + k % group;
  return (step + apart + within) * family.element;
}

}  // namespace

// f32 narrows to what it was widened from; the others are as they were (an i16 of an i8: its low
// byte).
void unpack_b(const PackedLayout& layout, const void* packed, void* to) {
  const Family& family = *layout.family;
  const int64_t width = family.columns();
  const auto size = static_cast<int64_t>(byte_size(layout.source));
  const DType held = family.arithmetic == Arithmetic::kFma ? DType::kF32 : layout.source;
  for (int64_t n = 0; n < layout.n; n++) {
    const char* panel = static_cast<const char*>(packed) + n / width * layout.panel_bytes();
    for (int64_t k = 0; k < layout.k; k++) {
      convert(panel + element_at(family, k, n % width), held,
              static_cast<char*>(to) + (k * layout.n + n) * size, layout.source, 1);
    }
  }
}

}  // namespace nrd::gemm
