// SPDX-License-Identifier: MIT
// tests/fuzz/user_functions/shared.h: what the children of one attempt leave for each other.
//
// An attempt registers a function, as it is or with a signature, and calls it. One child does that
// with the library, another calls the C function itself on the same cases and compares. Both may
// die of it: what they leave in shared memory is all there is.
#pragma once

#include <atomic>
#include <cstring>
#include <string>

#include "signature.h"

namespace judge {

constexpr int kMostCases = 512;
constexpr size_t kOutputBytes = size_t{256} << 20;

enum class Stage { kStart, kRegistering, kCalling, kDone };
enum class Call { kNone, kImpossible, kRunning, kRefused, kAccepted };
enum class Verdict { kNone, kRight, kWrong, kUndefined, kEndless };

struct CaseState {
  Call call;
  Verdict verdict;
  bool empty;         // nothing to compute
  size_t output_at;   // the outputs' regions, one after the other
  char message[480];  // a refusal's; what was called, while it runs
  char finding[480];  // what is wrong
};

struct Shared {
  Stage stage;
  bool registered, proved, compiled;
  char signature[2000], reason[2000];
  char trouble[480];  // what went wrong with the judging itself, or with registering
  size_t output_used;
  CaseState cases[kMostCases];
  char outputs[kOutputBytes];
};

template <size_t N>
void say(char (&to)[N], const std::string& text) {
  const size_t count = std::min(N - 1, text.size());
  std::memcpy(to, text.data(), count);
  to[count] = '\0';
}

struct Attempt {
  const CFunction* function = nullptr;
  void* library = nullptr;  // of dlopen
  const void* address = nullptr;
  // The same function with products contracted into sums; null: not known.
  void* contracted_library = nullptr;
  const void* contracted = nullptr;
  std::string given;  // the operator's signature; empty: inferred
  uint64_t seed = 0;
  int cases = 0;
  int only = -1;  // one case of them
};

uint64_t case_seed(const Attempt& attempt, int number);

void call_library(const Attempt& attempt, Shared& shared);
void judge_calls(const Attempt& attempt, Shared& shared);

}  // namespace judge
