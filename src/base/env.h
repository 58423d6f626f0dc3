// SPDX-License-Identifier: MIT
// src/base/env.h: the only reader of environment variables. docs/env.md lists them; a test
// compares the two.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace nrd {

struct EnvVariable {
  std::string_view name;     // "NEREID_ISA"
  std::string_view meaning;  // one line, for docs and `nereid info`
};

std::span<const EnvVariable> env_variables();

// The value of a variable of that list; an unknown name is a bug and returns nullopt.
std::optional<std::string> env(std::string_view name);

}  // namespace nrd
