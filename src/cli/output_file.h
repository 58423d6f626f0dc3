// SPDX-License-Identifier: MIT
// src/cli/output_file.h: a file that a verb writes, known to be writable before the work begins.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace nrd::cli {

class OutputFile {
 public:
  // Finds out whether it can be written, and leaves no trace. A pipe or a device is opened.
  static Expected<OutputFile> open(const std::string& path);

  const std::string& path() const { return path_; }
  const std::string& target() const { return target_; }
  bool exists() const;
  // Whether it can be replaced again and again. A pipe or a device takes its content once.
  bool replaceable() const { return stream_ < 0; }
  // Whoever reads the file, also after a kill in the middle of this, finds the old content or the
  // new, whole.
  Expected<void> write(std::string_view content) const;

 private:
  std::string path_;    // as the user gave it
  std::string target_;  // behind links
  int stream_ = -1;
};

}  // namespace nrd::cli
