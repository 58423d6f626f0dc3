// SPDX-License-Identifier: MIT
// src/gemm/finish_rows.cpp: see finish_rows.h.
#include "gemm/finish_rows.h"

#include <cstddef>

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
    row_.at = argument(offsetof(MicroKernelArgs, c));
    const G c_row = argument(offsetof(MicroKernelArgs, c_row));
    if (!epilogue.is_contiguous) row_.column = argument(offsetof(MicroKernelArgs, c_column));
    EpilogueWriter steps(b_, epilogue, offsetof(MicroKernelArgs, operands));
    const G left = b_.gconst(spec_.rows);
    const jit::Label top = b_.label();
    b_.loop_begin();
    b_.bind(top);
    const bool sums_integers = spec_.family->sums_integers();
    for (int v = 0; v < spec_.vectors; v++) {
      const jit::Tail* tail = spec_.has_tail && v == spec_.vectors - 1 ? &tail_ : nullptr;
      const Mem at = {sums_, {}, 1, int64_t{4} * lanes_ * v};
      const V sums = b_.load(sums_integers ? DType::kI32 : DType::kF32,
                             sums_integers ? Lane::kI32 : kF32, at, tail);
      NRD_TRY(write_finish_vector(b_, spec_, steps, row_, v, tail, sums));
    }
    b_.gop(Op::kGAdd, row_.at, c_row, row_.at);
    b_.gop(Op::kGAdd, sums_, sums_row, sums_);
    steps.next_row();
    b_.gop(Op::kGSub, left, 1, left);
    b_.branch(Predicate::kGt, left, 0, top);
    b_.loop_end();
    return {};
  }

 private:
  G argument(size_t offset) { return b_.gload({b_.block(), {}, 1, static_cast<int64_t>(offset)}); }

  jit::Builder& b_;
  const MicroKernelSpec& spec_;
  int lanes_;
  jit::Tail tail_;
  G sums_;
  RowOfC row_;
};

}  // namespace

Expected<void> write_finish_vector(jit::Builder& b, const MicroKernelSpec& spec,
                                   EpilogueWriter& steps, const RowOfC& row, int vector,
                                   const jit::Tail* tail, V sums) {
  const DType out = spec.epilogue.out;
  const int lanes = spec.family->lanes;
  const Lane lane = out == DType::kI32 ? Lane::kI32 : kF32;
  V value = sums;
  if (out != DType::kI32) {
    if (spec.family->sums_integers()) value = b.op1(Op::kI32ToF32, kF32, value);
    Expected<V> result = steps.write(vector * lanes, tail, value);
    if (!result) return result.error();
    value = *result;
  }
  if (spec.epilogue.is_contiguous) {
    const int64_t at = static_cast<int64_t>(byte_size(out)) * lanes * vector;
    b.store(out, lane, {row.at, {}, 1, at}, value, tail);
  } else {
    const Mem at = {row.at, b.gop(Op::kGMul, row.column, lanes * vector), 1, 0};
    b.store_strided(out, lane, at, row.column, value, tail);
  }
  return {};
}

Expected<void> write_finish_rows(jit::Builder& b, const MicroKernelSpec& spec) {
  return Writer(b, spec).write();
}

}  // namespace nrd::gemm
