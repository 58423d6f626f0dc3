// SPDX-License-Identifier: MIT
// src/jit/ir_text.cpp: the text form of the vector IR and the table of its operations.
//
//   program silu lanes 16
//     g0 = argument 0
//     v3 = const.f32 0x3f800000
//     v4 = load.f32.f16 [g0 + 8] tail g2 m1
//     v5 = fma.f32 v4 v4 v3
//     branch.lt g2 16 L0
#include <fmt/format.h>

#include <array>
#include <iterator>

#include "jit/ir.h"
#include "jit/op_info.h"

namespace nrd::jit {
namespace {

// In the order of Op.
constexpr OpInfo kOps[] = {
    {"const", 'v', '-', '-', '-'},
    {"iota", 'v', '-', '-', '-'},
    {"load", 'v', '-', '-', '-', true, true},
    {"store", '-', 'v', '-', '-', true, true},
    {"broadcast", 'v', '-', '-', '-', true},
    {"load_strided", 'v', '-', 'g', '-', true, true},
    {"store_strided", '-', 'v', 'g', '-', true, true},
    {"gather", 'v', 'v', '-', '-', true, true},
    {"splat_gpr", 'v', 'g', '-', '-'},
    {"splat", 'v', 'v', '-', '-'},
    {"move", 'v', 'v', '-', '-'},
    {"add", 'v', 'v', 'v', '-'},
    {"sub", 'v', 'v', 'v', '-'},
    {"mul", 'v', 'v', 'v', '-'},
    {"div", 'v', 'v', 'v', '-'},
    {"sqrt", 'v', 'v', '-', '-'},
    {"fma", 'v', 'v', 'v', 'v'},
    {"fnma", 'v', 'v', 'v', 'v'},
    {"fms", 'v', 'v', 'v', 'v'},
    {"fma_lane", 'v', 'v', 'v', 'v'},
    {"dot_i16", 'v', 'v', 'v', 'v'},
    {"dot_u8", 'v', 'v', 'v', 'v'},
    {"dot_bf16", 'v', 'v', 'v', 'v'},
    {"dot_lane", 'v', 'v', 'v', 'v'},
    {"matrix_i8", 'v', 'v', 'v', 'v'},
    {"matrix_bf16", 'v', 'v', 'v', 'v'},
    {"max", 'v', 'v', 'v', '-'},
    {"min", 'v', 'v', 'v', '-'},
    {"floor", 'v', 'v', '-', '-'},
    {"ceil", 'v', 'v', '-', '-'},
    {"trunc", 'v', 'v', '-', '-'},
    {"rint", 'v', 'v', '-', '-'},
    {"and", 'v', 'v', 'v', '-'},
    {"or", 'v', 'v', 'v', '-'},
    {"xor", 'v', 'v', 'v', '-'},
    {"and_not", 'v', 'v', 'v', '-'},
    {"shl", 'v', 'v', '-', '-'},
    {"shr", 'v', 'v', '-', '-'},
    {"sar", 'v', 'v', '-', '-'},
    {"shl_v", 'v', 'v', 'v', '-'},
    {"shr_v", 'v', 'v', 'v', '-'},
    {"sar_v", 'v', 'v', 'v', '-'},
    {"i32_to_f32", 'v', 'v', '-', '-'},
    {"f32_to_i32", 'v', 'v', '-', '-'},
    {"f32_to_i32_nearest", 'v', 'v', '-', '-'},
    {"f32_to_f64", 'v', 'v', '-', '-'},
    {"f64_to_f32", 'v', 'v', '-', '-'},
    {"i32_to_f64", 'v', 'v', '-', '-'},
    {"f64_to_i32", 'v', 'v', '-', '-'},
    {"scale", 'v', 'v', 'v', '-'},
    {"exponent", 'v', 'v', '-', '-'},
    {"mantissa", 'v', 'v', '-', '-'},
    {"lookup", 'v', 'v', '-', '-'},
    {"fold", 'v', 'v', '-', '-'},
    {"even", 'v', 'v', 'v', '-'},
    {"odd", 'v', 'v', 'v', '-'},
    {"zip_low", 'v', 'v', 'v', '-'},
    {"zip_high", 'v', 'v', 'v', '-'},
    {"pair_low", 'v', 'v', 'v', '-'},
    {"pair_high", 'v', 'v', 'v', '-'},
    {"select", 'v', 'v', 'v', '-'},
    {"call_lanes", 'v', 'v', 'o', '-'},
    {"compare", 'm', 'v', 'v', '-'},
    {"mask_and", 'm', 'm', 'm', '-'},
    {"mask_or", 'm', 'm', 'm', '-'},
    {"mask_xor", 'm', 'm', 'm', '-'},
    {"mask_not", 'm', 'm', '-', '-'},
    {"mask_const", 'm', '-', '-', '-'},
    {"tail_mask", 'm', 'g', '-', '-'},
    {"mask_to_vector", 'v', 'm', '-', '-'},
    {"argument", 'g', '-', '-', '-'},
    {"gconst", 'g', '-', '-', '-'},
    {"gmove", 'g', 'g', '-', '-'},
    {"gload", 'g', '-', '-', '-', true},
    {"gstore", '-', 'g', '-', '-', true},
    {"gadd", 'g', 'g', 'i', '-'},
    {"gsub", 'g', 'g', 'i', '-'},
    {"gmul", 'g', 'g', 'i', '-'},
    {"gand", 'g', 'g', 'i', '-'},
    {"gmin", 'g', 'g', 'i', '-'},
    {"gmax", 'g', 'g', 'i', '-'},
    {"gshl", 'g', 'g', '-', '-'},
    {"gsar", 'g', 'g', '-', '-'},
    {"gdiv", 'g', 'g', 'i', '-'},
    {"gaddress", 'g', '-', '-', '-', true},
    {"glane", 'g', 'v', '-', '-'},
    {"gdata", 'g', '-', '-', '-'},
    {"label", '-', '-', '-', '-', false, false, true},
    {"jump", '-', '-', '-', '-', false, false, true},
    {"branch", '-', 'g', 'i', '-', false, false, true},
    {"branch_any", '-', 'm', '-', '-', false, false, true},
    {"loop_begin", '-', '-', '-', '-'},
    {"loop_end", '-', '-', '-', '-'},
    {"prefetch", '-', '-', '-', '-', true},
    {"tile_config", '-', '-', '-', '-', true},
    {"tile_release", '-', '-', '-', '-'},
    {"tile_zero", '-', '-', '-', '-'},
    {"tile_load", '-', '-', '-', '-', true},
    {"tile_load_past", '-', '-', '-', '-', true},
    {"tile_store", '-', '-', '-', '-', true},
    {"tile_dot", '-', '-', '-', '-'},
    {"nop", '-', '-', '-', '-'},
    {"fence", '-', '-', '-', '-'},
    {"return", '-', '-', '-', '-'},
};
static_assert(std::size(kOps) == static_cast<size_t>(Op::kReturn) + 1);
static_assert(kOps[static_cast<size_t>(Op::kCallLanes)].word == "call_lanes");
static_assert(kOps[static_cast<size_t>(Op::kGArgument)].word == "argument");

bool prints_lane(Op op) { return op < Op::kMaskAnd; }

bool prints_immediate(const Inst& inst) {
  switch (inst.op) {
    case Op::kFold:
    case Op::kLookup:
    case Op::kCallLanes:
    case Op::kFmaLane:
    case Op::kDotLane:
    case Op::kMatrixI8:
    case Op::kTileZero:
    case Op::kTileLoad:
    case Op::kTileLoadPast:
    case Op::kTileStore:
    case Op::kTileDot:
    case Op::kNop:
    case Op::kMaskConst:
    case Op::kGArgument:
    case Op::kGConst:
    case Op::kGData:
    case Op::kGLoad:
    case Op::kGStore:
    case Op::kShl:
    case Op::kShr:
    case Op::kSar:
    case Op::kGShl:
    case Op::kGSar: return true;
    default: return inst.use_imm;
  }
}

class Printer {
 public:
  explicit Printer(const Program& program) : program_(program) {}

