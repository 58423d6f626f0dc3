// SPDX-License-Identifier: MIT
// tests/fuzz/user_functions/main.cpp: users' functions as operators: right or refused, nothing
// else.
//
//   judge_functions LIBRARY LISTING [--seed 1] [--cases 24] [--only NAME] [--case K] [--timeout 60]
//                  [--contracted LIBRARY]
//
// A line of the listing is `name | type in C`. Each function is registered without a signature and,
// where that is refused, with such as its author might give. For each a line of JSON is printed.
// The second library has the same functions, compiled with products contracted into sums.
#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <functional>
#include <map>

#include "shared.h"

namespace judge {
namespace {

struct Options {
  std::string library, listing, only, contracted;
  uint64_t seed = 1;
  int cases = 24, single = -1, timeout = 60;
};

struct Ending {
  bool timed_out = false;
  int signal = 0, code = 0;
  bool well() const { return !timed_out && signal == 0 && code == 0; }
};

// A busy machine gives a child little of the processor.
constexpr int kPatience = 6;

// Runs something in a child of its own, for so many seconds of the processor.
Ending in_child(int seconds, Shared& shared, const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit processor{static_cast<rlim_t>(seconds), static_cast<rlim_t>(seconds)};
    const rlimit memory{rlim_t{8} << 30, rlim_t{8} << 30}, none{0, 0};
    setrlimit(RLIMIT_CPU, &processor);
    setrlimit(RLIMIT_AS, &memory);
    setrlimit(RLIMIT_CORE, &none);
    try {
      work();
    } catch (const std::exception& e) {
      say(shared.trouble, e.what());
      _exit(3);
    }
    _exit(0);
  }
  Ending ending;
  const auto start = std::chrono::steady_clock::now();
  int status = 0;
  for (int wait_us = 50; waitpid(child, &status, WNOHANG) == 0;) {
    if (std::chrono::steady_clock::now() - start > std::chrono::seconds(kPatience * seconds)) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      ending.timed_out = true;
      break;
    }
    usleep(static_cast<useconds_t>(wait_us));
    wait_us = std::min(5000, wait_us * 2);
  }
  if (WIFSIGNALED(status)) ending.signal = WTERMSIG(status);
  if (WIFEXITED(status)) ending.code = WEXITSTATUS(status);
  ending.timed_out |= ending.signal == SIGXCPU || ending.signal == SIGKILL;
  return ending;
}

struct Outcome {
  std::string word;    // right, refused, idle, unproved, wrong, outside, crash, hang
  std::string detail;  // the reason, or the first fault
  int fault_case = -1;
  std::string given, signature;
  bool registered = false, proved = false, compiled = false;
  int accepted = 0, refused = 0;
  std::map<std::string, int> call_reasons;
};

std::string json(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
    out += c;
  }
  return out + "\"";
}

void count_calls(const Attempt& attempt, const Shared& shared, Outcome& outcome) {
  for (int i = 0; i < attempt.cases; i++) {
    const CaseState& state = shared.cases[i];
    outcome.accepted += state.call == Call::kAccepted && !state.empty;
    outcome.refused += state.call == Call::kRefused;
    if (state.call == Call::kRefused) outcome.call_reasons[state.message]++;
  }
}

// A function that was not understood and whose signature was given runs as its author says; that
// it is not defined there is no fault of the library's.
bool excused(const Outcome& outcome, Verdict verdict) {
  if (verdict == Verdict::kEndless) return true;
  return verdict == Verdict::kUndefined && !outcome.given.empty() && !outcome.proved;
}

void find_fault(const Attempt& attempt, const Shared& shared, const Ending& library,
                Outcome& outcome) {
  auto fault = [&](const char* word, std::string detail, int number) {
    outcome.word = word;
    outcome.detail = std::move(detail);
    outcome.fault_case = number;
  };
  for (int i = 0; i < attempt.cases; i++) {
    const CaseState& state = shared.cases[i];
    if (excused(outcome, state.verdict)) return fault("unproved", state.finding, i);
    if (state.verdict == Verdict::kWrong) return fault("wrong", state.finding, i);
    const bool crashed = state.call == Call::kRunning && !library.well();
    if (state.verdict == Verdict::kUndefined && !crashed) return fault("outside", state.finding, i);
    if (crashed) {
      const std::string end = library.timed_out   ? "no answer"
                              : library.code == 3 ? shared.trouble
                                                  : strsignal(library.signal);
      return fault(library.timed_out ? "hang" : "crash", end + "; " + state.message, i);
    }
  }
}

Outcome attempt_once(const Attempt& attempt, Shared& shared, const Options& options) {
  std::memset(static_cast<void*>(&shared), 0, offsetof(Shared, outputs));
  Outcome outcome;
  outcome.given = attempt.given;
  const Ending library = in_child(options.timeout, shared, [&] { call_library(attempt, shared); });
  outcome.signature = shared.signature;
  outcome.registered = shared.registered;
  outcome.proved = shared.proved;
  outcome.compiled = shared.compiled;
  if (!shared.registered) {
    outcome.word = library.well() ? "refused" : library.timed_out ? "hang" : "crash";
    outcome.detail = library.well() ? shared.reason
                     : library.timed_out
                         ? "no answer while it was registered"
                         : std::string(strsignal(library.signal)) + " while it was registered";
    return outcome;
  }
  const Ending oracle =
      in_child(10 * options.timeout, shared, [&] { judge_calls(attempt, shared); });
  count_calls(attempt, shared, outcome);
  outcome.word = outcome.accepted ? "right" : "idle";
  outcome.detail = shared.reason;
  if (outcome.word == "idle" && !outcome.call_reasons.empty())
    outcome.detail = outcome.call_reasons.begin()->first;
  if (!oracle.well()) {
    outcome.word = "crash";
    outcome.detail = std::string("the oracle died: ") + shared.trouble + strsignal(oracle.signal);
  }
  find_fault(attempt, shared, library, outcome);
  if (outcome.word == "right" && !library.well()) {
    outcome.word = library.timed_out ? "hang" : "crash";
    outcome.detail = std::string("between calls: ") + shared.trouble;
  }
  return outcome;
}

