// SPDX-License-Identifier: MIT
// src/cli/session.h: what the verbs share: registry, output, exit codes.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "compiler/user_op.h"
#include "dispatch/registry.h"
#include "workbench/bench.h"

namespace nrd::cli {

constexpr int kOk = 0;
constexpr int kFailed = 1;  // something that was asked for did not succeed
constexpr int kUsage = 2;   // the request itself is wrong
constexpr int kInterrupted = 130;

struct Session {
  std::string command;                // as it was typed, for the report
  std::vector<std::string> plugins;   // --plugin
  std::vector<std::string> user_ops;  // --op
  std::string c_signature;            // --signature, of an --op without one
  std::string op_signature;           // --as: the operator's
  std::string prove = "child";        // --prove: where functions of --op and lift run meanwhile
  int exit_code = kOk;

  // Built-in backends, peers and plug-ins. Prints the error and ends with kUsage when the
  // environment or a plug-in is wrong.
  KernelRegistry& registry();
  Prover prover() const;  // as --prove says
  // Registers the functions of --op, once, each proved as --prove says; ends the program with the
  // reason where one cannot be an operator. The name of the last is the operator of a verb that
  // names none.
  std::string register_user_ops();

 private:
  bool registered_ = false;
  std::string last_op_;
  std::unique_ptr<KernelRegistry> registry_;
};

// Ends the program with a message on standard error.
[[noreturn]] void fail(int code, const std::string& message);
[[noreturn]] void fail(const Error& error);  // kUsage for misuse, kFailed for the rest

template <class T>
T or_fail(Expected<T> value) {
  if (!value) fail(value.error());
  return std::move(*value);
}

// Standard output is a terminal that understands colours, and NO_COLOR is not set.
bool color_output();
size_t output_width();  // of the terminal that standard output is, or that of a table
// A line that the next one replaces, where standard error is a terminal; nothing removes it.
void show_progress(const std::string& what, double fraction);

// --shape --dtype --opt --device --threads --cache --regime --data --seed: a list of cases of one
// operator. What is empty follows from the device: warm and eager on the CPU, cold and back to back
// on another.
struct CaseOptions {
  std::string op;
  std::vector<std::string> shapes, dtypes, options;
  std::string device, threads = "1", cache, regime, data = "normal";
  uint64_t seed = 1;

  void add_to(CLI::App& verb, bool timing);
  // "device=cuda", "regime=gapped": a word of a case file that stands for an option. False when it
  // is none of these.
  bool take_word(const std::string& word);
  std::vector<CaseSpec> cases() const;  // ends the program on a mistake
};

// What --cache and --regime ask for, by the device; they end the program on a mistake.
std::vector<CacheState> cache_states(const std::string& text, bool on_cpu);
std::vector<Regime> regimes(const std::string& text, bool on_cpu);

// Its floating operands are f64 by nature: a user's function of doubles.
bool takes_f64(const Op& op);

// For options: a number in [low, high], so neither nan nor inf; and a whole one.
CLI::Validator number_between(double low, double high);
CLI::Validator whole_between(uint64_t low, uint64_t high);
// --threads: a list of counts; ends the program on a mistake.
std::vector<int> thread_counts(const std::string& text);

std::vector<std::string> split_list(const std::string& text);  // at commas

// The verbs, one file each.
void add_info(CLI::App& app, Session& session);
void add_ops(CLI::App& app, Session& session);
void add_backends(CLI::App& app, Session& session);
void add_explain(CLI::App& app, Session& session);
void add_bench(CLI::App& app, Session& session);
void add_check(CLI::App& app, Session& session);
void add_compare(CLI::App& app, Session& session);
void add_sweep(CLI::App& app, Session& session);
void add_demo(CLI::App& app, Session& session);
void add_lift(CLI::App& app, Session& session);
void add_worker(CLI::App& app, Session& session);

}  // namespace nrd::cli
