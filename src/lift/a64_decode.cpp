// SPDX-License-Identifier: MIT
// src/lift/a64_decode.cpp: an instruction word -> A64Record, by Capstone 4.
#include <algorithm>
#include <cstring>

#include "lift/a64.h"

namespace nrd::lift {
namespace {

using Operand = A64Operand;

struct Register {
  Operand::Kind kind = Operand::Kind::kOther;
  uint8_t number = Operand::kNoRegister;
  uint8_t bits = 0;
};

struct Bank {
  arm64_reg first, last;
  Operand::Kind kind;
  uint8_t bits;
};

// Capstone numbers x0..x28 in a row; x29 and x30 stand elsewhere.
constexpr Bank kBanks[] = {
    {ARM64_REG_W0, ARM64_REG_W30, Operand::Kind::kGpr, 32},
    {ARM64_REG_X0, ARM64_REG_X28, Operand::Kind::kGpr, 64},
    {ARM64_REG_S0, ARM64_REG_S31, Operand::Kind::kVector, 32},
    {ARM64_REG_D0, ARM64_REG_D31, Operand::Kind::kVector, 64},
    {ARM64_REG_V0, ARM64_REG_V31, Operand::Kind::kVector, 128},
    {ARM64_REG_Q0, ARM64_REG_Q31, Operand::Kind::kVector, 128},
    {ARM64_REG_H0, ARM64_REG_H31, Operand::Kind::kVector, 16},
    {ARM64_REG_B0, ARM64_REG_B31, Operand::Kind::kVector, 8},
};

Register register_of(arm64_reg reg) {
  switch (reg) {
    case ARM64_REG_X29: return {Operand::Kind::kGpr, 29, 64};
    case ARM64_REG_X30: return {Operand::Kind::kGpr, kA64Link, 64};
    case ARM64_REG_SP: return {Operand::Kind::kGpr, kA64Sp, 64};
    case ARM64_REG_WSP: return {Operand::Kind::kGpr, kA64Sp, 32};
    case ARM64_REG_XZR: return {Operand::Kind::kZero, 0, 64};
    case ARM64_REG_WZR: return {Operand::Kind::kZero, 0, 32};
    default: break;
  }
  for (const Bank& bank : kBanks) {
    if (reg >= bank.first && reg <= bank.last) {
      return {bank.kind, static_cast<uint8_t>(reg - bank.first), bank.bits};
    }
  }
  return {};
}

uint8_t arrangement_lane_bits(arm64_vas arrangement) {
  switch (arrangement) {
    case ARM64_VAS_8B:
    case ARM64_VAS_16B: return 8;
    case ARM64_VAS_4H:
    case ARM64_VAS_8H: return 16;
    case ARM64_VAS_2S:
    case ARM64_VAS_4S: return 32;
    case ARM64_VAS_1D:
    case ARM64_VAS_2D: return 64;
    default: return 0;
  }
}

uint8_t element_bits(arm64_vess element) {
  return element == ARM64_VESS_INVALID ? 0 : static_cast<uint8_t>(4 << element);
}
static_assert(ARM64_VESS_B == 1 && ARM64_VESS_D == 4);

bool half_arrangement(arm64_vas arrangement) {
  return arrangement == ARM64_VAS_8B || arrangement == ARM64_VAS_4H ||
         arrangement == ARM64_VAS_2S || arrangement == ARM64_VAS_1D;
}

void set_register(const cs_arm64_op& from, Operand& out) {
  const Register reg = register_of(from.reg);
  out.kind = reg.kind;
  out.reg = reg.number;
  out.bits = half_arrangement(from.vas) ? 64 : reg.bits;
  out.lane_bits = arrangement_lane_bits(from.vas);
  if (from.vess != ARM64_VESS_INVALID) {
    out.lane_bits = element_bits(from.vess);
    out.lane = static_cast<int8_t>(from.vector_index);
  }
}

void set_memory(const cs_arm64_op& from, Operand& out) {
  out.kind = Operand::Kind::kMemory;
  out.base = register_of(from.mem.base).number;
  out.value = from.mem.disp;
  const Register index = register_of(from.mem.index);
  if (index.kind != Operand::Kind::kGpr) return;  // none, or xzr
  out.index = index.number;
  out.bits = index.bits;
}

Operand operand_of(const cs_arm64_op& from) {
  Operand out;
  switch (from.type) {
    case ARM64_OP_REG: set_register(from, out); break;
    case ARM64_OP_MEM: set_memory(from, out); break;
    case ARM64_OP_IMM:
      out.kind = Operand::Kind::kImmediate;
      out.value = from.imm;
      break;
    case ARM64_OP_FP:
      out.kind = Operand::Kind::kFloat;
      out.number = from.fp;
      break;
    default: out.kind = Operand::Kind::kOther; break;
  }
  out.shift = from.shift.type;
  out.amount = static_cast<uint8_t>(from.shift.value);
  out.extend = from.ext;
  return out;
}

// Capstone drops the arrangement of the aliases mov and mvn of whole vectors; bit 30 has it.
void mend_whole_vector_aliases(A64Record& record) {
  if (record.id != ARM64_INS_MOV && record.id != ARM64_INS_MVN) return;
  for (int i = 0; i < record.operand_count; i++) {
    Operand& operand = record.operands[i];
    if (operand.kind != Operand::Kind::kVector || operand.bits != 128 || operand.lane >= 0)
      continue;
    operand.lane_bits = 8;
    if ((record.word >> 30 & 1) == 0) operand.bits = 64;
  }
}

bool is_always(arm64_cc condition) { return condition == ARM64_CC_AL || condition == ARM64_CC_NV; }

Flow flow_of(const A64Record& record) {
  switch (record.id) {
    case ARM64_INS_B:
      return record.condition == ARM64_CC_INVALID || is_always(record.condition) ? Flow::kJump
                                                                                 : Flow::kBranch;
    case ARM64_INS_CBZ:
    case ARM64_INS_CBNZ:
    case ARM64_INS_TBZ:
    case ARM64_INS_TBNZ: return Flow::kBranch;
    case ARM64_INS_BL:
    case ARM64_INS_BLR: return Flow::kCall;
    case ARM64_INS_BR: return Flow::kIndirect;
    case ARM64_INS_RET: return record.operand_count == 0 ? Flow::kReturn : Flow::kIndirect;
    case ARM64_INS_BRK:
    case ARM64_INS_HLT: return Flow::kTrap;
    default: return Flow::kNext;
  }
}

// Newer than Capstone 4, or left out of it: udf, and the returns that check the link register.
std::optional<Flow> flow_of_unknown(uint32_t word) {
  if (word >> 16 == 0) return Flow::kTrap;
  if (word == 0xd65f0bff || word == 0xd65f0fff) return Flow::kReturn;  // retaa, retab
  return std::nullopt;
}

uint64_t page_of(uint32_t adrp, uint64_t address) {
  const uint64_t pages = (adrp >> 29 & 3) | (adrp >> 5 & 0x7ffff) << 2;
  const int64_t distance = static_cast<int64_t>(pages << 43) >> 31;  // 21 bits, times 4096
  return (address & ~uint64_t{0xfff}) + static_cast<uint64_t>(distance);
}

}  // namespace

A64Decoder::A64Decoder() {
  if (cs_open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, &handle_) != CS_ERR_OK) return;
  cs_option(handle_, CS_OPT_DETAIL, CS_OPT_ON);
  scratch_ = cs_malloc(handle_);
}

