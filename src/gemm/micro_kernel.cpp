// SPDX-License-Identifier: MIT
// src/gemm/micro_kernel.cpp: writes the micro-kernel, once for all ISAs.
//
//   accumulators <- 0 or the partial result
//   for each step of k (four a turn): load the vectors of B, broadcast each row's element of A
//                                     (NEON: load the rows, multiply by lane), one multiply-add
//                                     an accumulator
//   accumulators -> the partial result, or epilogue and C
//
// Registers: the accumulators are pinned from number 0 on, row by row; what the allocator has left
// (4 of 32 on AVX-512, 4 of 16 on AVX2, 8 of 32 on NEON) holds B, broadcasts of A and later the
// epilogue's values.
// Bound: the multiply-adds. A step of 14x32 asks for 184 bytes, which the second-level cache
// delivers several times over; loads of B are announced one panel row a step, as far ahead as the
// driver says.
// kAheadOfA: the panel of A comes from L2, nine steps ahead is its latency several times over.
// kUnroll: four steps hide the loop's three instructions and keep the body inside the µop cache.
// Every output is one chain of multiply-adds in the order of k, whatever the tile.
#include "gemm/micro_kernel.h"

#include <fmt/format.h>

#include <cstddef>

#include "gemm/epilogue_writer.h"

namespace nrd::gemm {
namespace {

using jit::G;
using jit::Lane;
using jit::Mem;
using jit::Op;
using jit::V;

constexpr int kUnroll = 4;
constexpr int kLine = 64;
constexpr int64_t kAheadOfA = 512;  // bytes
constexpr Lane kF32 = Lane::kF32;

class Writer {
 public:
  explicit Writer(const MicroKernelSpec& spec)
      : spec_(spec),
        lanes_(spec.family->lanes),
        b_("gemm", *spec.target, spec.family->lanes),
        panel_row_(spec.family->columns() * static_cast<int>(byte_size(spec.family->element))) {}

  Expected<jit::Program> write() {
    for (int i = 0; i < spec_.rows * spec_.vectors; i++) sums_.push_back(b_.pinned_vector(i));
    announce_c();
    start();
    multiply();
    const jit::Label last = b_.label();
    b_.branch(Predicate::kNe, argument(offsetof(MicroKernelArgs, is_last)), 0, last);
    if (spec_.has_tail) tail_ = b_.tail(argument(offsetof(MicroKernelArgs, tail)));
    move_partial(true);
    b_.ret();
    b_.bind(last);
    // A register set in one arm of a branch is not set in the other.
    if (spec_.has_tail) tail_ = b_.tail(argument(offsetof(MicroKernelArgs, tail)));
    NRD_TRY(finish());
    b_.ret();
    return b_.take();
  }

 private:
  G argument(size_t offset) { return b_.gload({b_.block(), {}, 1, static_cast<int64_t>(offset)}); }
  V& sum(int row, int vector) { return sums_[static_cast<size_t>(row * spec_.vectors + vector)]; }
  const jit::Tail* tail_of(int vector) const {
    return spec_.has_tail && vector == spec_.vectors - 1 ? &tail_ : nullptr;
  }
  void advance(G pointer, G bytes) { b_.gop(Op::kGAdd, pointer, bytes, pointer); }

  // Lines of C come from far away, and the next tile may begin with reading them: they are on their
  // way while this one is made.
  void announce_c() {
    const G row = argument(offsetof(MicroKernelArgs, next_c));
    const G stride = argument(offsetof(MicroKernelArgs, c_row));
    const int bytes = spec_.vectors * lanes_ * static_cast<int>(byte_size(spec_.epilogue.out));
    for (int r = 0; r < spec_.rows; r++) {
      for (int at = 0; at < bytes; at += kLine) b_.prefetch({row, {}, 1, at});
      if (r + 1 < spec_.rows) advance(row, stride);
    }
  }

  void start() {
    const jit::Label from_zero = b_.label(), done = b_.label();
    b_.branch(Predicate::kNe, argument(offsetof(MicroKernelArgs, is_first)), 0, from_zero);
    if (spec_.has_tail) tail_ = b_.tail(argument(offsetof(MicroKernelArgs, tail)));
    move_partial(false);
    b_.jump(done);
    b_.bind(from_zero);
    const V zero = b_.constant(0.0f);
    for (V s : sums_) b_.op1(Op::kMove, kF32, zero, s);
    b_.bind(done);
  }

  void move_partial(bool is_store) {
    const G row = argument(offsetof(MicroKernelArgs, partial));
    const G stride = argument(offsetof(MicroKernelArgs, partial_row));
    for (int r = 0; r < spec_.rows; r++) {
      for (int v = 0; v < spec_.vectors; v++) {
        const Mem at = {row, {}, 1, int64_t{4} * lanes_ * v};
        if (is_store) {
          b_.store(DType::kF32, kF32, at, sum(r, v), tail_of(v));
        } else {
          b_.load(DType::kF32, kF32, at, tail_of(v), sum(r, v));
        }
      }
      if (r + 1 < spec_.rows) advance(row, stride);
    }
  }

