// SPDX-License-Identifier: MIT
// src/base/log.cpp: the sink, and the default one that NEREID_LOG switches on.
#include "base/log.h"

#include <atomic>
#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "base/env.h"
#include "base/lazy.h"
#include "base/locks.h"

namespace nrd {
namespace {

constexpr LogLevel kLevels[] = {LogLevel::kDispatch, LogLevel::kInfo, LogLevel::kWarning};

unsigned bit(LogLevel level) { return 1u << static_cast<int>(level); }

std::string_view level_word(LogLevel level) {
  switch (level) {
    case LogLevel::kDispatch: return "dispatch";
    case LogLevel::kInfo: return "info";
    case LogLevel::kWarning: return "warning";
  }
  return "log";
}

void write_to_stderr(LogLevel level, std::string_view line) {
  std::string text = "nereid: ";
  text += level_word(level);
  text += ": ";
  text += line;
  text += '\n';
  std::fwrite(text.data(), 1, text.size(), stderr);  // one call, so that lines do not mix
}

// The levels of a comma list; check_environment() has a word for others.
unsigned parse_levels(std::string_view list) {
  unsigned levels = 0;
  while (!list.empty()) {
    const std::string_view word = list.substr(0, list.find(','));
    list.remove_prefix(word.size() < list.size() ? word.size() + 1 : word.size());
    for (LogLevel level : kLevels) {
      if (word == level_word(level)) levels |= bit(level);
    }
  }
  return levels;
}

// Not make_shared: its tag is a unique symbol, which forbids dlclose to unload the library.
std::shared_ptr<const LogSink> share(LogSink sink) {
  return std::shared_ptr<const LogSink>(new LogSink(std::move(sink)));
}

struct State {
  std::shared_ptr<const LogSink> sink;      // under LockName::kLog
  std::set<std::string, std::less<>> said;  // under LockName::kLog
  std::atomic<unsigned> levels{0};

  State() {
    levels = parse_levels(env("NEREID_LOG").value_or(""));
    if (levels != 0) sink = share(write_to_stderr);
  }
};

constinit Lazy<State> g_state;

State& state() { return g_state.get(); }

}  // namespace

void set_log_sink(LogSink sink) {
  unsigned levels = 0;
  if (sink) {
    for (LogLevel level : kLevels) levels |= bit(level);
  }
  std::shared_ptr<const LogSink> shared = sink ? share(std::move(sink)) : nullptr;
  State& s = state();
  const Locked lock(LockName::kLog);
  s.sink.swap(shared);  // the former sink is destroyed without the lock
  s.levels.store(levels, std::memory_order_relaxed);
}

bool log_enabled(LogLevel level) {
  return !Telling::in_progress() &&
         (state().levels.load(std::memory_order_relaxed) & bit(level)) != 0;
}

void log(LogLevel level, std::string_view line) {
  if (!log_enabled(level)) return;
  State& s = state();
  std::shared_ptr<const LogSink> sink;
  {
    const Locked lock(LockName::kLog);
    sink = s.sink;
  }
  const Telling telling;
  if (sink) (*sink)(level, line);  // outside the lock: a sink may log or replace itself
}

void log_once(LogLevel level, std::string_view line) {
  if (!log_enabled(level)) return;  // not counted as said: a later listener still hears it
  {
    State& s = state();
    const Locked lock(LockName::kLog);
    if (!s.said.emplace(line).second) return;
  }
  log(level, line);
}

}  // namespace nrd
