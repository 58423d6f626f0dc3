// SPDX-License-Identifier: MIT
// src/ops/op.h: one entry of the catalogue. Everything about an operator is derived from it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/builds.h"
#include "ops/signature.h"

namespace nrd {

// What a number may be. All but kAny are finite; kernels take a number as f32, so it is judged as
// that.
enum class NumberRange { kAny, kNotNegative, kPositive, kOneOrMore };
bool allows(NumberRange range, double value);
std::string_view range_text(NumberRange range);  // "0 or more"

// A scalar argument of the definition (eps, scale, theta).
struct NumberAttribute {
  std::string name;
  double value = 0;  // the default
  std::string meaning;
  NumberRange range = NumberRange::kAny;
  bool integer = false;  // of a user's function: an integer that is no size
};

// A choice fixed when the operator is bound; the first value is the default.
struct ChoiceAttribute {
  std::string name;
  std::vector<std::string> values;
  std::string meaning;
};

// One way to bind the operator. `when` lists conditions that must all hold, blank separated:
// "cast=before_weight" (a choice), "+positions" (an optional operand is given), "-positions"
// (it is not), "a:i8" (an operand's dtype; a class word such as a:int8 works too).
// The first variant whose conditions hold is taken.
struct Variant {
  std::string when;
  std::string signature;
  std::optional<Builds> builds;  // a primitive's definition ...
  std::string graph;             // ... or a composite's text (see graph/graph.h)
  std::string types;             // operands whose dtypes fill the rounding types, blank separated
};

// Where an input may be the same memory as an output.
enum class InPlace { kNo, kYes };

// |y - ref| <= tolerance * max(1, largest |ref| of the row) + half a unit of the output dtype.
struct Tolerance {
  double f32 = 1e-4;
  double l2 = 0;         // relative L2 error of a whole output; 0: ten times f32
  bool exact = false;    // integer or code outputs: equal to the f32 build, bit for bit
  bool cancels = false;  // differences of larger terms: the whole has no relative error
};

struct Op {
  std::string name;
  std::string group;    // "activation"; one file a group in catalogue/
  std::string summary;  // one line: the formula
  std::vector<NumberAttribute> numbers;
  std::vector<ChoiceAttribute> choices;
  std::vector<Variant> variants;
  double flops = 1;  // per point of the iteration space (the product of all axes)
  Tolerance tolerance;
  std::vector<std::pair<std::string, Tolerance>> tolerances;  // of a choice: "accumulate=fast"
  InPlace in_place = InPlace::kNo;
  std::string in_place_input;  // the only input that may be an output; empty: every one
  std::string gathers;         // an input of which only as many rows are read as the output has
  std::string constant;        // an operand that is prepared once (packed weights), blank separated
  std::string shape;           // the example case: "rows=128,cols=4096"

  bool composite() const { return !variants.front().graph.empty(); }
};

// All operators, by group. Built once; signatures are parsed and checked
// against the definitions' parameters on first use (a mistake there is a bug and ends the test
// suite, see tests/unit/catalogue_test.cpp).
std::span<const Op> catalogue();
// One of the catalogue, a user's, or a product with an epilogue (ops/epilogue.h), which is made
// when it is first asked for. The error suggests close names.
Expected<const Op*> find_op(std::string_view name);

// Adds an operator that is not of the catalogue (a user's function) for the rest of the process.
// Its name must be new.
Expected<const Op*> add_op(Op op);
std::vector<const Op*> added_ops();

// Parsed signatures, one a variant, in the same order.
const std::vector<Signature>& signatures(const Op& op);

// The families of the catalogue, one file each in src/ops/catalogue/.
std::vector<Op> blas_ops();
std::vector<Op> matrix_ops();
std::vector<Op> activation_ops();
std::vector<Op> norm_ops();
std::vector<Op> position_ops();
std::vector<Op> glue_ops();
std::vector<Op> fused_ops();
std::vector<Op> backward_ops();

}  // namespace nrd
