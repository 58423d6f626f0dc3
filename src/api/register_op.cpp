// SPDX-License-Identifier: MIT
// src/api/register_op.cpp: nereid_register_op, with options and without.
#include <deque>

#include "api/context.h"
#include "base/lazy.h"
#include "base/locks.h"
#include "compiler/user_op.h"

namespace nrd {
namespace {

// Reasons outlive the call that asked for them. Under LockName::kNames.
constinit Lazy<std::deque<std::string>> g_kept_results;

const char* keep(std::string text) {
  std::deque<std::string>& kept = g_kept_results.get();
  const Locked lock(LockName::kNames);
  return kept.emplace_back(std::move(text)).c_str();
}

Expected<Prover> prover_of(int32_t prove) {
  switch (prove) {
    case NEREID_PROVE_HERE: return Prover(prove_function);
    case NEREID_PROVE_IN_CHILD: return Prover(prove_in_child);
    case NEREID_PROVE_NOT: return Prover(prove_nothing);
    default:
      return make_error({.code = ErrorCode::kInvalidArgument,
                         .op = "nereid_register_op",
                         .argument = "prove",
                         .got = std::to_string(prove),
                         .allowed = "a nereid_prove"});
  }
}

Expected<void> register_op(const char* name, const void* function, const char* c_signature,
                           const nereid_register_options& options, nereid_registered* out) {
  if (!name) return null_error("name", "the operator's name", "nereid_register_op");
  if (!function) return null_error("function", "a C function", "nereid_register_op");
  if (!c_signature) return null_error("c_signature", "the function's type", "nereid_register_op");
  // Before anything is registered: an error leaves the name free.
  if (out && (out->struct_size == 0 || out->struct_size > sizeof *out))
    return struct_size_error("nereid_registered", out->struct_size, sizeof *out);
  Expected<Prover> prover = prover_of(options.prove);
  if (!prover) return prover.error();
  Expected<lift::CSignature> parsed = lift::parse_signature(c_signature);
  if (!parsed) return parsed.error();
  UserOpRequest request;
  request.name = name;
  request.function = function;
  request.c_signature = std::move(*parsed);
  if (options.signature) request.signature = options.signature;
  Expected<UserOp> op = register_user_op(request, *prover);
  if (!op) return op.error();
  if (!out) return {};
  const Variant& variant = op->op->variants.front();
  nereid_registered result{};
  result.lifted = op->lifted;
  result.proved = op->proved;
  result.compiled = op->compiled;
  result.op_class = op_class_word(op->op_class).data();
  result.signature = variant.signature.c_str();
  result.reason = keep(op->reason);
  result.lift_us = op->lift_us;
  result.assumes = keep(op->assumptions.text());
  return write_struct(result, out, "nereid_registered");
}

}  // namespace
}  // namespace nrd

extern "C" nereid_status nereid_register_op(const char* name, const void* function,
                                            const char* c_signature, const char* signature,
                                            nereid_registered* out) {
  nereid_register_options options{};
  options.signature = signature;
  return nrd::guarded([&] { return nrd::register_op(name, function, c_signature, options, out); });
}

extern "C" nereid_status nereid_register_op_with(const char* name, const void* function,
                                                 const char* c_signature,
                                                 const nereid_register_options* options,
                                                 nereid_registered* out) {
  return nrd::guarded([&]() -> nrd::Expected<void> {
    nereid_register_options known{};
    if (options) NRD_TRY(nrd::read_struct(options, "nereid_register_options", known));
    return nrd::register_op(name, function, c_signature, known, out);
  });
}
