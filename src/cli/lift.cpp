// SPDX-License-Identifier: MIT
// src/cli/lift.cpp: nereid lift: what a function computes, whether that is proved, and its code.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/report.h"
#include "cli/session.h"
#include "compiler/operator.h"
#include "compiler/user_function.h"
#include "trace/text.h"
#include "workbench/user_ops.h"

namespace nrd::cli {
namespace {

struct LiftFlags {
  std::string function, dump = "trace";
  JsonOption json;
};

bool wants_proof(const Session& session) { return session.prove != "no"; }

struct Outcome : Proofs {
  bool lifted = false;
  std::string op_class = "opaque", text;
  double lift_us = 0;

  std::string verdict() const {
    if (!lifted) return "not lifted";
    if (!proved) return "not proved";
    return compiled ? "proved, vector code proved" : "proved, no vector code";
  }
};

// Lifting only reads the function; the proofs, which run it and its code, happen where --prove
// says.
Outcome lift_and_prove(Session& session, const LiftFlags& flags, const UserOpRequest& request) {
  Outcome outcome;
  const lift::LiftRequest wanted{request.name, request.function, request.c_signature};
  if (flags.dump == "lift") outcome.text = lift::dump_lift(wanted);
  lift::LiftStats stats;
  Expected<OpTrace> trace = lift::lift_function(wanted, &stats);
  outcome.lift_us = stats.total_us;
  if (!trace) return outcome.reason = reason_of(trace.error()), outcome;
  outcome.lifted = true;
  outcome.op_class = op_class_word(trace->op_class);
  if (flags.dump == "trace") outcome.text = trace_text(*trace);
  UserFunction user;
  user.name = request.name;
  user.function = request.function;
  user.signature = request.c_signature;
  Expected<void> kept = describe_function(user);
  if (kept) kept = keep_trace(user, *trace);
  if (!kept) return outcome.reason = reason_of(kept.error()), outcome;
  Expected<Proofs> proofs = session.prover()({*trace, user.trace, wanted});
  if (!proofs) return outcome.reason = reason_of(proofs.error()), outcome;
  static_cast<Proofs&>(outcome) = *proofs;
  if (flags.dump != "asm" || (!outcome.proved && wants_proof(session))) return outcome;
  // Shown even where its proof failed: that is when one wants to read it.
  Expected<Machine> machine = Machine::host();
  if (!machine) fail(machine.error());
  if (Expected<std::string> text = operator_assembly(*trace, machine->isa); text)
    outcome.text = *text;
  return outcome;
}

nlohmann::json to_json(const std::string& symbol, const Outcome& o) {
  return {{"schema", 1},
          {"symbol", symbol},
          {"class", o.op_class},
          {"verified", o.proved},
          {"assumes", o.assumptions.text()},
          {"reason", o.reason},
          {"lift_us", o.lift_us}};
}

void run(Session& session, const LiftFlags& flags) {
  Expected<LibraryFunction> function = parse_library_function(flags.function);
  if (!function) fail(function.error());
  if (!session.op_signature.empty())
    fail(kUsage, fmt::format("--as: got '{}', allowed: beside --op", session.op_signature));
  if (function->c_signature.empty()) function->c_signature = session.c_signature;
  Expected<UserOpRequest> request = load_library_function(*function);
  if (!request) fail(request.error());
  name_parameters(request->c_signature);
  const Outcome o = lift_and_prove(session, flags, *request);
  flags.json.write(to_json(function->symbol, o));
  if (!flags.json.replaces_text()) {
    std::cout << o.text;
    std::cout << fmt::format("{}: {}, {}, lifted in {:.0f} us\n", function->symbol, o.op_class,
                             o.verdict(), o.lift_us);
    if (!o.assumptions.empty()) std::cout << fmt::format("  assumes {}\n", o.assumptions.text());
    if (!o.reason.empty()) std::cout << "  " << o.reason << "\n";
  }
  // A function without vector code is proved all the same; who asks for the code wants it proved.
  const bool done = wants_proof(session) ? o.proved : o.lifted;
  const bool has_code = wants_proof(session) ? o.compiled : !o.text.empty();
  if (!done || (flags.dump == "asm" && !has_code)) session.exit_code = kFailed;
}

}  // namespace

void add_lift(CLI::App& app, Session& session) {
  CLI::App* verb =
      app.add_subcommand("lift", "what a function of a shared library computes, proved");
  auto flags = std::make_shared<LiftFlags>();
  verb->add_option("function", flags->function, "LIB.so:SYMBOL; its type comes from --signature")
      ->required();
  verb->add_option("--dump", flags->dump, "lift, trace or asm: the form to show")
      ->check(CLI::IsMember({"lift", "trace", "asm"}))
      ->capture_default_str();
  flags->json.add_to(*verb);
  verb->callback([&session, flags, verb] {
    flags->json.open(*verb);
    run(session, *flags);
  });
}

}  // namespace nrd::cli
