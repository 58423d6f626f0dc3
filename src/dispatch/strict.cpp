// SPDX-License-Identifier: MIT
// src/dispatch/strict.cpp: see strict.h.
#include "dispatch/strict.h"

#include <fmt/format.h>

#include "base/env.h"

namespace nrd {

Expected<bool> strict_from_environment() {
  const std::string word = env("NEREID_ON_FALLBACK").value_or("");
  if (word.empty() || word == "error") return word == "error";
  return make_error({ErrorCode::kEnvironment, "", "NEREID_ON_FALLBACK", "'" + word + "'",
                     "error, or nothing", ""});
}

Expected<void> refuse_fallback(const Desc& desc, const KernelChoice& choice,
                               const PreparedKernel& prepared) {
  const std::string reason = prepared.fallback();
  if (reason.empty()) return {};
  return make_error({ErrorCode::kUnsupported, desc.op->name, "backend " + choice.backend->name(),
                     fmt::format("{}, a fallback: {}", choice.kernel->name(), reason),
                     "no fallback in strict mode",
                     "unset NEREID_ON_FALLBACK, or name the backend autovec"});
}

}  // namespace nrd