A64Decoder::~A64Decoder() {
  if (scratch_ != nullptr) cs_free(scratch_, 1);
  if (handle_ != 0) cs_close(&handle_);
}

bool A64Decoder::disassemble(uint32_t word, uint64_t address) const {
  uint8_t bytes[4];
  for (int i = 0; i < 4; i++) bytes[i] = static_cast<uint8_t>(word >> 8 * i);
  const uint8_t* next = bytes;
  size_t left = sizeof bytes;
  return cs_disasm_iter(handle_, &next, &left, &address, scratch_);
}

bool A64Decoder::decode(uint32_t word, uint64_t address, A64Record& out) const {
  out = A64Record{};
  out.address = address;
  out.word = word;
  if (!disassemble(word, address)) {
    const std::optional<Flow> flow = flow_of_unknown(word);
    if (flow) out.flow = *flow;
    return flow.has_value();
  }
  const cs_arm64& detail = scratch_->detail->arm64;
  out.id = static_cast<arm64_insn>(scratch_->id);
  out.condition = detail.cc;
  out.sets_flags = detail.update_flags;
  out.writeback = detail.writeback;
  out.operand_count = std::min<uint8_t>(detail.op_count, out.operands.size());
  for (int i = 0; i < out.operand_count; i++) out.operands[i] = operand_of(detail.operands[i]);
  mend_whole_vector_aliases(out);
  out.flow = flow_of(out);
  return true;
}

std::string A64Decoder::text(uint32_t word, uint64_t address) const {
  if (!disassemble(word, address)) return {};
  std::string text = scratch_->mnemonic;
  if (scratch_->op_str[0] != '\0') text.append(" ").append(scratch_->op_str);
  return text;
}

std::optional<A64Stub> match_a64_stub(const Image& image, uint64_t address) {
  constexpr uint32_t kAutia1716 = 0xd503219f;
  uint32_t words[5] = {};
  const size_t bytes = std::min(image.code_bytes(address), sizeof words);
  if (bytes < 3 * sizeof words[0]) return std::nullopt;
  std::memcpy(words, image.code(address), bytes);

  if ((words[0] & 0x9f00001f) != 0x90000010) return std::nullopt;  // adrp x16
  const uint64_t page = page_of(words[0], address);
  const bool adds = (words[1] & 0xffc003ff) == 0x91000210;  // add x16, x16, #low
  if (adds && words[2] == 0xd61f0200) {                     // br x16
    return A64Stub{.target = page + (words[1] >> 10 & 0xfff), .length = 12};
  }
  if ((words[1] & 0xffc003ff) != 0xf9400211) return std::nullopt;  // ldr x17, [x16, #low]
  if ((words[2] & 0xffc003ff) != 0x91000210) return std::nullopt;  // add x16, x16, #low
  const int jump = words[3] == kAutia1716 ? 4 : 3;
  if (words[jump] != 0xd61f0220) return std::nullopt;  // br x17
  return A64Stub{.slot = page + (words[1] >> 10 & 0xfff) * 8,
                 .length = static_cast<uint8_t>(4 * jump + 4)};
}

}  // namespace nrd::lift
