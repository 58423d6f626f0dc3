// SPDX-License-Identifier: MIT
// src/jit/a64_disassemble.cpp: generated code as text, by Capstone.
//
// One line an instruction, "  1a: vaddps zmm0, zmm1, zmm2", then one for the pool, which begins
// where the lowest operand relative to an instruction points.
#include <capstone/capstone.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "jit/code.h"

namespace nrd::jit {
namespace {

// Where a load relative to the instruction points, else `otherwise`.
size_t pool_reference(const cs_insn& instruction, size_t otherwise) {
  if (instruction.id != ARM64_INS_LDR) return otherwise;
  const cs_arm64& detail = instruction.detail->arm64;
  if (detail.op_count != 2 || detail.operands[1].type != ARM64_OP_IMM) return otherwise;
  return static_cast<size_t>(detail.operands[1].imm);
}

}  // namespace

std::string disassemble(const void* code, size_t bytes) {
  csh handle;
  if (cs_open(CS_ARCH_ARM64, CS_MODE_ARM, &handle) != CS_ERR_OK) return {};
  cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
  std::string text;
  const auto* begin = static_cast<const uint8_t*>(code);
  cs_insn* instruction = cs_malloc(handle);
  size_t at = 0, pool = bytes;
  while (at < pool) {
    const uint8_t* from = begin + at;
    size_t left = bytes - at;
    uint64_t address = at;
    if (cs_disasm_iter(handle, &from, &left, &address, instruction)) {
      pool = std::min(pool, pool_reference(*instruction, pool));
      fmt::format_to(std::back_inserter(text), "{:5x}: {} {}\n", at, instruction->mnemonic,
                     instruction->op_str);
    } else {
      fmt::format_to(std::back_inserter(text), "{:5x}: .byte {:#04x}\n", at, begin[at]);
    }
    at += 4;
  }
  if (pool < bytes) {
    fmt::format_to(std::back_inserter(text), "{:5x}: pool, {} bytes\n", pool, bytes - pool);
  }
  cs_free(instruction, 1);
  cs_close(&handle);
  return text;
}

}  // namespace nrd::jit
