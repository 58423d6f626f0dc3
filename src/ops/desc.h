// SPDX-License-Identifier: MIT
// src/ops/desc.h: Desc, a bound operator: what is to be computed, with every size known.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ops/form.h"
#include "ops/op.h"

namespace nrd {

// Attributes by name, as a caller gives them: a number or a word.
using AttributeValue = std::variant<double, std::string>;
using Attributes = std::map<std::string, AttributeValue, std::less<>>;

struct OperandDesc {
  bool present = true;
  DType dtype = DType::kF32;
  Dims sizes;
  Dims strides;
  bool constant = false;       // its content does not change between runs: prepare may pack it
  const Form* form = nullptr;  // not as the strides say, but in this form
};

// How results may be rounded. A kernel's class is a function of operator, dtypes, ISA and shape and
// of no row count; a configuration moves inside a class, never across.
enum class Numerics { kPlain, kAmx, kInt8, kBf16Dot };
std::string_view numerics_word(Numerics n);

// Values that elements of an operand must have, because they lead to indices. Both ends are
// allowed; a NaN is not.
struct ValueCheck {
  size_t operand = 0;
  double low = 0, high = 0;
};

struct Desc {
  const Op* op = nullptr;
  int variant = 0;
  std::vector<OperandDesc> operands;  // as the signature lists them; absent ones are not present
  std::vector<int64_t> axes;          // sizes of the signature's axes
  Dims leading;                       // further leading axes, broadcast
  std::vector<double> numbers;        // in the order of op->numbers
  std::vector<std::string> choices;   // in the order of op->choices
  std::vector<int> types;             // rounding types, as nereid_dtype values
  Device device;
  bool batch_invariant = false;          // a row's bits do not depend on how many rows there are
  std::vector<ValueCheck> value_checks;  // of a user's function: before each run

  const Signature* bound_signature = nullptr;  // of the variant; set by bind

  const Signature& signature() const { return *bound_signature; }
  const Variant& bound() const { return op->variants[static_cast<size_t>(variant)]; }
  std::string_view choice(std::string_view name) const;
  double number(std::string_view name) const;
  std::string shape_text() const;    // "rows=128,cols=4096"
  std::string dtype_text() const;    // "bf16" or "bf16,f32->bf16"
  std::string options_text() const;  // non-default attributes: "cast=before_weight,eps=1e-06"
};

// Binds an operator to operands: chooses the variant, checks dtypes and shapes, fills sizes.
// Operands are matched by name; outputs that are missing get contiguous shapes and the dtype of
// the first input of their class.
struct NamedOperand {
  std::string name;
  OperandDesc desc;
};
Expected<Desc> bind(const Op& op, const Attributes& attributes, std::vector<NamedOperand> operands);

// The same from sizes alone, as the command line gives them: contiguous operands, `dtypes` either
// one word for every floating operand or one a word per operand ("bf16,f32->bf16").
struct CaseRequest {
  std::map<std::string, int64_t, std::less<>> sizes;
  std::string dtypes = "f32";
  Attributes attributes;
  std::vector<std::string> optional;  // optional operands that are given
  bool batch_invariant = false;
};
Expected<Desc> bind_case(const Op& op, const CaseRequest& request);

// The request of op.shape: the sizes that `nereid bench OP` takes when none are given.
CaseRequest example_request(const Op& op);

// Whether an input may be the same memory as an output, element by element.
bool may_be_output(const Desc& desc, size_t input);

// An operand's memory: as its strides say, or the bytes of its form.
TensorView operand_view(const OperandDesc& operand, void* data);

// Memory of a bound call: null, misaligned or overlapping pointers are errors.
Expected<void> check_pointers(const Desc& desc, std::span<void* const> pointers);

struct Cost {
  double flops = 0;
  double bytes_read = 0;
  double bytes_written = 0;
  double bytes() const { return bytes_read + bytes_written; }
};
// Each operand's bytes once; a composite counts its own operands, not the values between.
Cost cost(const Desc& desc);

// What its results may be off by: the operator's, or that of a choice that was bound.
const Tolerance& tolerance_of(const Desc& desc);

}  // namespace nrd
