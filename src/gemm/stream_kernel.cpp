// SPDX-License-Identifier: MIT
// src/gemm/stream_kernel.cpp: writes the loops of stream_kernel.h, once for all ISAs.
//
//   for groups of rows of B: broadcast their elements of A; for turns of columns: load the sums;
//     for rows of B: load, for rows of A: multiply-add; store the sums
//
// Registers: a turn of sums for each row of A, a broadcast for each row of A and of B, one vector
// of B. Sums and the group's rows of B stay in L1 for a block of columns. Bound: the read bandwidth
// of B, which only streams that go on and on reach (see gemv_kernel.cpp), or one multiply-add an
// element and row of A. kStreams: more and the hardware loses some, fewer and sums are loaded and
// stored too often.
#include "gemm/stream_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "gemm/vector_loops.h"

namespace nrd::gemm {
namespace {

using jit::G;
using jit::Op;
using jit::V;

constexpr jit::Lane kF32 = jit::Lane::kF32;
constexpr int kStreams = 5;
constexpr int kMostParts = 8;       // vectors of a turn
constexpr int kSpareRegisters = 2;  // for B

class Writer {
 public:
  explicit Writer(const StreamSpec& spec)
      : spec_(spec),
        lanes_(spec.target->lanes(false)),
        parts_(
            std::clamp((spec.target->vector_registers - kSpareRegisters) / spec.rows - spec.streams,
                       1, kMostParts)),
        b_("stream", *spec.target, lanes_) {}

  jit::Program write() {
    a_ = argument(offsetof(StreamArgs, a));
    const G b = argument(offsetof(StreamArgs, b)), b_row = argument(offsetof(StreamArgs, b_row));
    const G groups = argument(offsetof(StreamArgs, groups));
    sums_ = rows_from(argument(offsetof(StreamArgs, sums)), offsetof(StreamArgs, sums_row));
    b_.repeat(groups, [&] {
      read_a();
      streams_ = {b_.gmove(b)};
      for (int s = 1; s < spec_.streams; s++)
        streams_.push_back(b_.gop(Op::kGAdd, streams_.back(), b_row));
      columns();
      b_.gop(Op::kGAdd, streams_.back(), b_row, b);
    });
    b_.ret();
    return b_.take();
  }

 private:
  G argument(size_t offset) { return b_.gload({b_.block(), {}, 1, static_cast<int64_t>(offset)}); }

  // Pointers to each row of A's, `row` being the argument that says how far apart they are.
  std::vector<G> rows_from(G first, size_t row) {
    std::vector<G> all = {first};
    for (int r = 1; r < spec_.rows; r++)
      all.push_back(b_.gop(Op::kGAdd, all.back(), argument(row)));
    return all;
  }

  // factors_[stream][row], and a_ moves on.
  void read_a() {
    const G step = argument(offsetof(StreamArgs, a_step));
    const G row = argument(offsetof(StreamArgs, a_row));
    factors_.assign(static_cast<size_t>(spec_.streams), {});
    for (auto& of_stream : factors_) {
      G at = b_.gmove(a_);
      for (int r = 0; r < spec_.rows; r++) {
        of_stream.push_back(b_.broadcast(DType::kF32, kF32, {at, {}, 1, 0}));
        if (r + 1 < spec_.rows) b_.gop(Op::kGAdd, at, row, at);
      }
      b_.gop(Op::kGAdd, a_, step, a_);
    }
  }

  void columns() {
    const G count = argument(offsetof(StreamArgs, columns));
    const G at =
        write_turns(b_, count, parts_ * lanes_, [&](G here) { vectors(here, 0, parts_, nullptr); });
    const G left = b_.gop(Op::kGSub, argument(offsetof(StreamArgs, columns)), at);
    write_rest(b_, left, parts_, lanes_,
               [&](int part, const jit::Tail* tail) { vectors(at, part, part + 1, tail); });
  }

  // Vectors [first, end) of a turn that begins at column `at`.
  void vectors(G at, int first, int end, const jit::Tail* tail) {
    const auto sums_at = [&](size_t row, int part) {
      return jit::Mem{sums_[row], at, 4, int64_t{4} * part * lanes_};
    };
    std::vector<std::vector<V>> sums(static_cast<size_t>(spec_.rows));
    for (size_t r = 0; r < sums.size(); r++) {
      for (int part = first; part < end; part++)
        sums[r].push_back(b_.load(DType::kF32, kF32, sums_at(r, part), tail));
    }
    const auto size = static_cast<int>(byte_size(spec_.b));
    for (size_t s = 0; s < streams_.size(); s++) {
      for (int part = first; part < end; part++) {
        const int64_t offset = int64_t{size} * part * lanes_;
        const V b = b_.load(spec_.b, kF32, {streams_[s], at, size, offset}, tail);
        for (size_t r = 0; r < sums.size(); r++) {
          const V sum = sums[r][static_cast<size_t>(part - first)];
          b_.op3(Op::kFma, kF32, b, factors_[s][r], sum, sum);
        }
      }
    }
    for (size_t r = 0; r < sums.size(); r++) {
      for (int part = first; part < end; part++)
        b_.store(DType::kF32, kF32, sums_at(r, part), sums[r][static_cast<size_t>(part - first)],
                 tail);
    }
  }

  const StreamSpec& spec_;
  int lanes_, parts_;
  jit::Builder b_;
  G a_;
  std::vector<G> sums_, streams_;
  std::vector<std::vector<V>> factors_;
};

}  // namespace

std::string StreamSpec::key() const {
  return fmt::format("stream/{}/{}/{}x{}", target->isa, word(b), rows, streams);
}

int streams_of(const jit::Target& target, int rows) {
  const int registers = (target.vector_registers - kSpareRegisters) / 2;
  return std::clamp(registers / rows, 1, kStreams);
}

jit::Program write_stream_kernel(const StreamSpec& spec) { return Writer(spec).write(); }

}  // namespace nrd::gemm
