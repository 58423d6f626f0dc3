// SPDX-License-Identifier: MIT
// src/jit/x86_disassemble.cpp: generated code as text, by Zydis.
//
// One line an instruction, "  1a: vaddps zmm0, zmm1, zmm2", then one for the pool, which begins
// where the lowest operand relative to an instruction points.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/zydis.h"
#include "jit/code.h"

namespace nrd::jit {
namespace {

// Where the operand points, if it is relative to the instruction, else `otherwise`.
size_t pool_reference(const ZydisDecodedInstruction& instruction,
                      const ZydisDecodedOperand* operands, size_t at, size_t otherwise) {
  for (int i = 0; i < instruction.operand_count_visible; i++) {
    if (operands[i].type != ZYDIS_OPERAND_TYPE_MEMORY) continue;
    if (operands[i].mem.base != ZYDIS_REGISTER_RIP) continue;
    return at + instruction.length + static_cast<size_t>(operands[i].mem.disp.value);
  }
  return otherwise;
}

}  // namespace

std::string disassemble(const void* code, size_t bytes) {
  if (const Expected<const Zydis*> loaded = load_zydis(); !loaded)
    return fmt::format("{} bytes; no disassembler: {}\n", bytes, loaded.error().message());
  ZydisDecoder decoder;
  zydis().DecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  ZydisFormatter formatter;
  zydis().FormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
  std::string text;
  const auto* begin = static_cast<const uint8_t*>(code);
  size_t at = 0, pool = bytes;
  while (at < pool) {
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(
            zydis().DecoderDecodeFull(&decoder, begin + at, bytes - at, &instruction, operands))) {
      fmt::format_to(std::back_inserter(text), "{:5x}: .byte {:#04x}\n", at, begin[at]);
      at++;
      continue;
    }
    pool = std::min(pool, pool_reference(instruction, operands, at, pool));
    char line[160];
    zydis().FormatterFormatInstruction(&formatter, &instruction, operands,
                                       instruction.operand_count_visible, line, sizeof(line), at,
                                       nullptr);
    fmt::format_to(std::back_inserter(text), "{:5x}: {}\n", at, line);
    at += instruction.length;
  }
  if (pool < bytes) {
    fmt::format_to(std::back_inserter(text), "{:5x}: pool, {} bytes\n", pool, bytes - pool);
  }
  return text;
}

}  // namespace nrd::jit
