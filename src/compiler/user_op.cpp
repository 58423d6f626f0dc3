// SPDX-License-Identifier: MIT
// src/compiler/user_op.cpp: from a function pointer to an entry like those of the catalogue.
#include "compiler/user_op.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "base/log.h"
#include "compiler/infer_signature.h"
#include "compiler/prove_code.h"
#include "jit/code.h"
#include "lift/call.h"
#include "lift/prove.h"
#include "trace/bounded.h"
#include "trace/footprint.h"

namespace nrd {
namespace {

// What the definitions of a user's operator point to. Lives as long as the process, as the
// operator does. Operands list inputs first, whatever the order in C.
struct UserFunction {
  std::string name;
  const void* function = nullptr;
  lift::CSignature signature;
  std::vector<size_t> operand_of_pointer;  // the operand that each pointer of the C function is
  OpTrace trace;                           // with the operands' order; empty if not lifted
};

// A gather may reach any row of its table: how many there are stands in no size.
constexpr int64_t kUnknownTable = 1;

// Floats are doubles in the reference; integers keep their type.
void store_double(void* base, DType dtype, int64_t i, double value) {
  if (is_float(dtype))
    static_cast<double*>(base)[i] = value;
  else if (dtype == DType::kI32)
    static_cast<int32_t*>(base)[i] = static_cast<int32_t>(value);
  else
    static_cast<int8_t*>(base)[i] = static_cast<int8_t>(static_cast<int32_t>(value));
}

double microseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
      .count();
}

bool is_integer(lift::CKind kind) {
  using lift::CKind;
  return kind == CKind::kInt32 || kind == CKind::kUInt32 || kind == CKind::kInt64 ||
         kind == CKind::kUInt64;
}

// A struct's fields stand where the struct stood.
void flatten(const std::vector<lift::CParam>& params, std::vector<lift::CParam>& out) {
  for (const lift::CParam& p : params)
    if (p.kind == lift::CKind::kStruct)
      flatten(p.fields, out);
    else
      out.push_back(p);
}

void call_as_it_is(const void* context, const InstanceArgs& args) {
  const auto& user = *static_cast<const UserFunction*>(context);
  std::array<void*, kMaxOperands> pointers{};
  for (size_t i = 0; i < user.operand_of_pointer.size(); i++)
    pointers[i] = args.pointers[user.operand_of_pointer[i]];
  std::array<int64_t, kMaxRank> sizes{};
  std::vector<lift::CParam> flat;
  flatten(user.signature.params, flat);
  size_t count = 0;
  for (const lift::CParam& p : flat)
    if (is_integer(p.kind)) sizes[count] = static_cast<int64_t>(args.sizes[count]), count++;
  lift::call_function(user.function, user.signature, pointers.data(), sizes.data(), args.numbers,
                      nullptr);
}

// float f(float, ...): one call an element.
void call_each(const void* context, const InstanceArgs& args) {
  const auto& user = *static_cast<const UserFunction*>(context);
  const size_t inputs = user.signature.params.size();
  std::array<double, kMaxOperands> numbers{};
  for (size_t i = 0; i < args.sizes[0]; i++) {
    for (size_t a = 0; a < inputs; a++) numbers[a] = static_cast<const float*>(args.pointers[a])[i];
    double result = 0;
    lift::call_function(user.function, user.signature, nullptr, nullptr, numbers.data(), &result);
    static_cast<float*>(args.pointers[inputs])[i] = static_cast<float>(result);
  }
}

// The trace in double: the checker's reference. Floating operands are arrays of doubles.
void evaluate_in_double(const void* context, const InstanceArgs& args) {
  const auto& user = *static_cast<const UserFunction*>(context);
  std::vector<int64_t> sizes;
  for (const TraceParam& p : user.trace.params)
    if (p.kind == TraceParamKind::kSize)
      sizes.push_back(static_cast<int64_t>(args.sizes[sizes.size()]));
  const std::vector<int64_t> elements = footprint(user.trace, sizes, kUnknownTable);
  std::vector<std::vector<Bounded>> memory;
  std::vector<void*> pointers;
  memory.reserve(elements.size());
  for (const TraceParam& p : user.trace.params) {
    if (p.kind != TraceParamKind::kPointer) continue;
    const size_t i = pointers.size();
    pointers.push_back(args.pointers[i]);
    if (!is_float(p.dtype) && !p.written) continue;
    std::vector<Bounded>& wide =
        memory.emplace_back(static_cast<size_t>(std::max<int64_t>(0, elements[i])));
    pointers[i] = wide.data();
    if (p.read && is_float(p.dtype))
      for (size_t e = 0; e < wide.size(); e++)
        wide[e].value = static_cast<const double*>(args.pointers[i])[e];
  }
  interpret_bounded(user.trace, {pointers.data(), sizes.data(), args.numbers, args.types});
  size_t pointer = 0;
  for (const TraceParam& p : user.trace.params) {
    if (p.kind != TraceParamKind::kPointer) continue;
    const size_t i = pointer++;
    if (!p.written) continue;
    const auto* wide = static_cast<const Bounded*>(pointers[i]);
    for (int64_t e = 0; e < elements[i]; e++)
      store_double(args.pointers[i], p.dtype, e, wide[e].value);
  }
}

Definition definition_of(const UserFunction& user, const Signature& signature, bool in_double) {
  Definition d;
  d.context = &user;
  d.call = in_double ? evaluate_in_double : user.signature.returns_void ? call_as_it_is : call_each;
  d.operands = static_cast<int>(signature.operands.size());
  d.sizes = static_cast<int>(signature.core.size());
  std::vector<lift::CParam> flat;
  flatten(user.signature.params, flat);
  size_t pointer = 0;
  std::fill(d.native.begin(), d.native.end(), in_double ? DType::kF64 : DType::kF32);
  for (const lift::CParam& p : flat) {
    if (p.kind == lift::CKind::kPointer) {
      const size_t operand = user.operand_of_pointer[pointer++];
      if (p.element != DType::kF32 || !in_double) d.native[operand] = p.element;
    } else if (!is_integer(p.kind) && user.signature.returns_void) {
      d.numbers++;
    }
  }
  return d;
}

// Inputs first, then outputs, as operator signatures have it.
void order_operands(UserFunction& user) {
  std::vector<lift::CParam> flat;
  flatten(user.signature.params, flat);
  size_t inputs = 0, outputs = 0;
  for (const lift::CParam& p : flat) inputs += p.kind == lift::CKind::kPointer && p.is_const;
  size_t next_input = 0;
  for (const lift::CParam& p : flat) {
    if (p.kind != lift::CKind::kPointer) continue;
    user.operand_of_pointer.push_back(p.is_const ? next_input++ : inputs + outputs++);
  }
}

// The same for the trace's parameters: pointers in operand order, everything else in place.
OpTrace with_operands_in_order(OpTrace trace, const std::vector<size_t>& operand_of_pointer) {
  std::vector<uint16_t> pointers, place(trace.params.size());
  for (uint16_t p = 0; p < trace.params.size(); p++) {
    place[p] = p;
    if (trace.params[p].kind == TraceParamKind::kPointer) pointers.push_back(p);
  }
  const std::vector<TraceParam> old = trace.params;
  for (size_t i = 0; i < pointers.size() && i < operand_of_pointer.size(); i++) {
    place[pointers[i]] = pointers[operand_of_pointer[i]];
    trace.params[place[pointers[i]]] = old[pointers[i]];
  }
  for (Value& v : trace.values)
    if (v.op == TraceOp::kLoad || v.op == TraceOp::kStore) v.index = place[v.index];
  return trace;
}

// Further ones of a family get a number behind.
void name_all(std::vector<lift::CParam>& params, std::array<size_t, 4>& used) {
  static constexpr std::string_view kNames[4] = {"xyzw", "", "nmkrst", "abcdef"};
  for (lift::CParam& p : params) {
    if (p.kind == lift::CKind::kStruct) name_all(p.fields, used);
    if (p.kind == lift::CKind::kStruct || !p.name.empty()) continue;
    const size_t family = p.kind == lift::CKind::kPointer ? (p.is_const ? 0 : 1)
                          : is_integer(p.kind)            ? 2
                                                          : 3;
    const size_t i = used[family]++;
    if (family == 1)
      p.name = i == 0 ? "out" : fmt::format("out{}", i);
    else
      p.name = i < kNames[family].size() ? std::string(1, kNames[family][i])
                                         : fmt::format("{}{}", kNames[family][0], i);
  }
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

// The second proof, for the best ISA here; without a back end there is nothing to prove.
Expected<void> prove_vector_code(const OpTrace& trace) {
  Expected<IsaSet> isa = isa_from_environment();
  if (!isa) return isa.error();
  const std::vector<const jit::Target*> targets = jit::targets(*isa);
  if (targets.empty() || !jit::executable_memory_works()) return {};
  return prove_code(trace, *targets.front());
}

Op make_op(const UserOpRequest& request, const std::string& signature, const UserFunction& user,
           bool trusted, bool compiled) {
  Op op;
  op.name = request.name;
  op.group = "user";
  op.summary = request.library.empty() ? "a registered function" : "from " + request.library;
  std::vector<lift::CParam> flat;
  flatten(user.signature.params, flat);
  for (const lift::CParam& p : flat)
    if ((p.kind == lift::CKind::kFloat || p.kind == lift::CKind::kDouble) &&
        user.signature.returns_void)
      op.numbers.push_back({p.name, 1, "an argument of the function"});
  const Expected<Signature> parsed = parse_signature(signature);
  Builds builds;
  builds.name = user.name;
  builds.scalar = definition_of(user, *parsed, false);
  const bool gathers = user.trace.op_class == OpClass::kGather;  // its table has no known length
  builds.f64 = trusted && !gathers ? definition_of(user, *parsed, true) : builds.scalar;
  builds.autovec.fill(builds.scalar);
  builds.trace = compiled ? &user.trace : nullptr;
  op.variants = {{.signature = signature, .builds = builds}};
  op.shape = example_shape(*parsed);
  if (!trusted) return op;
  const OpClass c = user.trace.op_class;
  op.flops = flops_of(user.trace);
  op.tolerance.f32 = c == OpClass::kElementwise || c == OpClass::kPairwise ? 1e-5 : 1e-4;
  if (c == OpClass::kElementwise || c == OpClass::kPairwise || c == OpClass::kNorm)
    op.in_place = InPlace::kYes;
  return op;
}

}  // namespace

void name_parameters(lift::CSignature& signature) {
  std::array<size_t, 4> used{};
  name_all(signature.params, used);
}

Expected<UserOp> register_user_op(const UserOpRequest& request) {
  auto user = std::make_unique<UserFunction>();
  user->name = request.name;
  user->function = request.function;
  user->signature = request.c_signature;
  name_parameters(user->signature);
  UserOp result;
  const lift::LiftRequest wanted{request.name, request.function, user->signature};
  auto start = std::chrono::steady_clock::now();
  Expected<OpTrace> trace = lift::lift_function(wanted);
  result.lift_us = microseconds_since(start);
  result.lifted = static_cast<bool>(trace);
  if (!trace) result.reason = trace.error().message();
  if (trace) {
    start = std::chrono::steady_clock::now();
    Expected<void> proof = lift::prove_trace(*trace, wanted);
    result.proved = static_cast<bool>(proof);
    if (proof) proof = prove_vector_code(*trace);
    result.compiled = static_cast<bool>(proof);
    result.prove_us = microseconds_since(start);
    if (!proof) result.reason = proof.error().message();
  }
  if (request.c_signature.returns_void)
    order_operands(*user);
  else
    for (size_t i = 0; i <= request.c_signature.params.size(); i++)
      user->operand_of_pointer.push_back(i);
  if (result.proved)
    user->trace = with_operands_in_order(std::move(*trace), user->operand_of_pointer);
  std::string signature = request.signature;
  if (signature.empty() && !result.proved)
    return make_error({.code = ErrorCode::kUnsupported,
                       .op = request.name,
                       .argument = "function",
                       .got = result.reason,
                       .hint = "give the operator's signature, and it runs as it is"});
  if (signature.empty()) {
    Expected<std::string> inferred = infer_signature(user->trace);
    if (!inferred) return inferred.error();
    signature = *inferred;
  }
  NRD_TRY(parse_signature(signature));
  Expected<const Op*> op =
      add_op(make_op(request, signature, *user, result.proved, result.compiled));
  if (!op) return op.error();
  UserFunction* kept = user.release();  // the operator points to it, and operators stay
  result.op = *op;
  if (result.proved) result.op_class = kept->trace.op_class;
  if (!result.compiled)
    log(LogLevel::kInfo, fmt::format("{}: runs as it is: {}", request.name, result.reason));
  return result;
}

}  // namespace nrd
