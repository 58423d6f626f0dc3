// SPDX-License-Identifier: MIT
// src/gemm/tile_kernel.cpp: writes the micro-kernel of AMX: 32x32 of C in four tiles.
//
//   tiles of sums <- 0 or the partial result
//   for each step (64 bytes of k): load two tiles of A and two of B, then four products
//   tiles of sums -> the partial result
//   at the end of k: row by row, partial result -> epilogue -> C
//
// Tiles: 0 to 3 sums ([row tile][column tile]), 4 and 5 A, 6 and 7 B. Panels of at most 16 rows use
// the first row of tiles alone; the rows of a panel are split evenly, because a product takes as
// long as it has rows of A.
// Bound: with many rows the products, 16 cycles each; all of that with A from L2 and B from L1, if
// loads of A leave L1 alone (60 % if not). With few rows the bandwidth of B. B's next steps are
// announced to L2 while these are used, evenly over the panels of A that they meet. The unit works
// beside the vector pipes: the epilogue of one tile runs under the loads of the next.
#include <cstddef>

#include "gemm/finish_rows.h"
#include "gemm/micro_kernel.h"

namespace nrd::gemm {
namespace {

using jit::G;
using jit::Op;

constexpr int kTileRows = 16, kRowBytes = 64, kTileBytes = kTileRows * kRowBytes, kLine = 64;
constexpr int kA = 4, kB = 6;
// Instructions that do nothing, behind each product and each load of A and B. On virtual machines
// the unit is slow half of the time: then tile instructions close to one another run at a fifth of
// its full rate, with these between them at a quarter to a third. At full rate they cost nothing.
// machine/probe_amx.cpp has as many.
constexpr int kGap = 12;

class Writer {
 public:
  explicit Writer(const MicroKernelSpec& spec)
      : spec_(spec),
        lanes_(spec.family->lanes),
        b_("gemm_tiles", *spec.target, spec.family->lanes),
        rows_(TileRows::of(spec.panel_rows)),
        column_tiles_(spec.vectors) {}

  Expected<jit::Program> write() {
    a_at_ = argument(offsetof(MicroKernelArgs, a));
    b_at_ = argument(offsetof(MicroKernelArgs, b));
    prefetch_at_ = argument(offsetof(MicroKernelArgs, prefetch));
    partial_ = argument(offsetof(MicroKernelArgs, partial));
    partial_row_ = argument(offsetof(MicroKernelArgs, partial_row));
    start();
    multiply();
    move_sums(Op::kTileStore);
    const jit::Label last = b_.label();
    b_.branch(Predicate::kNe, argument(offsetof(MicroKernelArgs, is_last)), 0, last);
    b_.ret();
    b_.bind(last);
    NRD_TRY(write_finish_rows(b_, spec_));
    b_.ret();
    return b_.take();
  }

 private:
  G argument(size_t offset) { return b_.gload({b_.block(), {}, 1, static_cast<int64_t>(offset)}); }
  int row_tiles() const { return rows_.second > 0 ? 2 : 1; }
  void advance(G pointer, G bytes) { b_.gop(Op::kGAdd, pointer, bytes, pointer); }

  void start() {
    const jit::Label from_zero = b_.label(), done = b_.label();
    b_.branch(Predicate::kNe, argument(offsetof(MicroKernelArgs, is_first)), 0, from_zero);
    move_sums(Op::kTileLoad);
    b_.jump(done);
    b_.bind(from_zero);
    for (int r = 0; r < row_tiles(); r++) {
      for (int c = 0; c < column_tiles_; c++) b_.tile(Op::kTileZero, 2 * r + c);
    }
    b_.bind(done);
  }

  void move_sums(Op op) {
    const G second = b_.gop(Op::kGAdd, partial_, b_.gop(Op::kGMul, partial_row_, rows_.first));
    for (int r = 0; r < row_tiles(); r++) {
      for (int c = 0; c < column_tiles_; c++) {
        b_.tile(op, 2 * r + c, {r == 0 ? partial_ : second, partial_row_, 1, kRowBytes * c});
      }
    }
  }

