// SPDX-License-Identifier: MIT
// src/base/env.h: the only reader of environment variables. docs/env.md lists them; a test
// compares the two.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace nrd {

// What a variable may say. kText is judged where it is used: a path, a level of this machine.
enum class EnvKind { kText, kWord, kWords, kCount, kSwitch };

struct EnvVariable {
  std::string_view name;     // "NEREID_ISA"
  std::string_view meaning;  // one line, for docs and `nereid info`
  EnvKind kind = EnvKind::kText;
  std::string_view words = {};  // "a, b": of kWord, or of a comma list
};
inline constexpr int kMostThreads = 1024;  // of kCount

std::span<const EnvVariable> env_variables();

// What is wrong with the environment, looked at when the library is first used: a value that means
// nothing, or a name that is nearly one of the list.
Expected<void> check_environment();

// The value of a variable of that list; an unknown name is a bug and returns nullopt.
std::optional<std::string> env(std::string_view name);

}  // namespace nrd
