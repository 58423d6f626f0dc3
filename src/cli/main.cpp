// SPDX-License-Identifier: MIT
// src/cli/main.cpp: the program nereid.
#include <algorithm>
#include <iostream>

#include "base/env.h"
#include "base/suggest.h"
#include "cli/session.h"
#include "version.h"

namespace {

// Options in front of the verb that are followed by a word.
constexpr const char* kTakesWord[] = {"--plugin", "--op", "--signature", "--as", "--prove"};

// CLI11 takes an unknown verb for a missing one; say which it was.
void check_verb(const CLI::App& app, int argc, char** argv) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands({})) names.push_back(verb->get_name());
  for (int i = 1; i < argc; i++) {
    const std::string word = argv[i];
    const auto is_word = [&](const char* option) { return word == option; };
    if (std::any_of(std::begin(kTakesWord), std::end(kTakesWord), is_word)) i++;
    if (word.starts_with("-")) continue;
    if (std::find(names.begin(), names.end(), word) != names.end()) return;
    const std::vector<std::string_view> known(names.begin(), names.end());
    const std::string hint = nrd::did_you_mean(word, known);
    nrd::cli::fail(nrd::cli::kUsage, "no verb '" + word + "'; " +
                                         (hint.empty() ? "`nereid --help` lists them" : hint));
  }
}

}  // namespace

int main(int argc, char** argv) {
  using namespace nrd::cli;
  Session session;
  for (int i = 0; i < argc; i++)
    session.command += (i ? " " : "") + std::string(i ? argv[i] : "nereid");
  CLI::App app{"Nereid: operators for LLM inference, checked and timed", "nereid"};
  app.set_version_flag("--version", std::string("nereid ") + nrd::kVersion);
  app.require_subcommand(1);
  app.fallthrough();
  app.add_option("--plugin", session.plugins, "a backend from a shared library; may be repeated");
  app.add_option("--op", session.user_ops,
                 "LIB.so:SYMBOL, a function of yours as an operator; may be repeated");
  app.add_option("--signature", session.c_signature,
                 "its type in C, e.g. 'void(const float* x, float* out, size_t n)'");
  app.add_option("--as", session.op_signature,
                 "the operator's signature, e.g. 'x[n] -> out[n] ; core n'; else it is inferred");
  app.add_option("--prove", session.prove,
                 "where it runs while it is proved: child, here (for a debugger) or no")
      ->check(CLI::IsMember({"child", "here", "no"}))
      ->capture_default_str();
  add_info(app, session);
  add_ops(app, session);
  add_backends(app, session);
  add_explain(app, session);
  add_bench(app, session);
  add_check(app, session);
  add_sweep(app, session);
  add_compare(app, session);
  add_demo(app, session);
  add_lift(app, session);
  add_worker(app, session);
  check_verb(app, argc, argv);
  const bool asks_about_itself = argc < 2 || argv[1][0] == '-';  // --help, --version
  if (auto sound = nrd::check_environment(); !sound && !asks_about_itself)
    fail(kUsage, sound.error().message());
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    const int code = app.exit(e);
    return code == 0 ? kOk : kUsage;
  } catch (const std::exception& e) {  // out of memory, mostly; never a crash
    std::cerr << "nereid: " << e.what() << "\n";
    return kFailed;
  }
  return session.exit_code;
}
