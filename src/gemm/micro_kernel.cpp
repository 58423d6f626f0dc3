// SPDX-License-Identifier: MIT
// src/gemm/micro_kernel.cpp: writes the micro-kernel, once for all ISAs.
//
//   accumulators <- 0 or the partial result
//   for each step of k (four a turn): load the vectors of B, broadcast each row's element of A
//                                     (NEON: load the rows, multiply by lane), one multiply-add
//                                     an accumulator; dot products alike, a step being two or four
//                                     elements of k
//   accumulators -> the partial result, or epilogue and C
//
// Registers: the accumulators are pinned from number 0 on, row by row; what the allocator has left
// (4 of 32 on AVX-512, 4 of 16 on AVX2, 8 of 32 on NEON) holds B, broadcasts of A and later the
// epilogue's values.
// Bound: the multiply-adds. A step of 14x32 asks for 184 bytes, which the second-level cache
// delivers several times over; loads of B are announced one panel row a step, as far ahead as the
// driver says.
// kAheadOfA: the panel of A comes from L2, nine steps ahead is its latency several times over.
// kAheadOfRows: rows of A that are read as they lie take 16 steps a line; two lines ahead.
// kUnroll: four steps hide the loop's three instructions and keep the body inside the µop cache.
// Every output is one chain of multiply-adds in the order of k, whatever the tile.
// kMatrix (NEON): an accumulator holds a 2x2 of C, two of them the same bytes as two rows of one
// vector; they change form before and after the loop.
#include "gemm/micro_kernel.h"

#include <fmt/format.h>

#include <cstddef>

#include "gemm/finish_rows.h"

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
constexpr int64_t kAheadOfRows = 128;
constexpr int kRowsAPointer = 3;  // an address is a pointer and 0, 1 or 2 strides
constexpr Lane kF32 = Lane::kF32;

class Writer {
 public:
  explicit Writer(const MicroKernelSpec& spec)
      : spec_(spec),
        lanes_(spec.family->lanes),
        b_("gemm", *spec.target, spec.family->lanes),
        family_(*spec.family),
        sum_lane_(spec.family->sums_integers() ? Lane::kI32 : Lane::kF32),
        sum_dtype_(spec.family->sums_integers() ? DType::kI32 : DType::kF32),
        a_step_((spec.reads_rows ? 1 : spec.panel_rows) * spec.family->step_bytes()),
        panel_row_(spec.family->columns() * spec.family->step_bytes()) {}

