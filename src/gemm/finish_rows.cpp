// SPDX-License-Identifier: MIT
// src/gemm/finish_rows.cpp: see finish_rows.h.
#include "gemm/finish_rows.h"

#include <cstddef>

#include "gemm/epilogue_writer.h"

namespace nrd::gemm {
namespace {

using jit::G;
using jit::Lane;
using jit::Mem;
using jit::Op;
using jit::V;

constexpr Lane kF32 = Lane::kF32;

class Writer {
 public:
  Writer(jit::Builder& b, const MicroKernelSpec& spec)
      : b_(b), spec_(spec), lanes_(spec.family->lanes) {}

  Expected<void> write() {
    const Epilogue& epilogue = spec_.epilogue;
    if (spec_.has_tail) tail_ = b_.tail(argument(offsetof(MicroKernelArgs, tail)));
    sums_ = argument(offsetof(MicroKernelArgs, partial));
    const G sums_row = argument(offsetof(MicroKernelArgs, partial_row));
    row_ = argument(offsetof(MicroKernelArgs, c));
    const G c_row = argument(offsetof(MicroKernelArgs, c_row));
    if (!epilogue.is_contiguous) column_ = argument(offsetof(MicroKernelArgs, c_column));
    EpilogueWriter steps(b_, epilogue, offsetof(MicroKernelArgs, operands));
    const G left = b_.gconst(spec_.rows);
    const jit::Label top = b_.label();
    b_.loop_begin();
    b_.bind(top);
    for (int v = 0; v < spec_.vectors; v++) {
      Expected<V> value = result(steps, v);
      if (!value) return value.error();
      store(v, *value);
    }
    b_.gop(Op::kGAdd, row_, c_row, row_);
    b_.gop(Op::kGAdd, sums_, sums_row, sums_);
    steps.next_row();
    b_.gop(Op::kGSub, left, 1, left);
    b_.branch(Predicate::kGt, left, 0, top);
    b_.loop_end();
    return {};
  }

 private:
  G argument(size_t offset) { return b_.gload({b_.block(), {}, 1, static_cast<int64_t>(offset)}); }
  const jit::Tail* tail_of(int vector) const {
    return spec_.has_tail && vector == spec_.vectors - 1 ? &tail_ : nullptr;
  }

  Expected<V> result(EpilogueWriter& steps, int vector) {
    const Mem at = {sums_, {}, 1, int64_t{4} * lanes_ * vector};
    const jit::Tail* tail = tail_of(vector);
    if (!spec_.family->sums_integers()) {
      return steps.write(vector * lanes_, tail, b_.load(DType::kF32, kF32, at, tail));
    }
    const V sums = b_.load(DType::kI32, Lane::kI32, at, tail);
    if (spec_.epilogue.out == DType::kI32) return sums;
    return steps.write(vector * lanes_, tail, b_.op1(Op::kI32ToF32, kF32, sums));
  }

  void store(int vector, V value) {
    const DType out = spec_.epilogue.out;
    const Lane lane = out == DType::kI32 ? Lane::kI32 : kF32;
    if (spec_.epilogue.is_contiguous) {
      const int64_t at = static_cast<int64_t>(byte_size(out)) * lanes_ * vector;
      b_.store(out, lane, {row_, {}, 1, at}, value, tail_of(vector));
      return;
    }
    const Mem at = {row_, b_.gop(Op::kGMul, column_, lanes_ * vector), 1, 0};
    b_.store_strided(out, lane, at, column_, value, tail_of(vector));
  }

  jit::Builder& b_;
  const MicroKernelSpec& spec_;
  int lanes_;
  jit::Tail tail_;
  G sums_, row_, column_;
};

}  // namespace

Expected<void> write_finish_rows(jit::Builder& b, const MicroKernelSpec& spec) {
  return Writer(b, spec).write();
}

}  // namespace nrd::gemm
