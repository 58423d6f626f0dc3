// SPDX-License-Identifier: MIT
// src/gemm/gemv_kernel.cpp: writes gemv's loops, once for all ISAs.
//
// kRows, kStrided:
//   for groups of rows: for turns of columns: for rows: load x, load a, multiply-add;
//     then each row's rest and its 64 lanes as a tree (distances 32, 16, .. 1)
// kColumns:
//   for groups of columns: broadcast their x; for turns of rows: load y; for columns: load a,
//     multiply-add; store y
//
// Registers by rows: the 64 lanes of each row (20 of 32 on AVX-512; AVX2 and NEON have enough for
// one row only). By columns: a turn of y and the broadcasts.
// Bound: the read bandwidth of a. It is reached by a stream that goes on and on only: the hardware
// then fetches into L2 far ahead, while loads and prefetch instructions alone keep too few lines in
// flight (half the bandwidth). But x, as long as a row, would come from L2 again for every row and
// cost a quarter of the time. So rows far apart, each the start of a long stream, are read in turns
// and share what of x is in L1. By columns the same holds for y.
// kMostRows, kGemvColumns: with fewer x (y) costs too much, with more the hardware loses streams.
// kTurn: 512 bytes of f32; with longer turns a stream rests too long and starts anew.
#include "gemm/gemv_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "gemm/vector_loops.h"

namespace nrd::gemm {
namespace {

using jit::G;
using jit::Mem;
using jit::Op;
using jit::V;

constexpr jit::Lane kF32 = jit::Lane::kF32;
constexpr int kMostRows = 5;
constexpr int kTurn = 2 * kGemvLanes;  // columns
constexpr int kTurnOfY = 8;            // vectors

class Writer {
 public:
  explicit Writer(const GemvSpec& spec)
      : spec_(spec),
        lanes_(spec.target->lanes(false)),
        parts_(kGemvLanes / lanes_),
        b_("gemv", *spec.target, lanes_) {}

  jit::Program write() {
    const bool is_by_columns = spec_.order == GemvOrder::kColumns;
    a_ = argument(offsetof(GemvArgs, a));
    x_ = argument(offsetof(GemvArgs, x));
    y_ = argument(offsetof(GemvArgs, y));
    if (!is_by_columns) before_ = argument(offsetof(GemvArgs, before));
    const G groups = argument(offsetof(GemvArgs, groups));
    const jit::Label top = b_.label(), done = b_.label();
    b_.branch(Predicate::kLe, groups, 0, done);
    b_.loop_begin();
    b_.bind(top);
    if (is_by_columns) {
      columns();
    } else {
      rows();
    }
    advance(a_, argument(offsetof(GemvArgs, next)));
    b_.gop(Op::kGSub, groups, 1, groups);
    b_.branch(Predicate::kGt, groups, 0, top);
    b_.loop_end();
    b_.bind(done);
    b_.ret();
    return b_.take();
  }

 private:
  G argument(size_t offset) { return b_.gload({b_.block(), {}, 1, static_cast<int64_t>(offset)}); }
  int size() const { return static_cast<int>(byte_size(spec_.a)); }
  void advance(G pointer, G bytes) { b_.gop(Op::kGAdd, pointer, bytes, pointer); }

  // The pointers of a group.
  std::vector<G> streams(G first, G far) {
    std::vector<G> all = {b_.gmove(first)};
    for (int i = 1; i < spec_.streams; i++) all.push_back(b_.gop(Op::kGAdd, all.back(), far));
    return all;
  }

  // turn() while at_ has `step` elements before it; then at_ stands at the rest.
  template <class Turn>
  void turns(int step, Turn turn) {
    write_turns(b_, argument(offsetof(GemvArgs, count)), step, [&](G at) {
      at_ = at;
      turn();
    });
  }

  template <class Body>
  void for_each_part(G left, int parts, Body body) {
    write_rest(b_, left, parts, lanes_, body);
  }

  // ---- by rows ----

  void rows() {
    const std::vector<G> row = streams(a_, argument(offsetof(GemvArgs, far)));
    const V zero = b_.constant(0.0f);
    sums_.assign(static_cast<size_t>(spec_.streams), {});
    for (size_t r = 0; r < row.size(); r++) {
      for (int part = 0; part < parts_; part++) sums_[r].push_back(b_.op1(Op::kMove, kF32, zero));
    }
    turns(kTurn, [&] {
      for (size_t r = 0; r < row.size(); r++) {
        for (int part = 0; part < kTurn / lanes_; part++)
          multiply(row[r], at_, part, sums_[r], nullptr);
      }
    });
    G y = b_.gmove(y_), before = b_.gmove(before_);
    for (size_t r = 0; r < row.size(); r++) {
      rest(row[r], sums_[r]);
      const V total = b_.op2(Op::kAdd, kF32, b_.broadcast(DType::kF32, kF32, {before, {}, 1, 0}),
                             tree(sums_[r]));
      const jit::Tail one = b_.tail(b_.gconst(1));
      b_.store(spec_.y, kF32, {y, {}, 1, 0}, total, &one);
      if (r + 1 == row.size()) break;
      advance(y, argument(offsetof(GemvArgs, y_far)));
      advance(before, argument(offsetof(GemvArgs, before_far)));
    }
    advance(y_, argument(offsetof(GemvArgs, y_next)));
    advance(before_, argument(offsetof(GemvArgs, before_next)));
  }