  Expected<jit::Program> write() {
    for (int i = 0; i < spec_.panel_rows * spec_.vectors; i++) {
      sums_.push_back(b_.pinned_vector(i));
    }
    start();
    if (family_.offsets(spec_.a)) add_correction();
    if (is_matrix()) change_form();
    multiply();
    if (is_matrix()) change_form();
    const jit::Label last = b_.label();
    if (spec_.epilogue.is_long()) return finish_in_memory();
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
  bool is_matrix() const { return family_.arithmetic == Arithmetic::kMatrix; }
  V& sum(int row, int vector) {
    const int at = is_matrix() ? (row / 2 * spec_.vectors + vector) * 2 + row % 2
                               : row * spec_.vectors + vector;
    return sums_[static_cast<size_t>(at)];
  }
  const jit::Tail* tail_of(int vector) const {
    return spec_.has_tail && vector == spec_.vectors - 1 ? &tail_ : nullptr;
  }
  void advance(G pointer, G bytes) { b_.gop(Op::kGAdd, pointer, bytes, pointer); }

  void start() {
    const jit::Label from_zero = b_.label(), done = b_.label();
    b_.branch(Predicate::kNe, argument(offsetof(MicroKernelArgs, is_first)), 0, from_zero);
    if (spec_.has_tail) tail_ = b_.tail(argument(offsetof(MicroKernelArgs, tail)));
    move_partial(false);
    // The row that fills the last pair.
    for (int v = 0; v < spec_.vectors && spec_.panel_rows > spec_.rows; v++) {
      b_.op1(Op::kMove, kF32, b_.constant(0.0f), sum(spec_.rows, v));
    }
    b_.jump(done);
    b_.bind(from_zero);
    const V zero = b_.constant(0.0f);
    for (V s : sums_) b_.op1(Op::kMove, kF32, zero, s);
    b_.bind(done);
  }

  // A is off by 128 everywhere.
  void add_correction() {
    const G at = argument(offsetof(MicroKernelArgs, sums));
    for (int v = 0; v < spec_.vectors; v++) {
      const V correction = b_.load(DType::kI32, Lane::kI32, {at, {}, 1, int64_t{4} * lanes_ * v});
      for (int r = 0; r < spec_.rows; r++) {
        b_.op2(Op::kSub, Lane::kI32, sum(r, v), correction, sum(r, v));
      }
    }
  }

  // Two rows of a vector to two 2x2 of a pair of rows, and back.
  void change_form() {
    for (size_t i = 0; i < sums_.size(); i += 2) {
      const V low = b_.op2(Op::kPairLow, kF32, sums_[i], sums_[i + 1]);
      b_.op2(Op::kPairHigh, kF32, sums_[i], sums_[i + 1], sums_[i + 1]);
      b_.op1(Op::kMove, kF32, low, sums_[i]);
    }
  }

  void move_partial(bool is_store) {
    const G row = argument(offsetof(MicroKernelArgs, partial));
    const G stride = argument(offsetof(MicroKernelArgs, partial_row));
    for (int r = 0; r < spec_.rows; r++) {
      for (int v = 0; v < spec_.vectors; v++) {
        const Mem at = {row, {}, 1, int64_t{4} * lanes_ * v};
        if (is_store) {
          b_.store(sum_dtype_, sum_lane_, at, sum(r, v), tail_of(v));
        } else {
          b_.load(sum_dtype_, sum_lane_, at, tail_of(v), sum(r, v));
        }
      }
      if (r + 1 < spec_.rows) advance(row, stride);
    }
  }

  void point_at_a() {
    a_at_.push_back(argument(offsetof(MicroKernelArgs, a)));
    if (!spec_.reads_rows) return;
    a_row_ = argument(offsetof(MicroKernelArgs, a_row));
    const G three = b_.gop(Op::kGMul, a_row_, kRowsAPointer);
    for (int r = kRowsAPointer; r < spec_.rows; r += kRowsAPointer) {
      a_at_.push_back(b_.gop(Op::kGAdd, a_at_.back(), three));
    }
  }

  // Step u of a row.
  Mem a_element(int row, int u) const {
    const int64_t at = int64_t{u} * a_step_;
    if (!spec_.reads_rows) return {a_at_[0], {}, 1, at + 4 * row};
    const G pointer = a_at_[static_cast<size_t>(row / kRowsAPointer)];
    const int away = row % kRowsAPointer;
    return away == 0 ? Mem{pointer, {}, 1, at} : Mem{pointer, a_row_, away, at};
  }

  // Packed: a line a step. Rows: some a step, so that each is announced once a turn.
  void announce_a(int u, int unroll) {
    if (!spec_.reads_rows) return b_.prefetch({a_at_[0], {}, 1, kAheadOfA + int64_t{u} * a_step_});
    if (unroll < kUnroll) return;
    for (int r = spec_.rows * u / kUnroll; r < spec_.rows * (u + 1) / kUnroll; r++) {
      Mem at = a_element(r, 0);
      at.offset += kAheadOfRows;
      b_.prefetch(at);
    }
  }

  void multiply() {
    point_at_a();
    b_at_ = argument(offsetof(MicroKernelArgs, b));
    prefetch_at_ = argument(offsetof(MicroKernelArgs, prefetch));
    const G steps = argument(offsetof(MicroKernelArgs, steps));
    const G rest = b_.gop(Op::kGAnd, steps, kUnroll - 1);
    const G all = b_.gop(Op::kGDiv, steps, kUnroll);
    const G with_c = b_.gop(Op::kGMin, all, spec_.rows);
    turns(b_.gop(Op::kGSub, all, with_c), kUnroll);
    c_at_ = argument(offsetof(MicroKernelArgs, announced_c));
    c_row_ = argument(offsetof(MicroKernelArgs, c_row));
    turns(with_c, kUnroll, true);
    turns(rest, 1);
  }

  // Lines of C come from far away; the last turns announce them, a row each. All at once they would
  // take every buffer that a core has for misses, and B would wait for them.
  void announce_c() {
    const int bytes = spec_.vectors * lanes_ * static_cast<int>(byte_size(spec_.epilogue.out));
    for (int at = 0; at < bytes; at += kLine) b_.prefetch({c_at_, {}, 1, at});
    advance(c_at_, c_row_);
  }

  // `count` times `unroll` steps.
  void turns(G count, int unroll, bool announces_c = false) {
    b_.repeat(count, [&] {
      if (announces_c) announce_c();
      for (int u = 0; u < unroll; u++) step(u, unroll);
      for (G at : a_at_) b_.gop(Op::kGAdd, at, int64_t{unroll} * a_step_, at);
      b_.gop(Op::kGAdd, b_at_, int64_t{unroll} * panel_row_, b_at_);
      b_.gop(Op::kGAdd, prefetch_at_, int64_t{unroll} * panel_row_, prefetch_at_);
    });
  }

  // A is announced behind B: the other way round costs 8 % where B streams past four rows.
  void step(int u, int unroll) {
    const int64_t b_step = int64_t{u} * panel_row_;
    for (int at = 0; at < panel_row_; at += kLine) {
      if ((b_step + at) % kLine == 0) {
        b_.prefetch({prefetch_at_, {}, 1, b_step + at}, spec_.announces_to_l2);
      }
    }
    announce_a(u, unroll);
    if (is_matrix()) return multiply_matrices(u);
    std::vector<V> columns;
    for (int v = 0; v < spec_.vectors; v++) {
      columns.push_back(load_b(b_step + int64_t{4} * lanes_ * v));
    }
    const bool is_fma_by_lane =
        family_.arithmetic == Arithmetic::kFma && spec_.target->has_lane_fma && !spec_.reads_rows;
    if (is_fma_by_lane || family_.arithmetic == Arithmetic::kDotLane) {
      return multiply_lanes(u, columns);
    }
    for (int r = 0; r < spec_.rows; r++) {
      const V row = b_.broadcast(DType::kF32, kF32, a_element(r, u));
      for (int v = 0; v < spec_.vectors; v++) {
        multiply_add(row, columns[static_cast<size_t>(v)], sum(r, v));
      }
    }
  }

  // Bits, whatever they stand for.
  V load_b(int64_t at) { return b_.load(DType::kF32, kF32, {b_at_, {}, 1, at}); }

  void multiply_add(V row, V columns, V& to) {
    switch (family_.arithmetic) {
      case Arithmetic::kDotI16: return b_.add_products(Op::kDotI16, row, columns, to);
      case Arithmetic::kDotU8: return b_.add_products(Op::kDotU8, row, columns, to);
      case Arithmetic::kDotBF16: return b_.add_products(Op::kDotBF16, row, columns, to);
      default: b_.op3(Op::kFma, kF32, row, columns, to, to);
    }
  }

  // Whole vectors of A; the last may reach into what lies behind the panel.
  void multiply_lanes(int u, const std::vector<V>& columns) {
    V rows;
    for (int r = 0; r < spec_.rows; r++) {
      const int lane = r % lanes_;
      if (lane == 0) rows = b_.load(DType::kF32, kF32, a_element(r, u));
      for (int v = 0; v < spec_.vectors; v++) {
        const V& column = columns[static_cast<size_t>(v)];
        if (family_.arithmetic == Arithmetic::kDotLane) {
          b_.add_products(Op::kDotLane, column, rows, sum(r, v), lane);
        } else {
          b_.fma_lane(column, rows, lane, sum(r, v), sum(r, v));
        }
      }
    }
  }

  // A vector holds eight bytes of k for two rows, or for two columns.
  void multiply_matrices(int u) {
    const int64_t a_step = int64_t{u} * a_step_, b_step = int64_t{u} * panel_row_;
    const Op op = family_.element == 1 ? Op::kMatrixI8 : Op::kMatrixBF16;
    std::vector<V> columns;
    for (int c = 0; c < 2 * spec_.vectors; c++) columns.push_back(load_b(b_step + 16 * c));
    for (int r = 0; r < spec_.rows; r += 2) {
      const V rows = b_.load(DType::kF32, kF32, {a_at_[0], {}, 1, a_step + 8 * r});
      for (int c = 0; c < 2 * spec_.vectors; c++) {
        V& to = sums_[static_cast<size_t>(r * spec_.vectors + c)];
        b_.add_products(op, rows, columns[static_cast<size_t>(c)], to, spec_.a == DType::kU8);
      }
    }
  }

  Expected<jit::Program> finish_in_memory() {
    if (spec_.has_tail) tail_ = b_.tail(argument(offsetof(MicroKernelArgs, tail)));
    move_partial(true);
    const jit::Label done = b_.label();
    b_.branch(Predicate::kEq, argument(offsetof(MicroKernelArgs, is_last)), 0, done);
    NRD_TRY(write_finish_rows(b_, spec_));
    b_.bind(done);
    b_.ret();
    return b_.take();
  }

  Expected<void> finish() {
    const Epilogue& epilogue = spec_.epilogue;
    RowOfC row = {argument(offsetof(MicroKernelArgs, c)), {}};
    const G stride = argument(offsetof(MicroKernelArgs, c_row));
    if (!epilogue.is_contiguous) row.column = argument(offsetof(MicroKernelArgs, c_column));
    EpilogueWriter steps(b_, epilogue, offsetof(MicroKernelArgs, operands));
    for (int r = 0; r < spec_.rows; r++) {
      for (int v = 0; v < spec_.vectors; v++) {
        NRD_TRY(write_finish_vector(b_, spec_, steps, row, v, tail_of(v), sum(r, v)));
      }
      if (r + 1 == spec_.rows) break;
      advance(row.at, stride);
      steps.next_row();
    }
    return {};
  }

  const MicroKernelSpec& spec_;
  int lanes_;
  jit::Builder b_;
  const Family& family_;
  Lane sum_lane_;
  DType sum_dtype_;
  int a_step_, panel_row_;  // bytes of a step
  std::vector<V> sums_;
  jit::Tail tail_;
  std::vector<G> a_at_;  // of the panel, or of every third row
  G a_row_, b_at_, c_at_, c_row_, prefetch_at_;
};

}  // namespace

std::string MicroKernelSpec::key() const {
  const bool sees_a = family->sums_integers();
  return fmt::format("{}/{}/{}/{}of{}x{}p{}{}{}{}{}/{}", target->isa,
                     numerics_word(family->numerics), static_cast<int>(family->arithmetic), rows,
                     panel_rows, vectors, prefetch_lines, announces_to_l2 ? "l" : "",
                     reads_rows ? "r" : "", has_tail ? "t" : "",
                     sees_a && a == DType::kU8 ? "u" : "", epilogue.key());
}

Expected<jit::Program> write_micro_kernel(const MicroKernelSpec& spec) {
  if (spec.family->arithmetic == Arithmetic::kTile) return write_tile_kernel(spec);
  return Writer(spec).write();
}

}  // namespace nrd::gemm
