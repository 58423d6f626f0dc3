// SPDX-License-Identifier: MIT
// tests/kernel/amx_emulator.cpp: decodes the instruction at fault, and does its work.
//
// Integers as the hardware does them; products of bf16 are summed in another order, so that their
// last bits differ from the hardware's. What faults there, a tile without a shape or shapes that do
// not fit, ends the program here.
//
// All of them are VEX-encoded in three bytes and lie in opcode map 2:
//   C4  ~R ~X ~B map  W ~vvvv L pp  opcode  ModRM  [SIB]  [displacement]
#include "amx_emulator.h"

#if defined(__x86_64__)
#include <signal.h>
#include <ucontext.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace nrd {
namespace {

constexpr int kTiles = 8, kRows = 16, kRowBytes = 64;

struct Tile {
  alignas(64) uint8_t at[kRows][kRowBytes];
};

struct State {
  uint8_t config[64];
  Tile tiles[kTiles];

  int rows(int tile) const { return config[48 + tile]; }
  int row_bytes(int tile) const { return config[16 + 2 * tile] | config[17 + 2 * tile] << 8; }
  bool has(int tile) const { return rows(tile) > 0; }
};

thread_local State t_state;

// In the order of their numbers.
constexpr int kRegisters[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                              REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                              REG_R12, REG_R13, REG_R14, REG_R15};

struct Instruction {
  int prefix = 0;  // pp: 0 none, 1 66, 2 F3, 3 F2
  int opcode = 0;
  bool has_memory = false;
  int reg = 0, rm = 0, vvvv = 0;  // tiles
  char* base = nullptr;           // of memory, displacement added
  int64_t index = 0;              // scaled
  int length = 0;
};

// False: none of ours.
bool decode(const uint8_t* code, const greg_t* registers, Instruction& out) {
  if (code[0] != 0xc4 || (code[1] & 0x1f) != 2) return false;
  const auto value = [&](int number) { return registers[kRegisters[number]]; };
  const int x = ~code[1] >> 6 & 1, b = ~code[1] >> 5 & 1;
  out.prefix = code[2] & 3;
  out.vvvv = ~code[2] >> 3 & 7;
  out.opcode = code[3];
  const int mod = code[4] >> 6, rm = code[4] & 7;
  out.reg = code[4] >> 3 & 7;
  out.rm = rm;
  out.length = 5;
  out.has_memory = mod != 3;
  if (!out.has_memory) return true;
  int base = rm | b << 3;
  if (rm == 4) {
    const uint8_t sib = code[out.length++];
    base = (sib & 7) | b << 3;
    const int index = (sib >> 3 & 7) | x << 3;
    if (index != 4) out.index = value(index) << (sib >> 6);
  }
  if (mod == 0 && (base & 7) == 5) return false;  // no base, or the instruction's own address
  int64_t displacement = 0;
  if (mod == 1) displacement = static_cast<int8_t>(code[out.length++]);
  if (mod == 2) {
    int32_t wide;
    std::memcpy(&wide, code + out.length, sizeof wide);
    displacement = wide;
    out.length += 4;
  }
  out.base = reinterpret_cast<char*>(value(base) + displacement);
  return true;
}

float widen(const uint8_t* bf16) {
  uint32_t bits = static_cast<uint32_t>(bf16[0] | bf16[1] << 8) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// sums += the products of four bytes, or of two bf16, of a row of `a` and of a row of `b`.
template <class Sum, class Group>
bool multiply(int sums, int a, int b, Group group) {
  State& state = t_state;
  if (!state.has(sums) || !state.has(a) || !state.has(b)) return false;
  if (state.rows(a) != state.rows(sums) || state.row_bytes(b) != state.row_bytes(sums) ||
      state.row_bytes(a) != 4 * state.rows(b) || sums == a || sums == b || a == b) {
    return false;
  }
  for (int m = 0; m < state.rows(sums); m++) {
    Sum row[kRowBytes / 4];
    std::memcpy(row, state.tiles[sums].at[m], sizeof row);
    for (int k = 0; k < state.row_bytes(a) / 4; k++) {
      const uint8_t* left = state.tiles[a].at[m] + 4 * k;
      for (int n = 0; n < state.row_bytes(sums) / 4; n++) {
        row[n] = group(row[n], left, state.tiles[b].at[k] + 4 * n);
      }
    }
    std::memcpy(state.tiles[sums].at[m], row, sizeof row);
  }
  return true;
}

float add_bf16(float sum, const uint8_t* a, const uint8_t* b) {
  sum += widen(a) * widen(b);
  return sum + widen(a + 2) * widen(b + 2);
}

template <class A, class B>
int32_t add_bytes(int32_t sum, const uint8_t* a, const uint8_t* b) {
  for (int i = 0; i < 4; i++) sum += static_cast<A>(a[i]) * static_cast<B>(b[i]);
  return sum;
}

bool move_tile(const Instruction& inst) {
  State& state = t_state;
  if (!state.has(inst.reg)) return false;
  Tile& tile = state.tiles[inst.reg];
  const bool is_store = inst.prefix == 2;
  if (!is_store) std::memset(&tile, 0, sizeof tile);
  for (int r = 0; r < state.rows(inst.reg); r++) {
    char* memory = inst.base + r * inst.index;
    const auto bytes = static_cast<size_t>(state.row_bytes(inst.reg));
    if (is_store) {
      std::memcpy(memory, tile.at[r], bytes);
    } else {
      std::memcpy(tile.at[r], memory, bytes);
    }
  }
  return true;
}

// ldtilecfg, or tilerelease without memory.
bool configure(const Instruction& inst) {
  State& state = t_state;
  std::memset(&state, 0, sizeof state);
  if (!inst.has_memory) return true;
  std::memcpy(state.config, inst.base, sizeof state.config);
  for (int t = 0; t < kTiles; t++) {
    if (state.rows(t) > kRows || state.row_bytes(t) > kRowBytes) return false;
    if ((state.rows(t) == 0) != (state.row_bytes(t) == 0)) return false;
  }
  return state.config[0] == 1;  // the only palette with tiles
}

bool clear_tile(int tile) {
  std::memset(&t_state.tiles[tile], 0, sizeof(Tile));
  return t_state.has(tile);
}

bool carry_out(const Instruction& inst) {
  const int sums = inst.reg, a = inst.rm, b = inst.vvvv;
  switch (inst.opcode << 4 | inst.prefix) {
    case 0x490: return configure(inst);
    case 0x493: return clear_tile(inst.reg);  // tilezero
    case 0x4b1:                               // tileloaddt1
    case 0x4b2:                               // tilestored
    case 0x4b3: return move_tile(inst);       // tileloadd
    case 0x5c2: return multiply<float>(sums, a, b, add_bf16);
    case 0x5e1: return multiply<int32_t>(sums, a, b, add_bytes<uint8_t, int8_t>);
    case 0x5e3: return multiply<int32_t>(sums, a, b, add_bytes<int8_t, int8_t>);
    default: return false;
  }
}

void on_illegal(int, siginfo_t*, void* context) {
  greg_t* registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  Instruction inst;
  const auto* code = reinterpret_cast<const uint8_t*>(registers[REG_RIP]);
  if (!decode(code, registers, inst) || !carry_out(inst)) std::abort();
  registers[REG_RIP] += inst.length;
}

}  // namespace

void emulate_amx() {
  struct sigaction action = {};
  action.sa_sigaction = on_illegal;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGILL, &action, nullptr);
}

}  // namespace nrd

#else

namespace nrd {
void emulate_amx() {}
}  // namespace nrd

#endif
