// SPDX-License-Identifier: MIT
// src/trace/text.h: OpTrace as text, and back.
//
//   trace NAME : CLASS
//   param NAME : in|out|inout|unused DTYPE       a pointer
//   param NAME : size | int | number DTYPE
//   %1 = const TYPE LITERAL                      0x1.8p+0, inf, nan, nan:0x7fc00001, -5, true
//   %2 = param TYPE NAME                         a number or an int
//   %3 = load TYPE NAME[INDEX]                   ... if %c else %o: guarded
//   %4 = OP TYPE ARGS                            TYPE is left out where OP has only one
//   %5 = cmp PREDICATE %a %b
//   store NAME[INDEX] %4                         ... if %c
//   for i0 < INDEX carry %6 = %1, ... {          the counter, the extent, (carried = initially)
//     ...
//   } next %9, ... -> %10, ...                   (at the end of an iteration) -> after the last
//
// INDEX is i64 arithmetic, written where it is used: sizes by name, counters i0, i1, ..., + - * /
// (rounding down) % min(a, b) max(a, b), and %n for what is none of these. As an argument it
// stands in parentheses unless it is a single thing; a very long one gets a line. trace_text writes
// the canonical form: values and counters numbered as they appear, dead values and loops left out.
#pragma once

#include "base/error.h"
#include "trace/trace.h"

namespace nrd {

std::string trace_text(const OpTrace& trace);

// A trace that verify_trace accepts, or an error that names the line. Numbers of values and
// counters may be in any order; empty lines are skipped. Equal index expressions become one value,
// in the outermost scope that has their operands.
Expected<OpTrace> parse_trace(std::string_view text);

}  // namespace nrd
