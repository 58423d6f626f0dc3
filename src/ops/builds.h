// SPDX-License-Identifier: MIT
// src/ops/builds.h: the builds of a definition, callable in one way whatever their parameters;
// definitions.h makes them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/dtype.h"

namespace nrd {

// The arguments of one core instance, by kind, in the order of the definition's parameters.
struct InstanceArgs {
  void* const* pointers;
  const size_t* sizes;
  const double* numbers;
  const int* types;
};

constexpr int kMaxOperands = 12;

// One compiled definition. `native` are the element types of its pointers. `function` is the C
// function itself, which the lifter reads; `call` passes it the arguments of one instance.
struct Definition {
  void (*call)(const void* context, const InstanceArgs&) = nullptr;
  const void* context = nullptr;
  void (*function)() = nullptr;
  int operands = 0;
  int sizes = 0;
  int numbers = 0;
  int types = 0;
  std::array<DType, kMaxOperands> native{};
};

// All builds of one definition. `autovec` is indexed like NEREID_AUTOVEC_ISAS (weakest first).
#if defined(__x86_64__)
constexpr std::array<std::string_view, 3> kAutovecLevels = {"baseline", "avx2", "avx512"};
#else
constexpr std::array<std::string_view, 1> kAutovecLevels = {"baseline"};
#endif

struct OpTrace;
struct Contract;

struct Builds {
  std::string_view name;  // "rms_norm_before_weight"
  Definition scalar;
  Definition f64;
  std::array<Definition, kAutovecLevels.size()> autovec;
  const OpTrace* trace = nullptr;      // of a user's function; the catalogue's are embedded by name
  std::string_view no_trace = {};      // of a user's function: why it has no trace to compile
  const Contract* contract = nullptr;  // of a user's function: what bind checks (contract.h)
};

}  // namespace nrd
