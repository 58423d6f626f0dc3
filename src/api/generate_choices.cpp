// SPDX-License-Identifier: MIT
// src/api/generate_choices.cpp: writes nereid/choices.h, one enum for each choice of the catalogue.
#include "api/generate_choices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <set>

namespace nrd {
namespace {

constexpr std::string_view kChoicesHead = R"(// SPDX-License-Identifier: MIT
// nereid/choices.h: the choices of the operators as enums. Generated from the catalogue; do not
// edit. Wherever an option takes one of them it takes its word too: Pairs::half, or "half".
#pragma once

#include <cstddef>

#include "nereid/choice.h"

namespace nereid {
)";

constexpr std::string_view kChoicesTail = R"(
}  // namespace nereid
)";

bool is_yes_or_no(const ChoiceAttribute& choice) {
  return choice.values == std::vector<std::string>{"no", "yes"};
}

bool same_everywhere(const ChoiceAttribute& choice) {
  for (const Op& op : catalogue())
    for (const ChoiceAttribute& other : op.choices)
      if (other.name == choice.name && other.values != choice.values) return false;
  return true;
}

std::string enum_text(const std::string& type, const ChoiceAttribute& choice) {
  return fmt::format(
      "\n// {0}\nenum class {1} {{ {2} }};\n"
      "inline const char* word({1} value) {{\n"
      "  static constexpr const char* kWords[] = {{\"{3}\"}};\n"
      "  return detail::word_at(kWords, static_cast<size_t>(value));\n"
      "}}\n",
      choice.meaning, type, fmt::join(choice.values, ", "), fmt::join(choice.values, "\", \""));
}

}  // namespace

std::string pascal_case(std::string_view name) {
  std::string text;
  bool upper = true;
  for (char c : name) {
    if (c != '_') text += upper ? static_cast<char>(std::toupper(c)) : c;
    upper = c == '_';
  }
  return text;
}

std::string choice_type(const Op& op, const ChoiceAttribute& choice) {
  if (is_yes_or_no(choice)) return "bool";
  return (same_everywhere(choice) ? "" : pascal_case(op.name)) + pascal_case(choice.name);
}

std::string choice_value(const Op& op, const ChoiceAttribute& choice, size_t index) {
  if (is_yes_or_no(choice)) return index == 1 ? "true" : "false";
  return choice_type(op, choice) + "::" + choice.values[index];
}

std::string choices_header() {
  std::string text(kChoicesHead);
  std::set<std::string> seen = {"bool"};
  for (const Op& op : catalogue())
    for (const ChoiceAttribute& choice : op.choices)
      if (const std::string type = choice_type(op, choice); seen.insert(type).second)
        text += enum_text(type, choice);
  return text += kChoicesTail;
}

}  // namespace nrd
