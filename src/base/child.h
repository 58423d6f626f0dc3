// SPDX-License-Identifier: MIT
// src/base/child.h: work that may crash, in a process of its own.
#pragma once

#include <functional>
#include <string>

#include "base/error.h"

namespace nrd {

// "died of SIGILL (Illegal instruction)" or "exited with status 1", from waitpid's status.
std::string death_text(int status);

struct ChildWork {
  std::string op;      // whose function runs there, for the error
  std::string during;  // "while it was proved"
  double timeout_s = 120;
};

// Forks, runs `work` in the child and gives what it returned. Another error says which signal the
// child died of, or that it gave no answer in time. What `work` writes to standard output goes to
// standard error, so that a report stays alone there.
Expected<std::string> run_in_child(const ChildWork& about,
                                   const std::function<Expected<std::string>()>& work);

}  // namespace nrd
