// SPDX-License-Identifier: MIT
// src/base/env.cpp: the list of environment variables and the one getenv.
#include "base/env.h"

#include <array>
#include <cstdlib>

namespace nrd {
namespace {

constexpr std::array<EnvVariable, 15> kVariables = {{
    {"NEREID_ISA", "highest ISA level to use (a word of `nereid info`); refused when absent"},
    {"NEREID_THREADS", "default number of threads; otherwise the cores this process may use"},
    {"NEREID_LOG", "comma list of dispatch, info, warning: these lines go to stderr"},
    {"NEREID_ON_FALLBACK", "error: a kernel other than the best one is an error (strict mode)"},
    {"NEREID_PLUGINS", "colon-separated shared libraries with further kernels"},
    {"NEREID_PEERS_DIR", "folder that holds the libraries of peers, searched first"},
    {"NEREID_CUDA_ARCH",
     "sm_80: the portable CUDA kernels on every device; sm_90: those of Hopper"},
    {"NEREID_EXPECT_CUDA", "1: a missing CUDA device fails the tests instead of skipping them"},
    {"NEREID_EMULATOR_SEED", "order in which the tests' emulated CUDA threads run; 0 is plain"},
    {"NEREID_TEST_SEED", "seed of the random tests; each prints the one it drew"},
    {"NEREID_TEST_EXHAUSTIVE", "1: tests of products take every size up to 40, for minutes"},
    {"NEREID_DUMP",
     "comma list of lift, trace, ir, asm: what the compiler makes of an operator goes to stderr"},
    {"NEREID_PERF_MAP", "1: generated code gets names for perf (perf-PID.map in the temp folder)"},
    {"NEREID_GDB", "1: generated code gets names for gdb"},
    {"NO_COLOR", "any value: no colours in the output of the command line"},
}};

}  // namespace

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
