// SPDX-License-Identifier: MIT
// src/jit/x86_tiles.cpp: the tiles of AMX. Programs name them; the allocator knows nothing of them.
#include "jit/x86_emitter.h"

namespace nrd::jit {
namespace {

x86::Tmm tmm(int64_t number) { return x86::Tmm(static_cast<uint32_t>(number)); }

}  // namespace

void X86Emitter::tile(const Inst& inst) {
  switch (inst.op) {
    case Op::kTileConfig: a_.ldtilecfg(address(inst.mem)); return;
    case Op::kTileRelease: a_.tilerelease(); return;
    case Op::kTileZero: a_.tilezero(tmm(inst.imm)); return;
    case Op::kTileLoad: a_.tileloadd(tmm(inst.imm), address(inst.mem)); return;
    case Op::kTileLoadPast: a_.tileloaddt1(tmm(inst.imm), address(inst.mem)); return;
    case Op::kTileStore: a_.tilestored(address(inst.mem), tmm(inst.imm)); return;
    default: break;
  }
  const x86::Tmm sum = tmm(inst.imm % 8), a = tmm(inst.imm / 8 % 8), b = tmm(inst.imm / 64);
  switch (inst.dtype) {
    case DType::kBF16: a_.tdpbf16ps(sum, a, b); return;
    case DType::kI8: a_.tdpbssd(sum, a, b); return;
    case DType::kU8: a_.tdpbusd(sum, a, b); return;
    default: fail("a tile of a dtype that has no product");
  }
}

}  // namespace nrd::jit
