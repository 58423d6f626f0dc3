// SPDX-License-Identifier: MIT
// src/jit/encode.cpp: from a program to bytes: verify, allocate, emit.
#include "jit/encode.h"

#include "jit/code.h"

namespace nrd::jit {

std::vector<const Target*> targets(const IsaSet& isa) {
  std::vector<const Target*> found;
  for (const Backend* backend : backends()) {
    if (isa.contains(backend->required)) found.push_back(&backend->target);
  }
  return found;
}

Expected<std::vector<uint8_t>> encode(const Program& program, const Target& target, int* spills) {
  const Backend* chosen = nullptr;
  for (const Backend* backend : backends()) {
    if (backend->target.isa == target.isa) chosen = backend;
  }
  if (chosen == nullptr) {
    return make_error({.code = ErrorCode::kUnsupported,
                       .op = program.name,
                       .argument = "isa",
                       .got = std::string(target.isa),
                       .hint = "this build has no back end for it"});
  }
  if (std::string problem = verify_program(program); !problem.empty()) {
    return make_error(
        {.code = ErrorCode::kInternal, .op = program.name, .got = std::move(problem)});
  }
  thread_local Allocation where;  // its memory serves the next program
  NRD_TRY(allocate(program, chosen->registers, chosen->needs, where));
  if (spills != nullptr) *spills = where.spills;
  return chosen->emit(program, target, where);
}

}  // namespace nrd::jit
