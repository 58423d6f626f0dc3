// SPDX-License-Identifier: MIT
// src/gemm/vector_loops.h: the loops along a row that generated kernels share.
#pragma once

#include "jit/ir.h"

namespace nrd::gemm {

// turn(at) for at = 0, step, ... while `step` elements are left; returns where the rest begins.
template <class Turn>
jit::G write_turns(jit::Builder& b, jit::G count, int step, Turn turn) {
  const jit::G at = b.gconst(0);
  const jit::G last = b.gop(jit::Op::kGSub, count, step);
  const jit::Label top = b.label(), done = b.label();
  b.branch(Predicate::kGt, at, last, done);
  b.loop_begin();
  b.bind(top);
  turn(at);
  b.gop(jit::Op::kGAdd, at, step, at);
  b.branch(Predicate::kLe, at, last, top);
  b.loop_end();
  b.bind(done);
  return at;
}

// body(part, tail) for each vector that holds some of the `left` elements, of at most `parts`.
template <class Body>
void write_rest(jit::Builder& b, jit::G left, int parts, int lanes, Body body) {
  const jit::Label done = b.label();
  for (int part = 0; part < parts; part++) {
    b.branch(Predicate::kLe, left, part * lanes, done);
    const jit::G here = b.gop(jit::Op::kGSub, left, part * lanes);
    const jit::Tail tail = b.tail(b.gop(jit::Op::kGMin, here, lanes));
    body(part, &tail);
  }
  b.bind(done);
}

}  // namespace nrd::gemm
