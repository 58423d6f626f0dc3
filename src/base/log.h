// SPDX-License-Identifier: MIT
// src/base/log.h: one sink, off by default. The library itself never prints.
#pragma once

#include <functional>
#include <string_view>
#include <utility>

namespace nrd {

enum class LogLevel : int { kDispatch = 1, kInfo = 2, kWarning = 3 };

using LogSink = std::function<void(LogLevel, std::string_view line)>;

// Replaces the sink; an empty function switches logging off. Thread safe.
void set_log_sink(LogSink sink);
// False when nobody listens, so that callers need not build a line for nothing.
bool log_enabled(LogLevel level);
void log(LogLevel level, std::string_view line);

// Held while somebody is told a line. What the listener does meanwhile on this thread is told to
// nobody: its own calls would otherwise come back to it without end.
class Telling {
 public:
  Telling() : outer_(std::exchange(t_telling, true)) {}
  ~Telling() { t_telling = outer_; }
  Telling(const Telling&) = delete;
  Telling& operator=(const Telling&) = delete;
  static bool in_progress() { return t_telling; }

 private:
  static constinit inline thread_local bool t_telling = false;
  bool outer_;
};

// Says a line once in the life of the process (a missing part, a fallback).
void log_once(LogLevel level, std::string_view line);

}  // namespace nrd
