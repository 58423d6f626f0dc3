// SPDX-License-Identifier: MIT
// src/gemm/family.cpp: the table of families.
//
// A tile takes all registers but four: two vectors of B and two broadcasts of A (NEON: three of B,
// two of A). Per step of k a tile does rows x vectors multiply-adds for vectors + rows loads, so
// the largest tile asks least of the caches: 14x32 wants 184 bytes in 28 zmm multiply-adds.
#include "gemm/family.h"

#include <string>

namespace nrd::gemm {
namespace {

constexpr Family kFamilies[] = {
    {.isa = "avx512", .rows = 14, .vectors = 2, .lanes = 16},
    {.isa = "avx2", .rows = 6, .vectors = 2, .lanes = 8},
    {.isa = "neon", .rows = 8, .vectors = 3, .lanes = 4},
};

}  // namespace

Expected<const Family*> find_family(const jit::Target& target, Numerics numerics) {
  for (const Family& family : kFamilies) {
    if (family.isa == target.isa && family.numerics == numerics) return &family;
  }
  return make_error({.code = ErrorCode::kUnsupported,
                     .op = "gemm",
                     .argument = "ISA " + std::string(target.isa),
                     .got = "numerics class " + std::string(numerics_word(numerics))});
}

}  // namespace nrd::gemm
