// SPDX-License-Identifier: MIT
// src/compiler/parts.cpp: asks each part whether it is there.
#include "compiler/parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/catalogue_traces.h"
#include "jit/code.h"
#include "jit/encode.h"
#include "lift/native.h"

namespace nrd {
namespace {

std::string describe_lifting() {
  if (const std::string missing = lift::missing_front_end(); !missing.empty())
    return fmt::format("lifts nothing: {}; users' functions run as they are", missing);
  return fmt::format("lifts {} code; {} definitions of the catalogue are lifted",
                     lift::native_machine(), embedded_traces().size());
}

std::string describe_code(const IsaSet& isa) {
  if (const std::string missing = missing_code(isa); !missing.empty())
    return "generates no code: " + missing + "; `cpu` is `autovec`";
  std::vector<std::string_view> words;
  for (const jit::Target* target : jit::targets(isa)) words.push_back(target->isa);
  return fmt::format("generates code for {}", fmt::join(words, ", "));
}

}  // namespace

std::string missing_code(const IsaSet& isa) {
  if (jit::backends().empty()) return "built without AsmJit";
  if (jit::targets(isa).empty())
    return "no back end for this CPU's ISA (NEREID_ISA or a context may cap it)";
  if (!jit::executable_memory_works()) return "the system refuses executable memory";
  return "";
}

std::vector<std::string> describe_compiler(const IsaSet& isa) {
  return {describe_lifting(), describe_code(isa)};
}

}  // namespace nrd