  // Lanes beyond a tail read as zeros and stay as they are.
  void multiply(G row, G at, int part, const std::vector<V>& sums, const jit::Tail* tail) {
    const int begin = part * lanes_;
    const V x = b_.load(DType::kF32, kF32, {x_, at, 4, 4 * begin}, tail);
    V a;
    if (spec_.order == GemvOrder::kStrided) {
      const G step = argument(offsetof(GemvArgs, element));
      const G offset = b_.gop(Op::kGMul, b_.gop(Op::kGAdd, at, begin), step);
      a = b_.load_strided(spec_.a, kF32, {row, offset, 1, 0}, step, tail);
    } else {
      a = b_.load(spec_.a, kF32, {row, at, size(), size() * begin}, tail);
    }
    const V sum = sums[static_cast<size_t>(part % parts_)];
    b_.op3(Op::kFma, kF32, a, x, sum, sum);
  }

  // What is left behind the turns: 64 columns if there are, then fewer.
  void rest(G row, const std::vector<V>& sums) {
    const G at = b_.gmove(at_);
    const G left = b_.gop(Op::kGSub, argument(offsetof(GemvArgs, count)), at);
    const jit::Label few = b_.label();
    b_.branch(Predicate::kLt, left, kGemvLanes, few);
    for (int part = 0; part < parts_; part++) multiply(row, at, part, sums, nullptr);
    b_.gop(Op::kGAdd, at, kGemvLanes, at);
    b_.gop(Op::kGSub, left, kGemvLanes, left);
    b_.bind(few);
    for_each_part(left, parts_,
                  [&](int part, const jit::Tail* tail) { multiply(row, at, part, sums, tail); });
  }

  V tree(std::vector<V> sums) {
    for (size_t half = sums.size() / 2; half > 0; half /= 2) {
      for (size_t k = 0; k < half; k++) {
        sums[k] = b_.op2(Op::kAdd, kF32, sums[k], sums[k + half]);
      }
    }
    V total = sums[0];
    for (int distance = lanes_ / 2; distance > 0; distance /= 2) {
      total = b_.op2(Op::kAdd, kF32, total, b_.fold(kF32, total, distance));
    }
    return total;
  }

  // ---- by columns ----

  void columns() {
    const std::vector<G> column = streams(a_, argument(offsetof(GemvArgs, far)));
    const G far = b_.gop(Op::kGMul, argument(offsetof(GemvArgs, x_far)), 4);
    std::vector<V> x;
    for (const G& at : streams(x_, far)) {
      x.push_back(b_.broadcast(DType::kF32, kF32, {at, {}, 1, 0}));
    }
    b_.gop(Op::kGAdd, x_, 4, x_);
    turns(kTurnOfY * lanes_, [&] {
      std::vector<V> y;
      for (int part = 0; part < kTurnOfY; part++) {
        y.push_back(b_.load(DType::kF32, kF32, {y_, at_, 4, 4 * part * lanes_}));
      }
      for (size_t c = 0; c < x.size(); c++) {
        for (int part = 0; part < kTurnOfY; part++) {
          const V sum = y[static_cast<size_t>(part)];
          b_.op3(Op::kFma, kF32, load_column(column[c], part, nullptr), x[c], sum, sum);
        }
      }
      for (int part = 0; part < kTurnOfY; part++) {
        const Mem to = {y_, at_, 4, 4 * part * lanes_};
        b_.store(DType::kF32, kF32, to, y[static_cast<size_t>(part)]);
      }
    });
    const G left = b_.gop(Op::kGSub, argument(offsetof(GemvArgs, count)), at_);
    for_each_part(left, kTurnOfY, [&](int part, const jit::Tail* tail) {
      const Mem at = {y_, at_, 4, 4 * part * lanes_};
      const V y = b_.load(DType::kF32, kF32, at, tail);
      for (size_t c = 0; c < x.size(); c++) {
        b_.op3(Op::kFma, kF32, load_column(column[c], part, tail), x[c], y, y);
      }
      b_.store(DType::kF32, kF32, at, y, tail);
    });
  }

  V load_column(G column, int part, const jit::Tail* tail) {
    return b_.load(spec_.a, kF32, {column, at_, size(), size() * part * lanes_}, tail);
  }

  const GemvSpec& spec_;
  int lanes_, parts_;
  jit::Builder b_;
  G a_, x_, y_, before_, at_;
  std::vector<std::vector<V>> sums_;  // of each row
};

}  // namespace

std::string GemvSpec::key() const {
  return fmt::format("gemv/{}/{}/{}{}/{}", target->isa, static_cast<int>(order), word(a), word(y),
                     streams);
}

int gemv_rows(const jit::Target& target) {
  const int parts = kGemvLanes / target.lanes(false);
  return std::min((target.vector_registers - 4) / parts, kMostRows);  // 4: x, a and a spare of each
}

jit::Program write_gemv_kernel(const GemvSpec& spec) { return Writer(spec).write(); }

}  // namespace nrd::gemm
