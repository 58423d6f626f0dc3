// SPDX-License-Identifier: MIT
// src/gemm/pack_kernel.cpp: writes packing code, once for all ISAs.
//
//   kAcross:  for each step of k: load the width as vectors, store them
//   kAlongK:  for each block of `lanes` steps: for each group of `lanes` across: load one vector of
//             each, transpose in registers, store `lanes` steps
//   kStrided: for each step: load the width element by element, store it
//   kGroups:  for each group of steps: load the width of each, shift and join to words, store them
//
// Registers: a group's transpose holds `lanes` vectors (16 of 32 on AVX-512, 8 of 16 on AVX2, 4 of
// 32 on NEON); log2(lanes) rounds of zips turn rows into columns.
// Bound: the shuffles, log2(lanes) a vector (about 16 bytes a cycle on AVX-512), which is more than
// memory delivers.
// Steps are stored as whole vectors, ascending, and a step's last group before its others: what a
// vector writes beyond its step is overwritten by the next; the last one writes behind the panel.
// kAhead: sources along k are read as `width` streams, more than prefetchers follow.
#include "gemm/pack_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace nrd::gemm {
namespace {

using jit::G;
using jit::Mem;
using jit::Op;
using jit::V;

constexpr jit::Lane kF32 = jit::Lane::kF32, kI32 = jit::Lane::kI32;
constexpr int kAhead = 256;  // bytes
constexpr int kUnroll = 4;   // steps a turn

class Writer {
 public:
  explicit Writer(const PackSpec& spec)
      : spec_(spec),
        lanes_(spec.target->lanes(false)),
        groups_((spec.step + lanes_ - 1) / lanes_),
        b_("pack", *spec.target, lanes_) {}

  jit::Program write() {
    from_ = argument(offsetof(PackArgs, from));
    along_k_ = argument(offsetof(PackArgs, along_k));
    across_ = argument(offsetof(PackArgs, across));
    to_ = argument(offsetof(PackArgs, to));
    if (spec_.has_scale) {
      scale_ = argument(offsetof(PackArgs, scale));
      scale_across_ = argument(offsetof(PackArgs, scale_across));
    }
    const G steps = argument(offsetof(PackArgs, steps));
    if (spec_.source == PackSource::kAlongK) {
      transpose_blocks(steps);
    } else {
      prepare_tails();
      turns(b_.gop(Op::kGDiv, steps, kUnroll), kUnroll);
      turns(b_.gop(Op::kGAnd, steps, kUnroll - 1), 1);
    }
    b_.ret();
    return b_.take();
  }

 private:
  G argument(size_t offset) { return b_.gload({b_.block(), {}, 1, static_cast<int64_t>(offset)}); }
  int size() const { return static_cast<int>(byte_size(spec_.dtype)); }
  int width_of(int group) const { return std::clamp(spec_.width - group * lanes_, 0, lanes_); }

  // ---- sources across the panel, and those of any strides ----

  void prepare_tails() {
    for (int g = 0; g < groups_; g++) {
      jit::Tail tail;
      if (width_of(g) > 0 && width_of(g) < lanes_) tail = b_.tail(b_.gconst(width_of(g)));
      tails_.push_back(tail);
      if (!spec_.has_scale || width_of(g) == 0) continue;
      const Mem at = {scale_, b_.gop(Op::kGMul, scale_across_, g * lanes_), 1, 0};
      scales_.push_back(b_.load_strided(DType::kF32, kF32, at, scale_across_, tail_of(g)));
    }
  }
  const jit::Tail* tail_of(int group) const {
    return width_of(group) < lanes_ ? &tails_[static_cast<size_t>(group)] : nullptr;
  }

  void turns(G count, int unroll) {
    b_.repeat(count, [&] {
      for (int u = 0; u < unroll; u++) {
        for (int g = 0; g < groups_; g++) {
          const int64_t at = int64_t{4} * (u * spec_.step + g * lanes_);
          const V loaded = spec_.source == PackSource::kGroups ? load_group(g) : load_across(g);
          b_.store(DType::kF32, kF32, {to_, {}, 1, at}, loaded);
        }
        for (int i = 0; i < spec_.group; i++) b_.gop(Op::kGAdd, from_, along_k_, from_);
      }
      b_.gop(Op::kGAdd, to_, int64_t{4} * unroll * spec_.step, to_);
    });
  }

  V load_across(int group) {
    const int width = width_of(group);
    if (width == 0) return b_.constant(0.0f);
    V loaded;
    if (spec_.source == PackSource::kAcross) {
      const Mem at = {from_, {}, 1, int64_t{size()} * group * lanes_};
      loaded = b_.load(spec_.dtype, kF32, at, tail_of(group));
    } else {
      const Mem at = {from_, b_.gop(Op::kGMul, across_, group * lanes_), 1, 0};
      loaded = b_.load_strided(spec_.dtype, kF32, at, across_, tail_of(group));
    }
    if (!spec_.has_scale) return loaded;
    return b_.op2(Op::kMul, kF32, loaded, scales_[static_cast<size_t>(group)]);
  }

