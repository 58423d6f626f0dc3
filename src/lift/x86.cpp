// SPDX-License-Identifier: MIT
// src/lift/x86.cpp: the x86-64 front end: decodes with Zydis into records, and the System V
// calling convention.
#include "lift/x86.h"

#include <fmt/format.h>

#include <algorithm>

#include "lift/native.h"

namespace nrd::lift {
namespace {

uint8_t gpr_number(ZydisRegister reg, bool* high_byte) {
  *high_byte = reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH;
  if (*high_byte) return static_cast<uint8_t>(reg - ZYDIS_REGISTER_AH);
  if (reg >= ZYDIS_REGISTER_AL && reg <= ZYDIS_REGISTER_BL)
    return static_cast<uint8_t>(reg - ZYDIS_REGISTER_AL);
  if (reg >= ZYDIS_REGISTER_SPL && reg <= ZYDIS_REGISTER_R15B)
    return static_cast<uint8_t>(reg - ZYDIS_REGISTER_SPL + kRsp);
  return static_cast<uint8_t>(zydis().RegisterGetId(reg));
}

void fill_register(const ZydisDecodedOperand& from, X86Operand& to) {
  to.kind = X86Operand::Kind::kOther;
  switch (zydis().RegisterGetClass(from.reg.value)) {
    case ZYDIS_REGCLASS_GPR8:
    case ZYDIS_REGCLASS_GPR16:
    case ZYDIS_REGCLASS_GPR32:
    case ZYDIS_REGCLASS_GPR64:
      to.kind = X86Operand::Kind::kGpr;
      to.reg = gpr_number(from.reg.value, &to.high_byte);
      break;
    case ZYDIS_REGCLASS_XMM:
      to.kind = X86Operand::Kind::kVector;
      to.reg = static_cast<uint8_t>(zydis().RegisterGetId(from.reg.value));
      break;
    case ZYDIS_REGCLASS_MASK:
      to.kind = X86Operand::Kind::kMask;
      to.reg = static_cast<uint8_t>(zydis().RegisterGetId(from.reg.value));
      break;
    default: break;
  }
}

uint8_t address_register(ZydisRegister reg) {
  return reg == ZYDIS_REGISTER_NONE ? X86Operand::kNoRegister
                                    : static_cast<uint8_t>(zydis().RegisterGetId(reg));
}

void fill_memory(const ZydisDecodedOperand& from, uint64_t next, X86Operand& to) {
  const ZydisDecodedOperandMem& mem = from.mem;
  if (mem.type != ZYDIS_MEMOP_TYPE_MEM && mem.type != ZYDIS_MEMOP_TYPE_AGEN) {
    to.kind = X86Operand::Kind::kOther;  // gathers and the like
    return;
  }
  to.kind = X86Operand::Kind::kMemory;
  to.segment = mem.segment == ZYDIS_REGISTER_FS || mem.segment == ZYDIS_REGISTER_GS;
  to.value = mem.disp.value;
  if (mem.base == ZYDIS_REGISTER_RIP || mem.base == ZYDIS_REGISTER_EIP) {
    to.value += static_cast<int64_t>(next);
    return;
  }
  to.base = address_register(mem.base);
  to.index = address_register(mem.index);
  to.scale = mem.scale;
}

void fill_operand(const ZydisDecodedOperand& from, uint64_t next, X86Operand& to) {
  to.bits = from.size;
  switch (from.type) {
    case ZYDIS_OPERAND_TYPE_REGISTER: fill_register(from, to); break;
    case ZYDIS_OPERAND_TYPE_MEMORY: fill_memory(from, next, to); break;
    case ZYDIS_OPERAND_TYPE_IMMEDIATE:
      to.kind = X86Operand::Kind::kImmediate;
      to.value = from.imm.value.s;
      break;
    default: to.kind = X86Operand::Kind::kOther; break;
  }
}

bool is_jcc(const ZydisDecodedInstruction& in) {
  if (in.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT) return (in.opcode & 0xf0) == 0x70;
  return in.opcode_map == ZYDIS_OPCODE_MAP_0F && (in.opcode & 0xf0) == 0x80;
}

bool is_trap(ZydisMnemonic mnemonic) {
  return mnemonic == ZYDIS_MNEMONIC_UD0 || mnemonic == ZYDIS_MNEMONIC_UD1 ||
         mnemonic == ZYDIS_MNEMONIC_UD2 || mnemonic == ZYDIS_MNEMONIC_HLT ||
         mnemonic == ZYDIS_MNEMONIC_INT3;
}

Flow flow_of(const ZydisDecodedInstruction& in) {
  if (is_trap(in.mnemonic)) return Flow::kTrap;
  switch (in.meta.category) {
    case ZYDIS_CATEGORY_COND_BR: return Flow::kBranch;
    case ZYDIS_CATEGORY_UNCOND_BR: return Flow::kJump;
    case ZYDIS_CATEGORY_CALL: return Flow::kCall;
    case ZYDIS_CATEGORY_RET: return Flow::kReturn;
    default: return Flow::kNext;
  }
}

const char* unsupported_mode(const ZydisDecodedInstruction& in, Flow flow) {
  if (in.attributes & ZYDIS_ATTRIB_HAS_LOCK) return "an atomic operation";
  if (in.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR) return "a far jump, call or return";
  if (flow == Flow::kBranch && !is_jcc(in)) return "a jump that tests a register";
  if (flow == Flow::kReturn && in.mnemonic != ZYDIS_MNEMONIC_RET) return "a return to user mode";
  if (in.encoding != ZYDIS_INSTRUCTION_ENCODING_EVEX) return nullptr;
  const ZydisMaskMode mode = in.avx.mask.mode;
  if (mode == ZYDIS_MASK_MODE_CONTROL || mode == ZYDIS_MASK_MODE_CONTROL_ZEROING)
    return "a choice of lanes by a mask";
  if (in.avx.rounding.mode != ZYDIS_ROUNDING_MODE_INVALID) return "an embedded rounding mode";
  return nullptr;
}

// Where control goes: a known address, or the place of a pointer (a GOT slot).
void fill_target(const X86Record& record, Instruction& out) {
  if (out.flow != Flow::kJump && out.flow != Flow::kBranch && out.flow != Flow::kCall) return;
  const X86Operand& to = record.operands[0];
  if (to.kind == X86Operand::Kind::kImmediate) {
    out.target = record.address + record.length + static_cast<uint64_t>(to.value);
    return;
  }
  if (out.flow == Flow::kJump) out.flow = Flow::kIndirect;
  const bool absolute = to.kind == X86Operand::Kind::kMemory && !to.segment &&
                        to.base == X86Operand::kNoRegister && to.index == X86Operand::kNoRegister;
  if (absolute) out.call_slot = static_cast<uint64_t>(to.value);
  if (out.flow == Flow::kCall && to.kind == X86Operand::Kind::kGpr) out.call_register = to.reg;
}

class X86FrontEnd final : public FrontEnd {
 public:
  X86FrontEnd() {
    zydis().DecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    records_.reserve(256);
  }

