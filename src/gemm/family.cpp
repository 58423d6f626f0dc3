// SPDX-License-Identifier: MIT
// src/gemm/family.cpp: the table of families, best first.
//
// A tile takes all registers but four: two vectors of B and two broadcasts of A (NEON: three of B,
// two of A). Per step of k a tile does rows x vectors multiply-adds for vectors + rows loads, so
// the largest tile asks least of the caches: 14x32 wants 184 bytes in 28 zmm multiply-adds.
// AMX: 2x2 tiles of sums, two of each operand; a step loads 4 KB for four products of 16 cycles.
#include "gemm/family.h"

#include <fmt/format.h>

namespace nrd::gemm {
namespace {

constexpr IsaSet with(Feature feature) { return IsaSet().with(feature); }
constexpr IsaSet kNothing;
constexpr auto kI8 = Numerics::kInt8, kDot = Numerics::kBf16Dot;

// isa, required, numerics, arithmetic, element, depth, group, rows, vectors, lanes
constexpr Family kFamilies[] = {
    {"avx512", kNothing, Numerics::kPlain, Arithmetic::kFma, 4, 1, 1, 14, 2, 16},
    {"avx512", with(Feature::kAmxBf16), Numerics::kAmx, Arithmetic::kTile, 2, 32, 2, 32, 2, 16},
    {"avx512", with(Feature::kAvx512Bf16), kDot, Arithmetic::kDotBF16, 2, 2, 2, 14, 2, 16},
    {"avx512", with(Feature::kAmxInt8), kI8, Arithmetic::kTile, 1, 64, 4, 32, 2, 16},
    {"avx512", with(Feature::kAvx512Vnni), kI8, Arithmetic::kDotU8, 1, 4, 4, 14, 2, 16},
    {"avx512", kNothing, kI8, Arithmetic::kDotI16, 2, 2, 2, 14, 2, 16},
    {"avx2", kNothing, Numerics::kPlain, Arithmetic::kFma, 4, 1, 1, 6, 2, 8},
    {"avx2", with(Feature::kAvxVnni), kI8, Arithmetic::kDotU8, 1, 4, 4, 6, 2, 8},
    {"avx2", kNothing, kI8, Arithmetic::kDotI16, 2, 2, 2, 6, 2, 8},
    {"neon", kNothing, Numerics::kPlain, Arithmetic::kFma, 4, 1, 1, 8, 3, 4},
    {"neon", with(Feature::kBf16), kDot, Arithmetic::kMatrix, 2, 4, 4, 8, 3, 4},
    {"neon", with(Feature::kI8mm), kI8, Arithmetic::kMatrix, 1, 8, 8, 8, 3, 4},
    {"neon", with(Feature::kDotprod), kI8, Arithmetic::kDotLane, 1, 4, 4, 8, 3, 4},
    {"neon", kNothing, kI8, Arithmetic::kDotI16, 2, 2, 2, 8, 3, 4},
};

bool is_one_of(DType dtype, std::initializer_list<DType> allowed) {
  for (DType d : allowed) {
    if (d == dtype) return true;
  }
  return false;
}

bool widens_to_f32(DType dtype) {
  return is_one_of(dtype, {DType::kF32, DType::kF16, DType::kBF16, DType::kF8E4M3, DType::kF8E5M2});
}

}  // namespace

std::span<const Family> families() { return kFamilies; }

Numerics product_numerics(DType a, DType b, const DeviceProfile& profile) {
  if (b == DType::kI8) return Numerics::kInt8;
  if (a != DType::kBF16 || b != DType::kBF16) return Numerics::kPlain;
  if (profile.isa.has(Feature::kAmxBf16)) return Numerics::kAmx;
  // Widened in packing, bf16 runs at the rate of f32.
  const bool has_dot = profile.isa.has(Feature::kAvx512Bf16) || profile.isa.has(Feature::kBf16);
  return has_dot && profile.bf16_dot_pays ? Numerics::kBf16Dot : Numerics::kPlain;
}

Expected<const Family*> find_family(const jit::Target& target, const IsaSet& features,
                                    Numerics numerics) {
  for (const Family& family : kFamilies) {
    if (family.isa == target.isa && family.numerics == numerics &&
        features.contains(family.required)) {
      return &family;
    }
  }
  return make_error({.code = ErrorCode::kUnsupported,
                     .op = "gemm",
                     .argument = "ISA " + std::string(target.isa),
                     .got = "numerics class " + std::string(numerics_word(numerics))});
}

Expected<void> check_dtypes(const Family& family, DType a, DType b) {
  const auto refuse = [](const char* name, DType dtype, const char* allowed) {
    return make_error({.code = ErrorCode::kUnsupported,
                       .op = "gemm",
                       .argument = name,
                       .got = std::string(word(dtype)),
                       .allowed = allowed});
  };
  switch (family.numerics) {
    case Numerics::kPlain:
      if (!widens_to_f32(a)) return refuse("a", a, "f32, f16, bf16, f8e4m3, f8e5m2");
      if (!widens_to_f32(b)) return refuse("b", b, "f32, f16, bf16, f8e4m3, f8e5m2");
      return {};
    case Numerics::kInt8:
      if (!is_one_of(a, {DType::kI8, DType::kU8})) return refuse("a", a, "i8, u8");
      if (b != DType::kI8) return refuse("b", b, "i8");
      return {};
    case Numerics::kAmx:
    case Numerics::kBf16Dot:
      if (a != DType::kBF16) return refuse("a", a, "bf16");
      if (b != DType::kBF16) return refuse("b", b, "bf16");
      return {};
  }
  return {};
}

}  // namespace nrd::gemm