// Signatures that someone might give who has not looked closely.
std::vector<std::string> plausible_signatures(const CFunction& f) {
  std::vector<std::string> integers, found;
  for (const CParam& p : f.params)
    if (p.kind == CParam::kInteger) integers.push_back(p.name);
  auto build = [&](const std::string& in, const std::string& out, size_t core, bool attributes) {
    std::string inputs, outputs, clause = " ; core ", rest;
    for (const CParam& p : f.params)
      if (p.kind == CParam::kPointer)
        (p.is_const ? inputs : outputs) += p.name + "[" + (p.is_const ? in : out) + "] ";
    if (f.result.kind != CParam::kVoid) outputs += "result[] ";
    for (size_t i = 0; i < integers.size(); i++) {
      clause += (i ? "," : "") + integers[i];
      if (i >= core && attributes) rest += (rest.empty() ? " ; int " : ",") + integers[i] + "=1";
    }
    found.push_back(inputs + "-> " + outputs + clause + rest);
  };
  if (f.is_map()) return {};
  if (integers.empty()) return {};
  const std::string& n = integers[0];
  build(n, n, 1, integers.size() > 1);
  build(n, "", 1, integers.size() > 1);
  if (integers.size() > 1) {
    const std::string matrix = n + "," + integers[1];
    build(matrix, matrix, 2, integers.size() > 2);
    build(n, n, 1, false);
  }
  return found;
}

void print(const CFunction& f, const Outcome& o, double seconds) {
  std::printf(
      "{\"name\":%s,\"outcome\":%s,\"given\":%s,\"signature\":%s,\"proved\":%d,"
      "\"compiled\":%d,\"accepted\":%d,\"refused\":%d,\"case\":%d,\"seconds\":%.3f,"
      "\"detail\":%s,\"call_reasons\":{",
      json(f.name).c_str(), json(o.word).c_str(), json(o.given).c_str(), json(o.signature).c_str(),
      o.proved, o.compiled, o.accepted, o.refused, o.fault_case, seconds, json(o.detail).c_str());
  const char* comma = "";
  for (const auto& [reason, count] : o.call_reasons) {
    std::printf("%s%s:%d", comma, json(reason).c_str(), count);
    comma = ",";
  }
  std::printf("}}\n");
  std::fflush(stdout);
}

void judge_function(const CFunction& f, void* library, const void* address, void* contracted,
                    Shared& shared, const Options& options) {
  std::vector<std::string> signatures{""};
  for (size_t i = 0; i < signatures.size(); i++) {
    const auto start = std::chrono::steady_clock::now();
    const Attempt attempt{&f,
                          library,
                          address,
                          contracted,
                          contracted ? dlsym(contracted, f.name.c_str()) : nullptr,
                          signatures[i],
                          options.seed,
                          options.cases,
                          options.single};
    const Outcome outcome = attempt_once(attempt, shared, options);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    print(f, outcome, took.count());
    if (i == 0 && outcome.word == "refused") signatures = plausible_signatures(f);
    if (i == 0 && outcome.word == "refused") signatures.insert(signatures.begin(), "");
  }
}

int run(const Options& options) {
  void* library = dlopen(options.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return std::fprintf(stderr, "%s\n", dlerror()), 2;
  void* contracted = nullptr;
  if (!options.contracted.empty())
    contracted = dlopen(options.contracted.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!options.contracted.empty() && !contracted) return std::fprintf(stderr, "%s\n", dlerror()), 2;
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return std::fprintf(stderr, "no memory\n"), 2;
  auto& shared = *static_cast<Shared*>(memory);
  std::ifstream listing(options.listing);
  for (std::string line; std::getline(listing, line);) {
    if (line.empty() || line[0] == '#') continue;
    const CFunction f = parse_listing_line(line);
    if (!options.only.empty() && options.only != f.name) continue;
    const void* address = dlsym(library, f.name.c_str());
    if (!address) return std::fprintf(stderr, "%s\n", dlerror()), 2;
    judge_function(f, library, address, contracted, shared, options);
  }
  return 0;
}

}  // namespace
}  // namespace judge

int main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "judge_functions LIBRARY LISTING [options]\n"), 2;
  judge::Options options{argv[1], argv[2]};
  for (int i = 3; i + 1 < argc; i += 2) {
    const std::string word = argv[i], value = argv[i + 1];
    if (word == "--seed")
      options.seed = std::stoull(value);
    else if (word == "--cases")
      options.cases = std::min(judge::kMostCases, std::stoi(value));
    else if (word == "--case")
      options.single = std::stoi(value);
    else if (word == "--only")
      options.only = value;
    else if (word == "--contracted")
      options.contracted = value;
    else if (word == "--timeout")
      options.timeout = std::stoi(value);
    else
      return std::fprintf(stderr, "%s: no such option\n", word.c_str()), 2;
  }
  return judge::run(options);
}