  // Lines of C come from far away: the last block of k has them on their way, a row a step.
  void multiply() {
    row_ = b_.gconst(kRowBytes);
    c_at_ = argument(offsetof(MicroKernelArgs, c));
    const G c_row = argument(offsetof(MicroKernelArgs, c_row));
    const G steps = argument(offsetof(MicroKernelArgs, steps));
    const G is_last = argument(offsetof(MicroKernelArgs, is_last));
    const G with_c = b_.gop(Op::kGMin, steps, b_.gop(Op::kGMul, is_last, spec_.rows));
    b_.gop(Op::kGSub, steps, with_c, steps);
    b_.repeat(steps, [&] { step(); });
    b_.repeat(with_c, [&] {
      step();
      const int bytes = spec_.vectors * lanes_ * static_cast<int>(byte_size(spec_.epilogue.out));
      for (int at = 0; at < bytes; at += kLine) b_.prefetch({c_at_, {}, 1, at}, true);
      advance(c_at_, c_row);
    });
  }

  // A's tiles come past L1, where B's block of k stays for the next panel of A.
  void step() {
    const int instructions = row_tiles() + column_tiles_ + row_tiles() * column_tiles_;
    int done = 0;
    const auto pause = [&] { leave_gap(done++, instructions); };
    for (int r = 0; r < row_tiles(); r++) {
      const int64_t at = int64_t{r} * rows_.first * kRowBytes;
      b_.tile(Op::kTileLoadPast, kA + r, {a_at_, row_, 1, at});
      pause();
    }
    for (int c = 0; c < column_tiles_; c++) {
      b_.tile(Op::kTileLoad, kB + c, {b_at_, row_, 1, int64_t{c} * kTileBytes});
      pause();
    }
    for (int r = 0; r < row_tiles(); r++) {
      for (int c = 0; c < column_tiles_; c++) {
        b_.tile_dot(product_dtype(), 2 * r + c, kA + r, kB + c);
        pause();
      }
    }
    b_.gop(Op::kGAdd, a_at_, int64_t{kRowBytes} * (rows_.first + rows_.second), a_at_);
    b_.gop(Op::kGAdd, b_at_, int64_t{2} * kTileBytes, b_at_);
    b_.gop(Op::kGAdd, prefetch_at_, int64_t{kLine} * spec_.prefetch_lines, prefetch_at_);
  }

  // Behind one of a step's instructions: its share of the lines that the step announces, and kGap.
  void leave_gap(int done, int instructions) {
    const int first = spec_.prefetch_lines * done / instructions;
    const int end = spec_.prefetch_lines * (done + 1) / instructions;
    for (int i = first; i < end; i++) b_.prefetch({prefetch_at_, {}, 1, kLine * i}, true);
    b_.nop(kGap);
  }

  DType product_dtype() const { return spec_.family->element == 2 ? DType::kBF16 : spec_.a; }

  const MicroKernelSpec& spec_;
  int lanes_;
  jit::Builder b_;
  TileRows rows_;
  int column_tiles_;
  G a_at_, b_at_, c_at_, prefetch_at_, partial_, partial_row_, row_;
};

}  // namespace

TileRows TileRows::of(int rows) {
  if (rows <= kTileRows) return {rows, 0};
  return {(rows + 1) / 2, rows / 2};
}

// Palette 1: bytes a row of each tile from byte 16 on, two bytes each; rows from byte 48 on.
TileArgs tile_config(int rows) {
  const TileRows split = TileRows::of(rows);
  TileArgs args;
  args.config[0] = 1;
  const auto set = [&](int tile, int tile_rows) {
    if (tile_rows == 0) return;
    args.config[16 + 2 * tile] = kRowBytes;
    args.config[48 + tile] = static_cast<uint8_t>(tile_rows);
  };
  for (int c = 0; c < 2; c++) {
    set(c, split.first);
    set(2 + c, split.second);
    set(kB + c, kTileRows);
  }
  set(kA, split.first);
  set(kA + 1, split.second);
  return args;
}

jit::Program write_tile_configure(const jit::Target& target, bool is_release) {
  jit::Builder b("gemm_tile_config", target, target.lanes(false));
  if (is_release) {
    b.tile(Op::kTileRelease, 0);
  } else {
    b.tile(Op::kTileConfig, 0, {b.block(), {}, 1, offsetof(TileArgs, config)});
  }
  b.ret();
  return b.take();
}

Expected<jit::Program> write_tile_kernel(const MicroKernelSpec& spec) {
  return Writer(spec).write();
}

}  // namespace nrd::gemm
