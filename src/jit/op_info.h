// SPDX-License-Identifier: MIT
// src/jit/op_info.h: what each operation of the vector IR takes and yields.
#pragma once

#include <string_view>

#include "jit/ir.h"

namespace nrd::jit {

// Kinds of operands: v vector, m mask, g general-purpose register, i such a register or the
// immediate, o vector or none, '-' none.
struct OpInfo {
  std::string_view word;
  char dst, a, b, c;
  bool has_memory = false;
  bool has_tail = false;  // may carry a count and a mask
  bool has_label = false;
};

const OpInfo& op_info(Op op);
std::string_view lane_word(Lane lane);
inline int lane_bytes(Lane lane) { return lane == Lane::kF64 ? 8 : 4; }

// The registers an instruction reads, in no particular order.
template <class Visit>
void for_each_use(const Inst& inst, Visit visit) {
  for (uint32_t reg :
       {inst.a, inst.b, inst.c, inst.mask, inst.count, inst.mem.base.id, inst.mem.index.id}) {
    if (reg != kNoReg) visit(reg);
  }
}

// Whether a memory operation may move `dtype` as `lane`: a 4-byte element may also be taken as
// bare bits (f32 as i32).
bool moves_as(DType dtype, Lane lane);

}  // namespace nrd::jit
