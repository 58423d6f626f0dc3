// SPDX-License-Identifier: MIT
// src/base/files.h: files are written whole or not at all, and only regular ones are touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace nrd {

// A descriptor, closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();
  int get() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

// What is written goes to a new file of a random name beside `path`, which takes the place of
// `path` when it is whole and on the disk. Until then, and when anything fails, the process is
// killed or the power goes, `path` is what it was; of two writers the last to commit wins. A killed
// process may leave its `.nereid-*.part` behind.
class FileWriter {
 public:
  // Refused: what is there and no regular file (a link is followed), a folder that cannot be
  // written. A file that is replaced passes on its permissions.
  static Expected<FileWriter> create(const std::string& path);
  FileWriter(FileWriter&&) noexcept = default;
  FileWriter& operator=(FileWriter&&) = delete;
  ~FileWriter();  // not committed: nothing is left

  Expected<void> write(const void* data, size_t bytes);
  Expected<void> write(std::string_view text) { return write(text.data(), text.size()); }
  Expected<void> commit();  // once, last

 private:
  FileWriter() = default;

  Descriptor file_;   // open until it is committed
  std::string path_;  // with links followed
  std::string part_;
};

Expected<void> save_file(const std::string& path, std::string_view content);

// A regular file for reading, and how long it is. Whatever else is there is refused at once: who
// opens a FIFO would wait for its other end.
struct FileReader {
  static Expected<FileReader> open(const std::string& path);
  // Bytes read; fewer at the end of the file.
  Expected<size_t> read(void* to, size_t bytes) const;

  Descriptor file;
  uint64_t bytes = 0;
  std::string path;
};

Expected<std::string> read_file(const std::string& path);  // all of a regular file

// The error of the last system call: "'PATH': got WHAT: no space left on device".
Error file_error(const std::string& path, std::string_view what);

}  // namespace nrd
