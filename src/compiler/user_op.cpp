// SPDX-License-Identifier: MIT
// src/compiler/user_op.cpp: from a function pointer to an entry like those of the catalogue.
#include "compiler/user_op.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <memory>
#include <set>

#include "base/float_state.h"
#include "base/log.h"
#include "compiler/dump.h"
#include "compiler/operator.h"
#include "compiler/user_function.h"
#include "compiler/user_signature.h"
#include "lift/prove.h"
#include "trace/extents.h"
#include "trace/in_place.h"

namespace nrd {
namespace {

using Clock = std::chrono::steady_clock;

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

Error refuse(const UserOpRequest& request, std::string argument, std::string got,
             std::string allowed, std::string hint = "") {
  return make_error({.code = ErrorCode::kInvalidArgument,
                     .op = request.name,
                     .argument = std::move(argument),
                     .got = std::move(got),
                     .allowed = std::move(allowed),
                     .hint = std::move(hint)});
}

// Further ones of a family get a number behind.
class Namer {
 public:
  explicit Namer(const std::vector<lift::CParam>& params) { take_given(params); }

  void name_all(std::vector<lift::CParam>& params) {
    for (lift::CParam& p : params) {
      if (p.kind == lift::CKind::kStruct) name_all(p.fields);
      if (p.kind == lift::CKind::kStruct || !p.name.empty()) continue;
      do p.name = next_of(p);
      while (!taken_.insert(p.name).second);
    }
  }

 private:
  void take_given(const std::vector<lift::CParam>& params) {
    for (const lift::CParam& p : params) {
      taken_.insert(p.name);
      take_given(p.fields);
    }
  }
  std::string next_of(const lift::CParam& p) {
    using lift::CKind;
    static constexpr std::string_view kNames[4] = {"xyzw", "", "nmkrst", "abcdef"};
    const bool number = p.kind == CKind::kFloat || p.kind == CKind::kDouble;
    const size_t family = p.kind == CKind::kPointer ? (p.is_const ? 0 : 1) : number ? 3 : 2;
    const size_t i = used_[family]++;
    if (family == 1) return i == 0 ? "out" : fmt::format("out{}", i);
    return i < kNames[family].size() ? std::string(1, kNames[family][i])
                                     : fmt::format("{}{}", kNames[family][0], i);
  }

