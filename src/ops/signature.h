// SPDX-License-Identifier: MIT
// src/ops/signature.h: what an operator takes and gives, parsed from one line of text.
//
//   "x[rows,cols] w[cols] -> out[rows,cols] ; core cols"
//
// Operands are inputs, then outputs. Axes are named; the names are the keys of `--shape`.
//   name?          an optional operand
//   name&          an output whose contents matter: it is read, or not all of it is written
//   name[..]:class dtypes that are allowed (see DTypeClass); `float` unless said
//   axis/128       the number of blocks: ceil(axis / 128)
//   n+1, 2*n, floor(n/32), ceil(n/32), n+m-1   a size that follows (see axis_formula.h)
//   core a*,b      the axes of one core instance, in the order of the definition's sizes. The
//                  others are outer axes: independent instances. A star marks a core axis along
//                  which an instance can be cut too, because its outputs do not depend on each
//                  other (every axis of an elementwise operator, m and n of a product).
//   where heads = hidden/head_dim   an axis that follows from others
//   int m=1,k=2    integers of the core that no shape gives: attributes, with their defaults
//   any rows       an axis of the core that the definition does not take: a table of any length
//   even head_dim  an axis whose size must be even (pairs)
//   32             in place of an axis name: an axis of that size
// An operand may have further leading axes in front of its named ones; they are outer axes,
// aligned at the right and broadcast where an operand lacks one or has size 1.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/tensor.h"
#include "ops/axis_formula.h"

namespace nrd {

enum class DTypeClass {
  kFloat,  // f32 f16 bf16
  kF32,
  kFp8,  // f8e4m3 f8e5m2
  kI32,
  kI8,
  kInt8,    // i8 u8
  kNumber,  // kFloat, kFp8, kInt8 and kI32: what `cast` takes
  kFloatOrFp8,
  kFloatOrF64,   // kFloat and f64: what a user's function has behind a double*
  kMatrix,       // kFloat and kInt8: what a product takes
  kAccumulator,  // kFloat and i32: what a product gives
};
std::string_view dtype_class_word(DTypeClass c);
bool allows(DTypeClass c, DType dtype);
std::string allowed_words(DTypeClass c);  // "f32, f16, bf16"

struct AxisRef {
  int axis = 0;
  int64_t block = 1;  // the size is ceil(axis / block)
};

struct OperandSpec {
  std::string name;
  std::vector<AxisRef> axes;
  DTypeClass dtypes = DTypeClass::kFloat;
  bool output = false;
  bool optional = false;
  bool read = false;  // of an output: what it holds before a run matters
};

struct Axis {
  std::string name;
  bool core = false;
  bool separable = false;  // outer axes are; core axes when starred
  int numerator = -1;      // a derived axis: numerator / denominator
  int denominator = -1;
  int64_t fixed = -1;  // a size that belongs to the operator; such an axis is core, no key
  bool even = false;
  std::shared_ptr<const AxisFormula> formula;  // of an axis that follows; named by its text
  bool attribute = false;                      // its size is an attribute of the operator ...
  int64_t preset = 0;                          // ... and this unless it is given

  bool is_key() const {  // named in --shape
    return numerator < 0 && fixed < 0 && !formula && !attribute;
  }
};

struct Signature {
  std::string text;
  std::vector<Axis> axes;  // in order of first appearance
  std::vector<int> core;   // indices into axes, in the definition's order
  std::vector<OperandSpec> operands;
  int inputs = 0;

  bool determines(int axis) const;                // whether the operands' shapes give its size
  int find_axis(std::string_view name) const;     // -1 when there is none
  int find_operand(std::string_view name) const;  // -1 when there is none
};

Expected<Signature> parse_signature(std::string_view text);

// The size of what a reference names, where every axis has its size.
int64_t size_of(const AxisRef& ref, std::span<const int64_t> axes);

// Fills the sizes of axes that follow from others by a formula; the error names one that has none.
Expected<void> fill_formulas(const Signature& signature, std::vector<int64_t>& axes);

}  // namespace nrd