  std::string print() {
    append("program {} lanes {}\n", program_.name, program_.lanes);
    size_t depth = 1;
    for (const Inst& inst : program_.code) {
      if (inst.op == Op::kLoopEnd && depth > 1) depth--;
      text_.append(inst.op == Op::kLabel ? 0 : 2 * depth, ' ');
      print_instruction(inst);
      text_ += '\n';
      if (inst.op == Op::kLoopBegin) depth++;
    }
    return std::move(text_);
  }

 private:
  template <class... Args>
  void append(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  void print_register(uint32_t reg) {
    if (reg >= program_.registers.size()) return append("?{}", reg);
    constexpr char kLetters[] = {'v', 'm', 'g'};
    append("{}{}", kLetters[static_cast<int>(program_.registers[reg])], reg);
  }

  void print_operand(uint32_t reg) {
    if (reg == kNoReg) return;
    text_ += ' ';
    print_register(reg);
  }

  void print_memory(const Mem& mem) {
    text_ += " [";
    if (mem.base.valid()) print_register(mem.base.id);
    if (mem.index.valid()) {
      text_ += " + ";
      print_register(mem.index.id);
      if (mem.scale != 1) append("*{}", mem.scale);
    }
    if (mem.offset != 0) append(" {} {}", mem.offset < 0 ? '-' : '+', std::abs(mem.offset));
    text_ += ']';
  }

  void print_instruction(const Inst& inst) {
    const OpInfo& op = op_info(inst.op);
    if (inst.op == Op::kLabel) return append("L{}:", inst.label);
    if (inst.dst != kNoReg) {
      print_register(inst.dst);
      text_ += " = ";
    }
    text_ += op.word;
    if (prints_lane(inst.op)) append(".{}", lane_word(inst.lane));
    if (prints_lane(inst.op) && op.has_memory) append(".{}", word(inst.dtype));
    if (inst.op == Op::kCompare || inst.op == Op::kBranch) {
      append(".{}", predicate_word(inst.predicate));
    }
    if (inst.nt) text_ += ".nt";
    if (op.has_memory) print_memory(inst.mem);
    if (inst.op == Op::kSelect) print_operand(inst.mask);
    print_operand(inst.a);
    print_operand(inst.b);
    print_operand(inst.c);
    if (inst.op == Op::kConst) append(" {:#x}", static_cast<uint64_t>(inst.imm));
    if (prints_immediate(inst)) append(" {}", inst.imm);
    if (op.has_tail && inst.count != kNoReg) {
      text_ += " tail";
      print_operand(inst.count);
      print_operand(inst.mask);
    }
    if (op.has_label) append(" L{}", inst.label);
  }

  const Program& program_;
  std::string text_;
};

}  // namespace

const OpInfo& op_info(Op op) { return kOps[static_cast<size_t>(op)]; }

std::string_view lane_word(Lane lane) {
  constexpr std::string_view kWords[] = {"f32", "f64", "i32"};
  return kWords[static_cast<size_t>(lane)];
}

bool moves_as(DType dtype, Lane lane) {
  switch (dtype) {
    case DType::kF64: return lane == Lane::kF64;
    case DType::kF32: return lane == Lane::kF32 || lane == Lane::kI32;
    case DType::kF16:
    case DType::kBF16:
    case DType::kF8E4M3:
    case DType::kF8E5M2: return lane == Lane::kF32;
    case DType::kI8:
    case DType::kU8:
    case DType::kI32: return lane == Lane::kI32;
    default: return false;
  }
}

std::string program_text(const Program& program) { return Printer(program).print(); }

}  // namespace nrd::jit
