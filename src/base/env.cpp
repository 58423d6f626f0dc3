// SPDX-License-Identifier: MIT
// src/base/env.cpp: the list of environment variables and the one getenv.
#include "base/env.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "base/suggest.h"

namespace nrd {
namespace {

using enum EnvKind;
using enum EnvKind;
constexpr std::array<EnvVariable, 19> kVariables = {{
    {"NEREID_ISA", "highest ISA level to use (a word of `nereid info`); refused when absent"},
    {"NEREID_THREADS", "default number of threads; otherwise the cores this process may use",
     kCount},
    {"NEREID_LOG", "comma list of dispatch, info, warning: these lines go to stderr", kWords,
     "dispatch, info, warning"},
    {"NEREID_ON_FALLBACK", "error: a kernel other than the best one is an error (strict mode)",
     kWord, "error"},
    {"NEREID_PLUGINS", "colon-separated shared libraries with further kernels"},
    {"NEREID_PEERS_DIR", "folder that holds the libraries of peers, searched first"},
    {"NEREID_CUDA_ARCH", "sm_80: the portable CUDA kernels on every device; sm_90: those of Hopper",
     kWord, "sm_80, sm_90"},
    {"NEREID_EXPECT_CUDA", "1: a missing CUDA device fails the tests instead of skipping them",
     kSwitch},
    {"NEREID_EMULATOR_SEED", "order in which the tests' emulated CUDA threads run; 0 is plain"},
    {"NEREID_TEST_SEED", "seed of the random tests; each prints the one it drew"},
    {"NEREID_TEST_EXHAUSTIVE", "1: tests of products take every size up to 40, for minutes"},
    {"NEREID_EMULATOR_DROP", "a barrier, wait or fence of emulated kernels that is switched off"},
    {"NEREID_EMULATOR_SITES", "file for the names of those that emulated kernels reach"},
    {"NEREID_GENERATED_CASES", "how many shapes the CUDA tests draw for a family of kernels"},
    {"NEREID_DUMP",
     "comma list of lift, trace, ir, asm: what the compiler makes of an operator goes to stderr",
     kWords, "lift, trace, ir, asm"},
    {"NEREID_PERF_MAP", "1: generated code gets names for perf (perf-PID.map in the temp folder)",
     kSwitch},
    {"NEREID_GDB", "1: generated code gets names for gdb", kSwitch},
    {"NO_COLOR", "any value: no colours in the output of the command line"},
    {"TERM", "dumb: neither colours nor a line that shows progress"},
}};

constexpr std::string_view kPrefix = "NEREID_";

std::string_view next_part(std::string_view& list, std::string_view comma) {
  const std::string_view part = list.substr(0, list.find(comma));
  list.remove_prefix(std::min(part.size() + comma.size(), list.size()));
  return part;
}

bool is_one_of(std::string_view word, std::string_view words) {
  while (!words.empty())
    if (next_part(words, ", ") == word) return true;
  return false;
}

bool is_count(std::string_view text) {
  int count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  return error == std::errc() && end == text.data() + text.size() && count >= 1 &&
         count <= kMostThreads;
}

bool is_allowed(const EnvVariable& variable, std::string_view value) {
  switch (variable.kind) {
    case kText: return true;
    case kWord: return is_one_of(value, variable.words);
    case kCount: return is_count(value);
    case kSwitch: return value == "0" || value == "1";
    case kWords: break;
  }
  while (!value.empty())
    if (const std::string_view part = next_part(value, ",");
        !part.empty() && !is_one_of(part, variable.words))
      return false;
  return true;
}

std::string allowed_text(const EnvVariable& variable) {
  switch (variable.kind) {
    case kCount: return "1 to " + std::to_string(kMostThreads);
    case kSwitch: return "0 or 1";
    case kWords: return "a comma list of " + std::string(variable.words);
    default: return std::string(variable.words) + ", or nothing";
  }
}

// The variable that somebody meant by a name that is none; empty where it is nobody's business.
std::string_view near_name(std::string_view name) {
  const std::string_view own = name.substr(kPrefix.size());
  for (const EnvVariable& variable : kVariables) {
    if (variable.name == name) return {};
    if (!variable.name.starts_with(kPrefix)) continue;
    const std::string_view known = variable.name.substr(kPrefix.size());
    if (edit_distance(own, known) <= (known.size() <= 4 ? 1u : 2u)) return variable.name;
  }
  return {};
}

}  // namespace

Expected<void> check_environment() {
  for (const EnvVariable& variable : kVariables) {
    const std::string value = env(variable.name).value_or("");
    if (!value.empty() && !is_allowed(variable, value))
      return make_error({.code = ErrorCode::kEnvironment,
                         .argument = std::string(variable.name),
                         .got = "'" + value + "'",
                         .allowed = allowed_text(variable)});
  }
  for (char** at = environ; at != nullptr && *at != nullptr; at++) {
    const std::string_view entry = *at, name = entry.substr(0, entry.find('='));
    if (!name.starts_with(kPrefix)) continue;
    const std::string_view meant = near_name(name);
    if (!meant.empty())
      return make_error({.code = ErrorCode::kEnvironment,
                         .argument = "environment",
                         .got = std::string(name),
                         .allowed = "the variables of docs/env.md",
                         .hint = "did you mean '" + std::string(meant) + "'?"});
  }
  return {};
}

std::span<const EnvVariable> env_variables() { return kVariables; }

std::optional<std::string> env(std::string_view name) {
  for (const EnvVariable& variable : kVariables) {
    if (variable.name != name) continue;
    const char* value = std::getenv(variable.name.data());  // a literal, so it ends in 0
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  }
  return std::nullopt;
}

}  // namespace nrd
