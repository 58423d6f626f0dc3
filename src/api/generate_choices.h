// SPDX-License-Identifier: MIT
// src/api/generate_choices.h: the choices of the catalogue as C++ enums.
#pragma once

#include <string>
#include <string_view>

#include "ops/op.h"

namespace nrd {

std::string pascal_case(std::string_view name);  // "round_between": "RoundBetween"

// The C++ type of an operator's choice: "bool" for yes and no, else an enum. Operators share the
// enum of an attribute whose words are the same in all of them.
std::string choice_type(const Op& op, const ChoiceAttribute& choice);
std::string choice_value(const Op& op, const ChoiceAttribute& choice, size_t index);

// nereid/choices.h.
std::string choices_header();

}  // namespace nrd
