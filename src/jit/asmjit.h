// SPDX-License-Identifier: MIT
// src/jit/asmjit.h: the one header that includes AsmJit, whose interface changes between releases.
//
// Only its Assembler and CodeHolder are used.
#pragma once

#include <asmjit/core.h>
#if defined(__x86_64__)
#include <asmjit/x86.h>
#elif defined(__aarch64__)
#include <asmjit/arm/a64assembler.h>
#include <asmjit/arm/a64utils.h>
#endif

#include <string>

namespace nrd::jit {

#if defined(__x86_64__)
namespace x86 = asmjit::x86;
#elif defined(__aarch64__)
namespace a64 = asmjit::a64;
#endif

// Keeps the first refusal of the assembler; an instruction it cannot encode is our bug.
class EncodingErrors : public asmjit::ErrorHandler {
 public:
  void handleError(asmjit::Error, const char* message, asmjit::BaseEmitter*) override {
    add(message);
  }
  void add(std::string_view message) {
    if (first_.empty()) first_ = message;
  }
  const std::string& first() const { return first_; }

 private:
  std::string first_;
};

}  // namespace nrd::jit
