// SPDX-License-Identifier: MIT
// src/gemm/packed.cpp: see packed.h.
#include "gemm/packed.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "gemm/packer.h"

namespace nrd::gemm {

Expected<PackedLayout> make_packed_layout(const Family& family, DType source, int64_t k,
                                          int64_t n) {
  if (source != DType::kF32 && source != DType::kF16 && source != DType::kBF16) {
    return make_error({.code = ErrorCode::kUnsupported,
                       .op = "pack_b",
                       .argument = "b",
                       .got = std::string(word(source)),
                       .allowed = "f32, f16, bf16"});
  }
  const int64_t columns = family.columns();
  const int64_t padded = n > INT64_MAX - columns ? n : (n + columns - 1) / columns * columns;
  Expected<int64_t> count = element_count({k, padded}, byte_size(family.element));
  if (!count) return count.error();
  return PackedLayout{&family, source, k, n};
}

Expected<void> check_packed(const PackedLayout& has, const Family& family, int64_t k, int64_t n) {
  if (has.family != &family) {
    return make_error({.code = ErrorCode::kUnsupported,
                       .op = "gemm_prepacked",
                       .argument = "packed",
                       .got = fmt::format("a matrix packed for {}", has.family->isa),
                       .allowed = fmt::format("one packed for {}", family.isa),
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

void PackedMatrix::Unmap::operator()(void* data) const { munmap(data, bytes); }

Expected<PackedMatrix> PackedMatrix::make(const jit::Target& target, const PackedLayout& layout,
                                          const Matrix& b, const Exec& exec) {
  constexpr size_t kHugePage = size_t{2} << 20;
  PackedMatrix packed;
  packed.layout_ = layout;
  const size_t bytes =
      std::max<size_t>((layout.bytes() + kHugePage - 1) / kHugePage, 1) * kHugePage;
  void* map =
      mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) {
    return make_error({.code = ErrorCode::kEnvironment,
                       .op = "pack_b",
                       .argument = "memory",
                       .got = fmt::format("{} for {} bytes", std::strerror(errno), bytes)});
  }
  // A whole number of aligned huge pages; what is left over at both ends goes back.
  char* first = static_cast<char*>(map);
  const size_t skip = (kHugePage - reinterpret_cast<uintptr_t>(first) % kHugePage) % kHugePage;
  if (skip > 0) munmap(first, skip);
  munmap(first + skip + bytes, kHugePage - skip);
  madvise(first + skip, bytes, MADV_HUGEPAGE);
  packed.data_ = {first + skip, Unmap{bytes}};
  NRD_TRY(pack_b(target, layout, b, packed.data_.get(), exec));
  return packed;
}

Expected<void> pack_b(const jit::Target& target, const PackedLayout& layout, const Matrix& b,
                      void* to, const Exec& exec) {
  const Cut cut = Cut::full(layout.n, layout.family->columns());
  Expected<Packer> packer =
      Packer::make(target, b.dtype, b.row, b.column, cut, layout.family->columns());
  if (!packer) return packer.error();
  parallel_for(exec, cut.panels, 1, [&](int64_t begin, int64_t end) {
    for (int64_t panel = begin; panel < end; panel++) {
      packer->pack(b.data, panel, 0, layout.k,
                   static_cast<char*>(to) + panel * layout.panel_bytes());
    }
  });
  return {};
}

void unpack_b(const PackedLayout& layout, const void* packed, float* to) {
  const int64_t width = layout.family->columns();
  for (int64_t panel = 0; panel < layout.panels(); panel++) {
    const int64_t columns = std::min(width, layout.n - panel * width);
    const auto* from = reinterpret_cast<const float*>(static_cast<const char*>(packed) +
                                                      panel * layout.panel_bytes());
    for (int64_t k = 0; k < layout.k; k++) {
      std::copy_n(from + k * width, columns, to + k * layout.n + panel * width);
    }
  }
}

}  // namespace nrd::gemm
