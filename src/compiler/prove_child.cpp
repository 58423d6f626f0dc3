// SPDX-License-Identifier: MIT
// src/compiler/prove_child.cpp: proofs in a process of their own, and none at all.
#include <fmt/format.h>

#include <sstream>

#include "base/child.h"
#include "compiler/operator.h"
#include "compiler/user_op.h"
#include "trace/sample.h"

namespace nrd {
namespace {

// Ten times what the slowest proof takes on a loaded machine.
constexpr double kTimeoutSeconds = 30;

// "proved compiled in_place assumptions integers", a line for each assumption, one that says of
// each integer whether it may be negative, and the reason as the rest. A function that is refused
// early has no integers yet.
std::string to_text(const Proofs& p) {
  std::string text = fmt::format("{:d} {:d} {:d} {} {}\n", p.proved, p.compiled, p.in_place,
                                 p.assumptions.list.size(), p.assumptions.names.size());
  for (const Assumption& x : p.assumptions.list)
    text += fmt::format("{} {} {} {} {}\n", static_cast<int>(x.kind), x.a, x.b, x.c, x.r);
  for (size_t i = 0; i < p.assumptions.names.size(); i++)
    text += fmt::format("{:d} ", p.assumptions.takes_negative(i));
  return text + "\n" + p.reason;
}

Expected<Proofs> from_text(const std::string& text, const OpTrace& trace) {
  std::istringstream in(text);
  Proofs p;
  size_t count = 0, integers = 0;
  in >> p.proved >> p.compiled >> p.in_place >> count >> integers;
  for (size_t i = 0; i < count && in; i++) {
    int kind = 0, a = 0, b = 0;
    Assumption x;
    in >> kind >> a >> b >> x.c >> x.r;
    x.kind = static_cast<Assumption::Kind>(kind);
    x.a = static_cast<uint8_t>(a), x.b = static_cast<uint8_t>(b);
    p.assumptions.list.push_back(x);
  }
  p.assumptions.names = integer_names(trace);
  bool negative = false;
  for (size_t i = 0; i < integers && in >> negative; i++)
    p.assumptions.negative.push_back(negative);
  if (!in)
    return make_error({.code = ErrorCode::kInternal,
                       .op = trace.name,
                       .argument = "proof",
                       .got = fmt::format("'{}' from the child", text)});
  in.ignore(2);  // the end of the line
  std::getline(in, p.reason, '\0');
  return p;
}

}  // namespace

Expected<Proofs> prove_in_child(const LiftedFunction& lifted) {
  Expected<std::string> answer = run_in_child(
      {.op = lifted.request.name, .during = "while it was proved", .timeout_s = kTimeoutSeconds},
      [&]() -> Expected<std::string> { return to_text(prove_function(lifted)); });
  if (!answer) return answer.error();
  Expected<Proofs> proofs = from_text(*answer, lifted.trace);
  if (!proofs || !proofs->compiled) return proofs;
  const Expected<void> again =
      compile_user_code(lifted.operator_trace, {.assumptions = &proofs->assumptions,
                                                .in_place = proofs->in_place,
                                                .proved_elsewhere = true});
  if (!again) {
    proofs->compiled = false;
    proofs->reason = reason_of(again.error());
  }
  return proofs;
}

Expected<Proofs> prove_nothing(const LiftedFunction& lifted) {
  Proofs proofs;
  proofs.reason = fmt::format("no proof was asked for of {}", lifted.request.name);
  return proofs;
}

}  // namespace nrd
