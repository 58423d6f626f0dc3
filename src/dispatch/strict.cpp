// SPDX-License-Identifier: MIT
// src/dispatch/strict.cpp: see strict.h.
#include "dispatch/strict.h"

#include <fmt/format.h>

#include "base/env.h"

namespace nrd {

Expected<bool> strict_from_environment() {
  NRD_TRY(check_environment());
  return env("NEREID_ON_FALLBACK") == "error";
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
