// SPDX-License-Identifier: MIT
// src/compiler/dump.cpp: what the compiler made, for people who asked by NEREID_DUMP.
#include "compiler/dump.h"

#include <fmt/format.h>

#include <cstdio>

#include "base/env.h"
#include "base/lazy.h"
#include "jit/code.h"
#include "trace/text.h"

namespace nrd {
namespace {

constinit Lazy<const std::string> g_wanted;

bool asked(const char* stage) {
  const std::string& wanted =
      g_wanted.get([] { return "," + env("NEREID_DUMP").value_or("") + ","; });
  return wanted.find(fmt::format(",{},", stage)) != std::string::npos;
}

}  // namespace

void dump_stages(const jit::Lowered& lowered, const std::vector<uint8_t>& bytes,
                 const jit::Target& target) {
  auto show = [&](const char* stage, const std::string& text) {
    fmt::print(stderr, "; {} of {} for {}\n{}\n", stage, lowered.trace.name, target.isa, text);
  };
  if (asked("trace")) show("trace", trace_text(lowered.trace));
  if (asked("ir")) show("ir", jit::program_text(lowered.program));
  if (asked("asm")) show("asm", jit::disassemble(bytes.data(), bytes.size()));
}

void dump_lifted(const lift::LiftRequest& request) {
  if (asked("lift"))
    fmt::print(stderr, "; lift of {}\n{}\n", request.name, lift::dump_lift(request));
}

}  // namespace nrd
