// SPDX-License-Identifier: MIT
// src/gemm/family.h: the families of micro-kernels: how much of C one call computes, and from what.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/error.h"
#include "jit/ir.h"
#include "machine/profile.h"
#include "ops/desc.h"

namespace nrd::gemm {

// What one instruction of a micro-kernel's loop does.
enum class Arithmetic : uint8_t {
  kFma,      // f32
  kDotI16,   // two products of i16
  kDotU8,    // four products of u8 and i8
  kDotLane,  // four products of i8, one operand by lane
  kDotBF16,  // two products of bf16
  kMatrix,   // a 2x2 of products over eight bytes
  kTile,     // a tile of AMX
};

// A tile is `rows` x `vectors` vectors of accumulators. One step takes `depth` elements of k from
// each row and each column. Panels of A hold [step][row][depth], those of B
// [step][depth / group][column][group], which tiles of AMX have apart for each vector of columns: a
// tile is then one piece of memory. k is padded with zeros to whole steps.
struct Family {
  std::string_view isa;
  IsaSet required;  // beyond the ISA's own
  Numerics numerics = Numerics::kPlain;
  Arithmetic arithmetic = Arithmetic::kFma;
  int element = 4;  // bytes in a panel
  int depth = 1, group = 1;
  int rows = 0, vectors = 0, lanes = 0;

  int columns() const { return vectors * lanes; }
  // Columns that lie together in a step.
  int part_columns() const { return arithmetic == Arithmetic::kTile ? lanes : columns(); }
  int step_bytes() const { return element * depth; }  // of one row or column
  int64_t steps(int64_t k) const { return (k + depth - 1) / depth; }
  bool sums_integers() const { return numerics == Numerics::kInt8; }
  // Instructions that take unsigned (signed) bytes from A get the others with their top bit
  // inverted, 128 too large (small): 128 times the sums of B's columns make up for it.
  bool offsets() const {
    return arithmetic == Arithmetic::kDotU8 || arithmetic == Arithmetic::kDotLane;
  }
  bool offsets(DType a) const {
    return offsets() && (a == DType::kU8) != (arithmetic == Arithmetic::kDotU8);
  }
};

// All of them, best first for each target and class.
std::span<const Family> families();

// The class of a product of these dtypes here; a function of nothing else.
Numerics product_numerics(DType a, DType b, const DeviceProfile& profile);

// The family that serves a target, its features and a numerics class.
Expected<const Family*> find_family(const jit::Target& target, const IsaSet& features,
                                    Numerics numerics);

// Whether the family's panels can hold such elements; the error says which can.
Expected<void> check_dtypes(const Family& family, DType a, DType b);

}  // namespace nrd::gemm
