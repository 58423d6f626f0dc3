// SPDX-License-Identifier: MIT
// src/cli/output_file.cpp: regular files by base/files.h, what else there is as a stream.
#include "cli/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/files.h"

namespace nrd::cli {

Expected<OutputFile> OutputFile::open(const std::string& path) {
  OutputFile file;
  file.path_ = path;
  std::error_code error;
  const std::filesystem::path behind = std::filesystem::weakly_canonical(path, error);
  file.target_ = error ? path : behind.string();
  struct stat known {};
  const bool there = stat(path.c_str(), &known) == 0;
  if (there && !S_ISREG(known.st_mode) && !S_ISDIR(known.st_mode)) {
    file.stream_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file.stream_ < 0) return file_error(path, "cannot be written");
    return file;
  }
  if (there && access(path.c_str(), W_OK) != 0) return file_error(path, "cannot be written");
  if (Expected<FileWriter> probe = FileWriter::create(path); !probe) return probe.error();
  return file;
}

bool OutputFile::exists() const { return access(target_.c_str(), F_OK) == 0; }

Expected<void> OutputFile::write(std::string_view content) const {
  if (replaceable()) return save_file(path_, content);
  while (!content.empty()) {
    const ssize_t n = ::write(stream_, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return file_error(path_, "cannot be written");
    content.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

}  // namespace nrd::cli