  bool decode(const Image& image, uint64_t address, Instruction& out, std::string& reason) override;
  std::string text(const Instruction& instruction) const override;
  NodeId translate(const Instruction& instruction, const Image&, Builder& builder) override {
    X86Translator translator(records_, instruction.native, builder);
    translator.translate();
    return instruction.flow == Flow::kBranch ? translator.branch_condition() : kNoNode;
  }

  std::vector<Place> places(const std::vector<Type>& parameters) const override;
  uint32_t stack_pointer() const override { return kRsp; }
  uint32_t result_gpr() const override { return kRax; }
  uint32_t result_vector() const override { return 0; }
  bool caller_saved(uint32_t variable) const override;
  int call_pushes() const override { return 8; }

 private:
  void fill_record(const ZydisDecodedInstruction& in, const ZydisDecodedOperand* operands,
                   X86Record& record);

  ZydisDecoder decoder_;
  std::vector<X86Record> records_;
};

void X86FrontEnd::fill_record(const ZydisDecodedInstruction& in,
                              const ZydisDecodedOperand* operands, X86Record& record) {
  record.mnemonic = in.mnemonic;
  record.category = in.meta.category;
  record.rule = find_x86_rule(in);
  record.length = in.length;
  record.flow = flow_of(in);
  record.cond = static_cast<Cond>(in.opcode & 0xf);  // Cond is in the order of the encoding
  record.vex = in.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX ||
               in.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
  record.address32 = in.address_width == 32;
  record.broadcast =
      in.avx.broadcast.mode != ZYDIS_BROADCAST_MODE_INVALID && !in.avx.broadcast.is_static;
  record.mask_zeroes = in.avx.mask.mode == ZYDIS_MASK_MODE_ZEROING;
  if (record.mask_zeroes || in.avx.mask.mode == ZYDIS_MASK_MODE_MERGING)
    record.mask = static_cast<uint8_t>(zydis().RegisterGetId(in.avx.mask.reg));
  record.unsupported = unsupported_mode(in, record.flow);
  for (int i = 0; i < in.operand_count_visible; i++) {
    if (operands[i].encoding == ZYDIS_OPERAND_ENCODING_MASK) continue;
    if (record.operand_count == record.operands.size()) break;
    fill_operand(operands[i], record.address + in.length, record.operands[record.operand_count++]);
  }
}

bool X86FrontEnd::decode(const Image& image, uint64_t address, Instruction& out,
                         std::string& reason) {
  const size_t available =
      std::min<size_t>(image.code_bytes(address), ZYDIS_MAX_INSTRUCTION_LENGTH);
  if (available == 0) {
    reason = fmt::format("{:#x} is not code of a loaded module", address);
    return false;
  }
  const uint8_t* bytes = image.code(address);
  ZydisDecoderContext context;
  ZydisDecodedInstruction in;
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT_VISIBLE> operands;
  const ZyanStatus decoded =
      zydis().DecoderDecodeInstruction(&decoder_, &context, bytes, available, &in);
  if (!ZYAN_SUCCESS(decoded)) {
    const bool cut = decoded == ZYDIS_STATUS_NO_MORE_DATA;
    reason = cut ? fmt::format("the code ends inside the instruction at {:#x}", address)
                 : fmt::format("the bytes at {:#x} are no x86-64 instruction", address);
    return false;
  }
  if (!ZYAN_SUCCESS(zydis().DecoderDecodeOperands(&decoder_, &context, &in, operands.data(),
                                                  in.operand_count_visible))) {
    reason = fmt::format("the operands of the instruction at {:#x} cannot be decoded", address);
    return false;
  }
  X86Record& record = records_.emplace_back();
  record.address = address;
  fill_record(in, operands.data(), record);
  std::copy_n(bytes, in.length, record.bytes.begin());
  out = {.address = address,
         .length = in.length,
         .flow = record.flow,
         .native = static_cast<uint32_t>(records_.size() - 1)};
  fill_target(record, out);
  return true;
}

std::string X86FrontEnd::text(const Instruction& instruction) const {
  const X86Record& record = records_[instruction.native];
  ZydisDecodedInstruction in;
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;
  zydis().DecoderDecodeFull(&decoder_, record.bytes.data(), record.length, &in, operands.data());
  ZydisFormatter formatter;
  zydis().FormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
  std::array<char, 128> line{};
  zydis().FormatterFormatInstruction(&formatter, &in, operands.data(), in.operand_count_visible,
                                     line.data(), line.size(), record.address, nullptr);
  return line.data();
}

std::vector<Place> X86FrontEnd::places(const std::vector<Type>& parameters) const {
  static constexpr std::array<uint32_t, 6> kIntegers{kRdi, kRsi, kRdx, kRcx, kR8, kR8 + 1};
  constexpr uint32_t kFloats = 8;
  uint32_t integers = 0, floats = 0;
  uint32_t stack = 8;  // above the return address
  std::vector<Place> places;
  for (Type type : parameters) {
    const bool is_float = type == Type::kF32 || type == Type::kF64;
    if (is_float && floats < kFloats) {
      places.push_back({Place::Where::kVector, floats++});
    } else if (!is_float && integers < kIntegers.size()) {
      places.push_back({Place::Where::kGpr, kIntegers[integers++]});
    } else {
      places.push_back({Place::Where::kStack, stack});
      stack += 8;
    }
  }
  return places;
}

bool X86FrontEnd::caller_saved(uint32_t variable) const {
  if (variable >= kVectorBase) return true;  // all vector registers, and the flags
  return variable == kRax || variable == kRcx || variable == kRdx || variable == kRsi ||
         variable == kRdi || (variable >= kR8 && variable <= kR8 + 3) || variable >= kMaskBase;
}

}  // namespace

std::unique_ptr<FrontEnd> make_x86_front_end() {
  if (!load_zydis()) return nullptr;
  return std::make_unique<X86FrontEnd>();
}

std::string missing_x86_front_end() {
  const Expected<const Zydis*> loaded = load_zydis();
  return loaded ? "" : loaded.error().message();
}

}  // namespace nrd::lift