  std::set<std::string> taken_;
  std::array<size_t, 4> used_{};
};

// Names stand in case files and on the command line.
Expected<void> check_name(const UserOpRequest& request) {
  const std::string& name = request.name;
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  constexpr size_t kLongest = 64;
  if (name.empty() || name.size() > kLongest || !std::all_of(name.begin(), name.end(), is_word))
    return refuse(request, "name", fmt::format("'{:.{}}'", name, kLongest),
                  fmt::format("up to {} letters, digits and _", kLongest));
  if (!find_op(name)) return {};
  return refuse(request, "name", "the name of an operator that exists", "", "choose another name");
}

// The sizes that `nereid bench` takes when none are given.
std::string example_shape(const Signature& signature) {
  std::string text;
  for (const Axis& axis : signature.axes)
    if (axis.is_key())
      text += fmt::format("{}{}={}", text.empty() ? "" : ",", axis.name,
                          signature.axes.size() == 1 ? 65536 : 256);
  return text;
}

// Arithmetic of one point of the innermost loops.
double flops_of(const OpTrace& trace) {
  double flops = 0;
  for (const TraceLoop& loop : trace.loops)
    for (ValueId id : loop.body) {
      const Value& v = trace[id];
      const bool real = v.type == TraceType::kF32 || v.type == TraceType::kF64;
      flops += real && v.op >= TraceOp::kAdd && v.op <= TraceOp::kHypot;
    }
  return std::max(1.0, flops);
}

// Whether sizes alone say what is touched.
bool is_bounded(const OpTrace& trace) {
  std::vector<int64_t> sizes;
  for (const TraceParam& p : trace.params)
    if (p.kind == TraceParamKind::kSize) sizes.push_back(16);
  for (const Extent& e : extents(trace, sizes))
    if (!e.is_bounded() || e.end > int64_t{1} << 30) return false;
  return true;
}

Op make_op(const UserOpRequest& request, const Signature& signature, const UserFunction& user,
           const Proofs& proofs) {
  Op op;
  op.name = request.name;
  op.group = "user";
  op.summary = request.library.empty() ? "a registered function" : "from " + request.library;
  for (const std::string& number : user.numbers)
    op.numbers.push_back({number, 1, "an argument of the function"});
  for (const Axis& axis : signature.axes)
    if (axis.attribute)
      op.numbers.push_back({axis.name, static_cast<double>(axis.preset),
                            "an integer of the function that is no size", NumberRange::kAny, true});
  Builds builds;
  builds.name = user.name;
  builds.scalar = function_definition(user);
  // Where data leads to indices, what is touched has no length that sizes give.
  builds.f64 = proofs.proved && is_bounded(user.trace) ? reference_definition(user) : builds.scalar;
  builds.autovec.fill(builds.scalar);
  builds.trace = proofs.compiled ? &user.trace : nullptr;
  builds.no_trace = user.reason;
  builds.contract = &user.contract;
  op.variants = {{.signature = signature.text, .builds = builds}};
  op.shape = example_shape(signature);
  if (!proofs.proved) return op;
  const OpClass c = user.trace.op_class;
  op.flops = flops_of(user.trace);
  op.tolerance.f32 = c == OpClass::kElementwise || c == OpClass::kPairwise ? 1e-5 : 1e-4;
  if (proofs.in_place) op.in_place = InPlace::kYes;
  return op;
}

// Proofs hold for the default floating-point state. Said once: a host sets its state once.
void name_float_state(const std::string& name) {
  static std::atomic_flag said;
  const std::string unusual = unusual_float_state();
  if (unusual.empty() || said.test_and_set()) return;
  log(LogLevel::kWarning,
      fmt::format("{}: this thread has changed the floating-point state ({}): functions are proved "
                  "in the default state, and results here may differ from it",
                  name, unusual));
}

// Sizes are never negative, nor is what is unsigned. Of other integers it is a condition.
void say_what_is_not_negative(const Signature& signature, const std::vector<IntegerParam>& integers,
                              Assumptions& assumptions) {
  for (size_t i = 0; i < assumptions.names.size() && i < signature.core.size(); i++) {
    const bool is_attribute = signature.axes[static_cast<size_t>(signature.core[i])].attribute;
    if (!is_attribute || i >= integers.size() || integers[i].least >= 0) continue;
    const bool is_said = std::any_of(
        assumptions.list.begin(), assumptions.list.end(),
        [&](const Assumption& x) { return x.kind == Assumption::Kind::kAtLeast && x.a == i; });
    if (is_said || assumptions.takes_negative(i)) continue;
    assumptions.list.push_back({Assumption::Kind::kAtLeast, static_cast<uint8_t>(i), 0, 0, 0});
  }
}

// Lifts the function and has the trace proved. The error is a prover's that lost its process; it
// ends here where there is no signature to go on with.
Expected<void> lift_and_prove(const UserOpRequest& request, UserFunction& user, const Prover& prove,
                              UserOp& result) {
  const lift::LiftRequest wanted{request.name, request.function, user.signature};
  dump_lifted(wanted);
  Clock::time_point start = Clock::now();
  Expected<OpTrace> trace = lift::lift_function(wanted);
  result.lift_us = microseconds_since(start);
  result.lifted = static_cast<bool>(trace);
  if (!trace) return result.reason = reason_of(trace.error()), Expected<void>();
  UserFunction traced = user;
  NRD_TRY(keep_trace(traced, *trace));
  start = Clock::now();
  Expected<Proofs> proofs = prove({*trace, traced.trace, wanted});
  result.prove_us = microseconds_since(start);
  if (!proofs) {
    result.reason = reason_of(proofs.error());
    if (request.signature.empty()) return proofs.error();
    return {};
  }
  static_cast<Proofs&>(result) = std::move(*proofs);
  if (!result.proved) return {};
  result.op_class = trace->op_class;
  user = std::move(traced);
  return {};
}

}  // namespace

std::string reason_of(Error error) {
  error.op.clear();
  return error.message();
}

void name_parameters(lift::CSignature& signature) {
  Namer(signature.params).name_all(signature.params);
}

Proofs prove_function(const LiftedFunction& lifted) {
  Proofs proofs;
  name_float_state(lifted.request.name);
  Expected<lift::TraceProof> proof =
      lift::prove_trace(lifted.trace, lifted.request, {.in_place = true});
  if (!proof) return proofs.reason = reason_of(proof.error()), proofs;
  proofs.proved = true;
  proofs.assumptions = std::move(proof->assumptions);
  const auto compile = [&](bool in_place) {
    return compile_user_code(lifted.operator_trace,
                             {.assumptions = &proofs.assumptions, .in_place = in_place});
  };
  proofs.in_place = proof->in_place && reads_where_it_stores(lifted.operator_trace);
  Expected<void> code = compile(proofs.in_place);
  if (!code && proofs.in_place) {
    code = compile(false);
    if (code) proofs.in_place = false;
  }
  proofs.compiled = static_cast<bool>(code);
  if (!code) proofs.reason = reason_of(code.error());
  return proofs;
}

Expected<UserOp> register_user_op(const UserOpRequest& request, const Prover& prove) {
  NRD_TRY(check_name(request));
  auto user = std::make_unique<UserFunction>();
  user->name = request.name;
  user->function = request.function;
  user->signature = request.c_signature;
  name_parameters(user->signature);
  NRD_TRY(describe_function(*user));
  UserOp result;
  NRD_TRY(lift_and_prove(request, *user, prove, result));
  if (request.signature.empty() && !result.proved)
    return make_error({.code = ErrorCode::kUnsupported,
                       .op = request.name,
                       .argument = "function",
                       .got = result.reason,
                       .hint = "give the operator's signature, and it runs as it is"});
  Expected<Signature> signature = user_signature(request, *user, result.proved);
  if (!signature) return signature.error();
  user->reason = result.reason;
  for (size_t i = 0; i < result.assumptions.names.size() && i < signature->core.size(); i++)
    result.assumptions.names[i] = signature->axes[static_cast<size_t>(signature->core[i])].name;
  user->contract = {integer_params(*user), result.proved ? &user->trace : nullptr, {}};
  say_what_is_not_negative(*signature, user->contract.integers, result.assumptions);
  user->contract.assumptions = result.assumptions;
  Expected<const Op*> op = add_op(make_op(request, *signature, *user, result));
  if (!op) return op.error();
  static_cast<void>(user.release());  // the operator points to it, and operators stay
  result.op = *op;
  if (!result.compiled)
    log(LogLevel::kInfo, fmt::format("{}: runs as it is: {}", request.name, result.reason));
  return result;
}

}  // namespace nrd