  void multiply() {
    a_at_ = argument(offsetof(MicroKernelArgs, a));
    b_at_ = argument(offsetof(MicroKernelArgs, b));
    prefetch_at_ = argument(offsetof(MicroKernelArgs, prefetch));
    const G steps = argument(offsetof(MicroKernelArgs, steps));
    const G rest = b_.gop(Op::kGAnd, steps, kUnroll - 1);
    turns(b_.gop(Op::kGDiv, steps, kUnroll), kUnroll);
    turns(rest, 1);
  }

  // `count` times `unroll` steps.
  void turns(G count, int unroll) {
    const jit::Label top = b_.label(), done = b_.label();
    b_.branch(Predicate::kLe, count, 0, done);
    b_.loop_begin();
    b_.bind(top);
    for (int u = 0; u < unroll; u++) step(u);
    b_.gop(Op::kGAdd, a_at_, int64_t{4} * unroll * spec_.rows, a_at_);
    b_.gop(Op::kGAdd, b_at_, int64_t{unroll} * panel_row_, b_at_);
    b_.gop(Op::kGAdd, prefetch_at_, int64_t{unroll} * panel_row_, prefetch_at_);
    b_.gop(Op::kGSub, count, 1, count);
    b_.branch(Predicate::kGt, count, 0, top);
    b_.loop_end();
    b_.bind(done);
  }

  void step(int u) {
    std::vector<V> columns;
    for (int v = 0; v < spec_.vectors; v++) {
      const int64_t at = int64_t{u} * panel_row_ + int64_t{4} * lanes_ * v;
      columns.push_back(b_.load(DType::kF32, kF32, {b_at_, {}, 1, at}));
    }
    for (int at = 0; at < panel_row_; at += kLine) {
      if ((u * panel_row_ + at) % kLine == 0) {
        b_.prefetch({prefetch_at_, {}, 1, int64_t{u} * panel_row_ + at});
      }
    }
    b_.prefetch({a_at_, {}, 1, kAheadOfA + int64_t{4} * u * spec_.rows});
    const int64_t a_step = int64_t{4} * u * spec_.rows;
    // One row may be the matrix itself, which ends where it ends.
    if (spec_.target->has_lane_fma && spec_.rows > 1) return multiply_lanes(a_step, columns);
    for (int r = 0; r < spec_.rows; r++) {
      const V row = b_.broadcast(DType::kF32, kF32, {a_at_, {}, 1, a_step + 4 * r});
      for (int v = 0; v < spec_.vectors; v++) {
        b_.op3(Op::kFma, kF32, row, columns[static_cast<size_t>(v)], sum(r, v), sum(r, v));
      }
    }
  }

  // Whole vectors of A; the last may reach into what lies behind the panel.
  void multiply_lanes(int64_t a_step, const std::vector<V>& columns) {
    V rows;
    for (int r = 0; r < spec_.rows; r++) {
      const int lane = r % lanes_;
      if (lane == 0) rows = b_.load(DType::kF32, kF32, {a_at_, {}, 1, a_step + 4 * r});
      for (int v = 0; v < spec_.vectors; v++) {
        b_.fma_lane(columns[static_cast<size_t>(v)], rows, lane, sum(r, v), sum(r, v));
      }
    }
  }

  Expected<void> finish() {
    const Epilogue& epilogue = spec_.epilogue;
    const G row = argument(offsetof(MicroKernelArgs, c));
    const G stride = argument(offsetof(MicroKernelArgs, c_row));
    G column;
    if (!epilogue.is_contiguous) column = argument(offsetof(MicroKernelArgs, c_column));
    EpilogueWriter steps(b_, epilogue, offsetof(MicroKernelArgs, operands));
    for (int r = 0; r < spec_.rows; r++) {
      for (int v = 0; v < spec_.vectors; v++) {
        Expected<V> value = steps.write(v * lanes_, tail_of(v), sum(r, v));
        if (!value) return value.error();
        store(row, column, v, *value);
      }
      if (r + 1 == spec_.rows) break;
      advance(row, stride);
      steps.next_row();
    }
    return {};
  }

  void store(G row, G column, int vector, V value) {
    const DType out = spec_.epilogue.out;
    if (spec_.epilogue.is_contiguous) {
      const int64_t at = static_cast<int64_t>(byte_size(out)) * lanes_ * vector;
      b_.store(out, kF32, {row, {}, 1, at}, value, tail_of(vector));
      return;
    }
    const Mem at = {row, b_.gop(Op::kGMul, column, lanes_ * vector), 1, 0};
    b_.store_strided(out, kF32, at, column, value, tail_of(vector));
  }

  const MicroKernelSpec& spec_;
  int lanes_;
  jit::Builder b_;
  int panel_row_;  // bytes
  std::vector<V> sums_;
  jit::Tail tail_;
  G a_at_, b_at_, prefetch_at_;
};

}  // namespace

std::string MicroKernelSpec::key() const {
  return fmt::format("{}/{}/{}x{}{}/{}", target->isa, numerics_word(family->numerics), rows,
                     vectors, has_tail ? "t" : "", epilogue.key());
}

Expected<jit::Program> write_micro_kernel(const MicroKernelSpec& spec) {
  return Writer(spec).write();
}

}  // namespace nrd::gemm
