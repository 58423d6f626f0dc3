// SPDX-License-Identifier: MIT
// src/graph/parse.h: the statements of a composite's text, guards resolved, choices filled in.
#pragma once

#include <string>
#include <vector>

#include "ops/desc.h"

namespace nrd {

// A value, or a view of one: name alone, or transpose(name), split(name, other), ....
struct Expression {
  std::string view;                   // empty for a plain name
  std::vector<Expression> arguments;  // of the view
  std::string name;
};

struct Argument {
  std::string key;   // empty for a positional one
  std::string word;  // an attribute's value or, when `is_value`, unused
  bool is_value = false;
  Expression value;
};

struct Target {
  std::string name;
  std::string stored_like;  // "y:x": in the dtype of x
};

struct Statement {
  std::string line;
  std::vector<Target> targets;
  std::string op;  // empty: the right side is one expression
  std::vector<Argument> arguments;
};

Expected<std::vector<Statement>> parse_statements(const Desc& composite);

}  // namespace nrd
