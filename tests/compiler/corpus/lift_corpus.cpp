// SPDX-License-Identifier: MIT
// tests/compiler/corpus/lift_corpus.cpp: lifts and proves every function that corpus.txt names in a
// shared library; one line each: name, "proved", "unproved" or "refused", class, reason.
//
//   lift_corpus LIB.so corpus.txt     "-": the functions are in this program, see in_program.cpp
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include "compiler/operator.h"
#include "compiler/prove_code.h"
#include "jit/code.h"
#include "lift/prove.h"

namespace {

struct Entry {
  std::string name, type, expected;
};

std::string trim(const std::string& text) {
  const size_t first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
  return first == text.npos ? "" : text.substr(first, last - first + 1);
}

std::vector<Entry> read_entries(const char* path) {
  std::vector<Entry> list;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream parts(line);
    Entry e;
    std::getline(parts, e.name, '|');
    std::getline(parts, e.type, '|');
    std::getline(parts, e.expected);
    list.push_back({trim(e.name), trim(e.type), trim(e.expected)});
  }
  return list;
}

std::string one_line(std::string text) {
  for (char& c : text)
    if (c == '\n' || c == '\t') c = ' ';
  return text;
}

// The second proof, where there is vector code: what cannot be lowered runs as it is.
std::string judge_code(const nrd::OpTrace& trace, const nrd::Assumptions& assumptions) {
  for (const nrd::jit::Target* target : nrd::jit::targets(nrd::detect_isa())) {
    std::vector<nrd::DType> dtypes;
    for (const nrd::TraceParam& p : trace.params)
      if (p.kind == nrd::TraceParamKind::kPointer) dtypes.push_back(p.dtype);
    if (!nrd::compile_trace(trace, {.dtypes = dtypes, .ints = {}}, *target)) continue;
    if (nrd::Expected<void> proof = nrd::prove_code(trace, *target, {.assumptions = &assumptions});
        !proof)
      return proof.error().message();
  }
  return {};
}

std::string judge(const Entry& entry, void* function) {
  nrd::Expected<nrd::lift::CSignature> signature = nrd::lift::parse_signature(entry.type);
  if (!signature) return "error\t-\t" + one_line(signature.error().message());
  const nrd::lift::LiftRequest request{entry.name, function, *signature};
  nrd::lift::LiftStats stats;
  nrd::Expected<nrd::OpTrace> trace = nrd::lift::lift_function(request, &stats);
  if (!trace) return "refused\t-\t" + one_line(trace.error().message());
  const std::string class_word(nrd::op_class_word(trace->op_class));
  nrd::Expected<nrd::lift::TraceProof> proof = nrd::lift::prove_trace(*trace, request);
  if (!proof) {  // what is not defined is refused; only a trace that differs is wrong
    const bool refused = proof.error().code == nrd::ErrorCode::kUnsupported;
    return (refused ? "refused\t" : "unproved\t") + class_word + "\t" +
           one_line(proof.error().message());
  }
  const std::string code = judge_code(*trace, proof->assumptions);
  if (!code.empty()) return "unproved\t" + class_word + "\t" + one_line(code);
  return fmt::format("proved\t{}\t{:.1f} us", class_word, stats.total_us);
}

// A child a function: one that crashes costs one line.
void report(const Entry& entry, void* function) {
  std::fflush(stdout);
  const pid_t pid = fork();
  if (pid == 0) {
    const std::string line = entry.name + "\t" + judge(entry, function) + "\n";
    const bool written = write(STDOUT_FILENO, line.data(), line.size()) > 0;
    _exit(written ? 0 : 1);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  if (WIFSIGNALED(status))
    fmt::print("{}\tcrashed\t-\tsignal {}\n", entry.name, strsignal(WTERMSIG(status)));
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int lift_corpus(const char* path,
                                                                  const char* listing) {
  void* library = dlopen(std::strcmp(path, "-") == 0 ? nullptr : path, RTLD_NOW);
  if (!library) {
    fmt::print(stderr, "{}\n", dlerror());
    return 1;
  }
  for (const Entry& entry : read_entries(listing)) {
    void* function = dlsym(library, entry.name.c_str());
    if (function)
      report(entry, function);
    else
      fmt::print("{}\terror\t-\tnot exported\n", entry.name);
  }
  std::fflush(stdout);
  return 0;
}

int main(int argc, char** argv) {
  if (argc == 3) return lift_corpus(argv[1], argv[2]);
  fmt::print(stderr, "usage: lift_corpus LIB.so corpus.txt\n");
  return 2;
}