  // Element i of a group is the i-th lowest part of its word.
  V load_group(int group) {
    if (width_of(group) == 0) return b_.constant(0.0f);
    V word;
    G row = from_;
    for (int i = 0; i < spec_.group; i++) {
      const V part = load_part(i, {row, {}, 1, int64_t{size()} * group * lanes_}, tail_of(group));
      word = i == 0 ? part : b_.op2(Op::kOr, kI32, word, part);
      if (i + 1 < spec_.group) row = b_.gop(Op::kGAdd, row, along_k_);
    }
    if (!spec_.inverts_top_bits) return word;
    return b_.op2(Op::kXor, kI32, word, b_.constant(kI32, 0x80808080));
  }

  // In its place, with zeros around it.
  V load_part(int i, const Mem& at, const jit::Tail* tail) {
    const int bits = 32 / spec_.group;
    const V wide = b_.load(bits == 16 ? spec_.dtype : DType::kU8, kI32, at, tail);
    if (i > 0) return b_.shift(Op::kShl, wide, bits * i);
    return bits == 16 ? b_.op2(Op::kAnd, kI32, wide, b_.constant(kI32, 0xffff)) : wide;
  }

  // ---- sources along k ----

  void transpose_blocks(G steps) {
    const G rest = b_.gop(Op::kGAnd, steps, lanes_ - 1);
    const auto next_block = [&] {
      b_.gop(Op::kGAdd, from_, int64_t{size()} * lanes_, from_);
      b_.gop(Op::kGAdd, to_, int64_t{4} * lanes_ * spec_.step, to_);
    };
    b_.repeat(b_.gop(Op::kGDiv, steps, lanes_), [&] {
      for (int g = groups_; g-- > 0;) {
        const std::vector<V> columns = transpose(load_rows(g, nullptr));
        for (int s = 0; s < lanes_; s++) store_step(g, s, columns);
      }
      next_block();
    });
    const jit::Label done = b_.label();
    b_.branch(Predicate::kLe, rest, 0, done);
    const jit::Tail tail = b_.tail(rest);
    for (int g = groups_; g-- > 0;) {
      const std::vector<V> columns = transpose(load_rows(g, &tail));
      const jit::Label stored = b_.label();
      for (int s = 0; s + 1 < lanes_; s++) {
        if (s > 0) b_.branch(Predicate::kLe, rest, s, stored);
        store_step(g, s, columns);
      }
      b_.bind(stored);
    }
    b_.bind(done);
  }

  // One vector along k of each of the group's rows.
  std::vector<V> load_rows(int group, const jit::Tail* tail) {
    std::vector<V> rows;
    G row = from_, scale = scale_;
    if (group > 0) {
      row = b_.gop(Op::kGAdd, from_, b_.gop(Op::kGMul, across_, group * lanes_));
      if (spec_.has_scale) {
        scale = b_.gop(Op::kGAdd, scale_, b_.gop(Op::kGMul, scale_across_, group * lanes_));
      }
    }
    for (int r = 0; r < lanes_; r++) {
      if (r >= width_of(group)) {
        rows.push_back(b_.constant(0.0f));
        continue;
      }
      if (tail == nullptr) b_.prefetch({row, {}, 1, kAhead});
      V loaded = b_.load(spec_.dtype, kF32, {row, {}, 1, 0}, tail);
      if (spec_.inverts_top_bits) {
        const V top = b_.constant(jit::Lane::kI32, 0x80808080);
        loaded = b_.op2(Op::kXor, jit::Lane::kI32, loaded, top);
      }
      if (spec_.has_scale) {
        const V factor = b_.broadcast(DType::kF32, kF32, {scale, {}, 1, 0});
        loaded = b_.op2(Op::kMul, kF32, loaded, factor);
        scale = b_.gop(Op::kGAdd, scale, scale_across_);
      }
      rows.push_back(loaded);
      row = b_.gop(Op::kGAdd, row, across_);
    }
    return rows;
  }

  // Zips of rows half the block apart, as often as the lanes halve, make rows of columns.
  std::vector<V> transpose(std::vector<V> rows) {
    for (int distance = lanes_; distance > 1; distance /= 2) {
      std::vector<V> zipped;
      for (size_t r = 0; r < rows.size() / 2; r++) {
        const V a = rows[r], b = rows[r + rows.size() / 2];
        zipped.push_back(b_.op2(Op::kZipLow, kF32, a, b));
        zipped.push_back(b_.op2(Op::kZipHigh, kF32, a, b));
      }
      rows = std::move(zipped);
    }
    return rows;
  }

  void store_step(int group, int step, const std::vector<V>& columns) {
    const int64_t at = int64_t{4} * (step * spec_.step + group * lanes_);
    b_.store(DType::kF32, kF32, {to_, {}, 1, at}, columns[static_cast<size_t>(step)]);
  }

  const PackSpec& spec_;
  int lanes_, groups_;
  jit::Builder b_;
  G from_, along_k_, across_, to_, scale_, scale_across_;
  std::vector<jit::Tail> tails_;
  std::vector<V> scales_;  // of each group across
};

}  // namespace

std::string PackSpec::key() const {
  return fmt::format("pack/{}/{}/{}g{}/{}of{}{}", target->isa, word(dtype),
                     static_cast<int>(source), group, width, step,
                     inverts_top_bits ? "i"
                     : has_scale      ? "s"
                                      : "");
}

Expected<jit::Program> write_pack_kernel(const PackSpec& spec) { return Writer(spec).write(); }

}  // namespace nrd::gemm
