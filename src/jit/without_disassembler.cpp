// SPDX-License-Identifier: MIT
// src/jit/without_disassembler.cpp: a build without the decoder of its own machine.
#include "jit/code.h"

namespace nrd::jit {

std::string disassemble(const void*, size_t bytes) {
  return std::to_string(bytes) + " bytes; this build has no disassembler\n";
}

}  // namespace nrd::jit
