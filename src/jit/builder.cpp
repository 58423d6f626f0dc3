// SPDX-License-Identifier: MIT
// src/jit/builder.cpp: writes programs of the vector IR, one instruction a call.
#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "jit/ir.h"

namespace nrd::jit {
namespace {

Inst make(Op op, Lane lane = Lane::kF32) {
  Inst inst;
  inst.op = op;
  inst.lane = lane;
  return inst;
}

Inst make_memory(Op op, DType dtype, Lane lane, const Mem& mem, const Tail* tail) {
  Inst inst = make(op, lane);
  inst.dtype = dtype;
  inst.mem = mem;
  if (tail != nullptr) {
    inst.count = tail->count.id;
    inst.mask = tail->mask.id;
  }
  return inst;
}

}  // namespace

Builder::Builder(std::string name, const Target& target, int lanes) : target_(target) {
  program_.name = std::move(name);
  program_.lanes = lanes;
  program_.code.reserve(64);
}

// The arguments and the constants stand in front, whenever they were first asked for: no branch can
// lead around them.
Program Builder::take() {
  std::vector<Inst> entry;
  entry.reserve(constants_.size() + arguments_.size() + program_.code.size());
  for (size_t i = 0; i < arguments_.size(); i++) {
    if (!arguments_[i].valid()) continue;
    Inst inst = make(Op::kGArgument);
    inst.dst_class = RegClass::kGpr;
    inst.dst = arguments_[i].id;
    inst.imm = static_cast<int64_t>(i);
    entry.push_back(inst);
  }
  for (const Constant& constant : constants_) {
    Inst inst = make(Op::kConst, constant.lane);
    inst.dst = constant.reg;
    inst.imm = static_cast<int64_t>(constant.bits);
    entry.push_back(inst);
  }
  entry.insert(entry.end(), program_.code.begin(), program_.code.end());
  program_.code = std::move(entry);
  return std::move(program_);
}

uint32_t Builder::new_register(RegClass c, int physical) {
  program_.registers.push_back(c);
  program_.pinned.push_back(static_cast<int16_t>(physical));
  return static_cast<uint32_t>(program_.registers.size() - 1);
}

V Builder::new_vector() { return {new_register(RegClass::kVector)}; }
G Builder::new_gpr() { return {new_register(RegClass::kGpr)}; }
M Builder::new_mask() { return {new_register(RegClass::kMask)}; }
V Builder::pinned_vector(int physical) { return {new_register(RegClass::kVector, physical)}; }

V Builder::define(Inst inst, V into) {
  if (!into.valid()) into = new_vector();
  inst.dst = into.id;
  append(inst);
  return into;
}

G Builder::define(Inst inst, G into) {
  if (!into.valid()) into = new_gpr();
  inst.dst = into.id;
  inst.dst_class = RegClass::kGpr;
  append(inst);
  return into;
}

// ---- vectors ----

V Builder::constant(Lane lane, uint64_t bits) {
  const bool is_wide = lane == Lane::kF64;
  if (!is_wide) bits &= 0xffffffffu;
  for (const Constant& constant : constants_) {
    if (constant.bits == bits && (constant.lane == Lane::kF64) == is_wide) return {constant.reg};
  }
  const V reg = new_vector();
  constants_.push_back({lane, bits, reg.id});
  return reg;
}

V Builder::constant(float value) { return constant(Lane::kF32, std::bit_cast<uint32_t>(value)); }

V Builder::op1(Op op, Lane lane, V a, V into) { return op3(op, lane, a, {}, {}, into); }
V Builder::op2(Op op, Lane lane, V a, V b, V into) { return op3(op, lane, a, b, {}, into); }

V Builder::op3(Op op, Lane lane, V a, V b, V c, V into) {
  Inst inst = make(op, lane);
  inst.a = a.id;
  inst.b = b.id;
  inst.c = c.id;
  return define(inst, into);
}

V Builder::fma_lane(V a, V b, int lane, V c, V into) {
  Inst inst = make(Op::kFmaLane);
  inst.a = a.id;
  inst.b = b.id;
  inst.c = c.id;
  inst.imm = lane;
  return define(inst, into);
}

void Builder::add_products(Op op, V a, V b, V sum, int imm) {
  Inst inst = make(op);
  inst.a = a.id;
  inst.b = b.id;
  inst.c = sum.id;
  inst.imm = imm;
  define(inst, sum);
}

V Builder::shift(Op op, V a, int count, V into) {
  Inst inst = make(op, Lane::kI32);
  inst.a = a.id;
  inst.imm = count;
  inst.use_imm = true;
  return define(inst, into);
}

V Builder::fold(Lane lane, V a, int distance) {
  Inst inst = make(Op::kFold, lane);
  inst.a = a.id;
  inst.imm = distance;
  return define(inst, V{});
}

V Builder::lookup(V index, const std::array<float, 16>& table) {
  Inst inst = make(Op::kLookup, Lane::kF32);
  inst.a = index.id;
  // By their bits: zeros of either sign are different elements, and those of integers are any.
  const auto known =
      std::find_if(program_.tables.begin(), program_.tables.end(), [&](const auto& other) {
        return std::memcmp(other.data(), table.data(), sizeof table) == 0;
      });
  inst.imm = known - program_.tables.begin();
  if (known == program_.tables.end()) program_.tables.push_back(table);
  return define(inst, V{});
}

V Builder::select(Lane lane, M m, V a, V b, V into) {
  Inst inst = make(Op::kSelect, lane);
  inst.mask = m.id;
  inst.a = a.id;
  inst.b = b.id;
  return define(inst, into);
}

V Builder::call_lanes(Lane lane, int helper, V a, V b) {
  Inst inst = make(Op::kCallLanes, lane);
  inst.a = a.id;
  inst.b = b.id;
  inst.imm = helper;
  return define(inst, V{});
}

V Builder::splat(Lane lane, V a) { return op1(Op::kSplat, lane, a); }

V Builder::splat_gpr(G g) { return op1(Op::kSplatGpr, Lane::kI32, V{g.id}); }

V Builder::iota() { return define(make(Op::kIota, Lane::kI32), V{}); }

// ---- masks ----

M Builder::compare(Predicate p, Lane lane, V a, V b) {
  Inst inst = make(Op::kCompare, lane);
  inst.predicate = p;
  inst.dst_class = RegClass::kMask;
  inst.a = a.id;
  inst.b = b.id;
  inst.dst = new_register(RegClass::kMask);
  append(inst);
  return {inst.dst};
}

M Builder::mask_op(Op op, M a, M b) {
  Inst inst = make(op);
  inst.dst_class = RegClass::kMask;
  inst.a = a.id;
  inst.b = b.id;
  inst.dst = new_register(RegClass::kMask);
  append(inst);
  return {inst.dst};
}

M Builder::mask_constant(bool all) {
  Inst inst = make(Op::kMaskConst);
  inst.dst_class = RegClass::kMask;
  inst.imm = all;
  inst.dst = new_register(RegClass::kMask);
  append(inst);
  return {inst.dst};
}

M Builder::tail_mask(G count) { return mask_op(Op::kTailMask, M{count.id}); }

V Builder::mask_to_vector(M m) { return op1(Op::kMaskToVector, Lane::kI32, V{m.id}); }

Tail Builder::tail(G count) { return {count, tail_mask(count)}; }

// ---- memory ----

V Builder::load(DType dtype, Lane lane, Mem mem, const Tail* tail, V into) {
  return define(make_memory(Op::kLoad, dtype, lane, mem, tail), into);
}

void Builder::store(DType dtype, Lane lane, Mem mem, V a, const Tail* tail, bool nt) {
  Inst inst = make_memory(Op::kStore, dtype, lane, mem, tail);
  inst.a = a.id;
  inst.nt = nt;
  append(inst);
}

V Builder::broadcast(DType dtype, Lane lane, Mem mem, V into) {
  return define(make_memory(Op::kBroadcast, dtype, lane, mem, nullptr), into);
}

V Builder::load_strided(DType dtype, Lane lane, Mem mem, G stride, const Tail* tail) {
  Inst inst = make_memory(Op::kLoadStrided, dtype, lane, mem, tail);
  inst.b = stride.id;
  return define(inst, V{});
}

void Builder::store_strided(DType dtype, Lane lane, Mem mem, G stride, V a, const Tail* tail) {
  Inst inst = make_memory(Op::kStoreStrided, dtype, lane, mem, tail);
  inst.a = a.id;
  inst.b = stride.id;
  append(inst);
}

V Builder::gather(DType dtype, Lane lane, Mem mem, V index, const Tail* tail) {
  Inst inst = make_memory(Op::kGather, dtype, lane, mem, tail);
  inst.a = index.id;
  return define(inst, V{});
}

// ---- general-purpose registers ----

G Builder::argument(size_t index) {
  if (!arguments_[index].valid()) arguments_[index] = new_gpr();
  return arguments_[index];
}

G Builder::block() { return argument(0); }
G Builder::pointers() { return argument(1); }

G Builder::gconst(int64_t value) {
  Inst inst = make(Op::kGConst);
  inst.imm = value;
  return define(inst, G{});
}

G Builder::gload(Mem mem, int bytes, G into) {
  Inst inst = make(Op::kGLoad);
  inst.mem = mem;
  inst.imm = bytes;
  return define(inst, into);
}

void Builder::gstore(Mem mem, G value) {
  Inst inst = make(Op::kGStore);
  inst.mem = mem;
  inst.a = value.id;
  inst.imm = 8;
  append(inst);
}

G Builder::gop(Op op, G a, G b, G into) {
  Inst inst = make(op);
  inst.a = a.id;
  inst.b = b.id;
  return define(inst, into);
}

G Builder::gop(Op op, G a, int64_t imm, G into) {
  Inst inst = make(op);
  inst.a = a.id;
  inst.imm = imm;
  inst.use_imm = true;
  return define(inst, into);
}

G Builder::gmove(G a, G into) {
  Inst inst = make(Op::kGMove);
  inst.a = a.id;
  return define(inst, into);
}

G Builder::gaddress(Mem mem) {
  Inst inst = make(Op::kGAddress);
  inst.mem = mem;
  return define(inst, G{});
}

G Builder::gdata(const std::vector<uint8_t>& bytes) {
  Inst inst = make(Op::kGData);
  const auto known = std::find(program_.data.begin(), program_.data.end(), bytes);
  inst.imm = known - program_.data.begin();
  if (known == program_.data.end()) program_.data.push_back(bytes);
  return define(inst, G{});
}

G Builder::glane(V a) {
  Inst inst = make(Op::kGLane, Lane::kI32);
  inst.a = a.id;
  return define(inst, G{});
}

// ---- control ----

Label Builder::label() { return {program_.labels++}; }

void Builder::bind(Label label) {
  Inst inst = make(Op::kLabel);
  inst.label = label.id;
  append(inst);
}

void Builder::jump(Label label) {
  Inst inst = make(Op::kJump);
  inst.label = label.id;
  append(inst);
}

void Builder::branch(Predicate p, G a, G b, Label label) {
  Inst inst = make(Op::kBranch);
  inst.predicate = p;
  inst.a = a.id;
  inst.b = b.id;
  inst.label = label.id;
  append(inst);
}

void Builder::branch(Predicate p, G a, int64_t imm, Label label) {
  Inst inst = make(Op::kBranch);
  inst.predicate = p;
  inst.a = a.id;
  inst.imm = imm;
  inst.use_imm = true;
  inst.label = label.id;
  append(inst);
}

void Builder::branch_any(M m, Label label) {
  Inst inst = make(Op::kBranchAny);
  inst.a = m.id;
  inst.label = label.id;
  append(inst);
}

void Builder::loop_begin() { append(make(Op::kLoopBegin)); }
void Builder::loop_end() { append(make(Op::kLoopEnd)); }
void Builder::tile(Op op, int tile, Mem mem) {
  Inst inst = make(op);
  inst.mem = mem;
  inst.imm = tile;
  append(inst);
}

void Builder::tile_dot(DType dtype, int sum, int a, int b) {
  Inst inst = make(Op::kTileDot);
  inst.dtype = dtype;
  inst.imm = sum + 8 * a + 64 * b;
  append(inst);
}

void Builder::nop(int times) {
  Inst inst = make(Op::kNop);
  inst.imm = times;
  append(inst);
}

void Builder::fence() { append(make(Op::kFence)); }
void Builder::ret() { append(make(Op::kReturn)); }

void Builder::prefetch(Mem mem, bool is_to_l2) {
  Inst inst = make(Op::kPrefetch);
  inst.imm = is_to_l2;
  inst.mem = mem;
  append(inst);
}

}  // namespace nrd::jit
