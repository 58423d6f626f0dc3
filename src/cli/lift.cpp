// SPDX-License-Identifier: MIT
// src/cli/lift.cpp: nereid lift: what a function computes, whether that is proved, and its code.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/session.h"
#include "compiler/operator.h"
#include "lift/prove.h"
#include "trace/text.h"
#include "workbench/user_ops.h"

namespace nrd::cli {
namespace {

struct LiftFlags {
  std::string function, dump = "trace";
  bool json = false;
};

struct Outcome {
  bool lifted = false, proved = false;
  std::string op_class = "opaque", reason, text;
  double lift_us = 0;
};

// The vector code for this machine, proved like that of an operator in use.
std::string assembly(Session& session, const OpTrace& trace, std::string& reason) {
  Expected<std::string> text = operator_assembly(trace, session.registry().machine().isa);
  if (!text) reason = text.error().message();
  return text ? *text : "";
}

Outcome lift_and_prove(Session& session, const LiftFlags& flags, const UserOpRequest& request) {
  Outcome outcome;
  const lift::LiftRequest wanted{request.name, request.function, request.c_signature};
  if (flags.dump == "lift") outcome.text = lift::dump_lift(wanted);
  lift::LiftStats stats;
  Expected<OpTrace> trace = lift::lift_function(wanted, &stats);
  outcome.lift_us = stats.total_us;
  if (!trace) return outcome.reason = trace.error().message(), outcome;
  outcome.lifted = true;
  outcome.op_class = op_class_word(trace->op_class);
  Expected<void> proof = lift::prove_trace(*trace, wanted);
  outcome.proved = static_cast<bool>(proof);
  if (!proof) outcome.reason = proof.error().message();
  if (flags.dump == "trace") outcome.text = trace_text(*trace);
  if (flags.dump == "asm" && proof) outcome.text = assembly(session, *trace, outcome.reason);
  return outcome;
}

nlohmann::json to_json(const std::string& symbol, const Outcome& o) {
  return {{"schema", 1},          {"symbol", symbol},   {"class", o.op_class},
          {"verified", o.proved}, {"reason", o.reason}, {"lift_us", o.lift_us}};
}

// In a child: a proof runs the function, and a function may crash.
Outcome in_child(Session& session, const LiftFlags& flags, const UserOpRequest& request) {
  int ends[2];
  if (pipe(ends) != 0) fail(kFailed, fmt::format("pipe: {}", std::strerror(errno)));
  const pid_t pid = fork();
  if (pid < 0) fail(kFailed, fmt::format("fork: {}", std::strerror(errno)));
  if (pid == 0) {
    const Outcome o = lift_and_prove(session, flags, request);
    const std::string line = nlohmann::json({{"lifted", o.lifted},
                                             {"proved", o.proved},
                                             {"class", o.op_class},
                                             {"reason", o.reason},
                                             {"text", o.text},
                                             {"lift_us", o.lift_us}})
                                 .dump();
    size_t done = 0;
    while (done < line.size()) {
      const ssize_t n = write(ends[1], line.data() + done, line.size() - done);
      if (n <= 0) _exit(kFailed);
      done += static_cast<size_t>(n);
    }
    _exit(kOk);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  Outcome o;
  const nlohmann::json reply = nlohmann::json::parse(text, nullptr, false);
  if (WIFSIGNALED(status) || reply.is_discarded()) {
    o.reason = WIFSIGNALED(status) ? fmt::format("died of signal {} ({}) while it was proved",
                                                 WTERMSIG(status), strsignal(WTERMSIG(status)))
                                   : "ended without an answer while it was proved";
    return o;
  }
  o.lifted = reply["lifted"], o.proved = reply["proved"], o.op_class = reply["class"];
  o.reason = reply["reason"], o.text = reply["text"], o.lift_us = reply["lift_us"];
  return o;
}

void run(Session& session, const LiftFlags& flags) {
  Expected<LibraryFunction> function = parse_library_function(flags.function);
  if (!function) fail(function.error());
  if (function->c_signature.empty()) function->c_signature = session.c_signature;
  Expected<UserOpRequest> request = load_library_function(*function);
  if (!request) fail(request.error());
  name_parameters(request->c_signature);
  const Outcome o = in_child(session, flags, *request);
  if (flags.json) {
    std::cout << to_json(function->symbol, o).dump(1) << "\n";
  } else {
    std::cout << o.text;
    std::cout << fmt::format("{}: {}, {}, lifted in {:.0f} us\n", function->symbol, o.op_class,
                             o.proved   ? "proved"
                             : o.lifted ? "not proved"
                                        : "not lifted",
                             o.lift_us);
    if (!o.reason.empty()) std::cout << "  " << o.reason << "\n";
  }
  if (!o.proved || !o.reason.empty()) session.exit_code = kFailed;
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
  verb->add_flag("--json", flags->json, "one JSON object and nothing else");
  verb->callback([&session, flags] { run(session, *flags); });
}

}  // namespace nrd::cli
