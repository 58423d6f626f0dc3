// SPDX-License-Identifier: MIT
// src/base/files.cpp: see files.h.
#include "base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace nrd {
namespace {

std::string_view kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

Error no_regular_file(const std::string& path, mode_t mode) {
  return make_error({.code = ErrorCode::kInvalidArgument,
                     .argument = fmt::format("'{}'", path),
                     .got = std::string(kind_of(mode)),
                     .allowed = "a regular file, or a name that is free"});
}

// Where a link leads, so that the file behind it is replaced and not the link.
Expected<std::string> follow(const std::string& path) {
  struct stat status;
  if (lstat(path.c_str(), &status) != 0 || !S_ISLNK(status.st_mode)) return path;
  const std::unique_ptr<char, decltype(&free)> real(realpath(path.c_str(), nullptr), &free);
  if (!real) return file_error(path, "a link that leads nowhere");
  return std::string(real.get());
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Short, whatever the length of the file's own name.
std::string random_name(const std::string& folder) {
  uint64_t number = 0;
  while (getrandom(&number, sizeof number, 0) < 0 && errno == EINTR) continue;
  return fmt::format("{}/.nereid-{:016x}.part", folder, number);
}

// The new name itself must be on the disk. Some file systems cannot be asked for that.
bool sync_folder(const std::string& folder) {
  const Descriptor opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return opened.is_open() && (fsync(opened.get()) == 0 || errno == EINVAL || errno == ENOTSUP);
}

}  // namespace

Error file_error(const std::string& path, std::string_view what) {
  return make_error({.code = ErrorCode::kEnvironment,
                     .argument = fmt::format("'{}'", path),
                     .got = fmt::format("{}: {}", what, std::strerror(errno))});
}

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

Expected<FileWriter> FileWriter::create(const std::string& path) {
  Expected<std::string> real = follow(path);
  if (!real) return real.error();
  FileWriter writer;
  writer.path_ = std::move(*real);
  struct stat old;
  const bool exists = stat(writer.path_.c_str(), &old) == 0;
  if (exists && !S_ISREG(old.st_mode)) return no_regular_file(path, old.st_mode);
  if (path.empty() || path.back() == '/') {
    errno = EISDIR;
    return file_error(path, "cannot be written");
  }
  for (int attempt = 0; attempt < 16 && !writer.file_.is_open(); attempt++) {
    writer.part_ = random_name(folder_of(writer.path_));
    constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    writer.file_ = Descriptor(open(writer.part_.c_str(), kFlags, 0666));
    if (!writer.file_.is_open() && errno != EEXIST) break;
  }
  if (!writer.file_.is_open()) return file_error(path, "cannot be written");
  if (exists) fchmod(writer.file_.get(), old.st_mode & 07777);  // a wish
  return writer;
}

FileWriter::~FileWriter() {
  if (file_.is_open()) unlink(part_.c_str());
}

Expected<void> FileWriter::write(const void* data, size_t bytes) {
  const auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(file_.get(), at, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return file_error(path_, "cannot be written");
    at += written;
    bytes -= static_cast<size_t>(written);
  }
  return {};
}

Expected<void> FileWriter::commit() {
  if (fsync(file_.get()) != 0) return file_error(path_, "cannot be written");
  if (rename(part_.c_str(), path_.c_str()) != 0) return file_error(path_, "cannot be replaced");
  const bool closed = close(file_.release()) == 0;
  if (!closed || !sync_folder(folder_of(path_)))
    return file_error(path_, "is there, but may not outlive a power failure");
  return {};
}

Expected<void> save_file(const std::string& path, std::string_view content) {
  Expected<FileWriter> writer = FileWriter::create(path);
  if (!writer) return writer.error();
  NRD_TRY(writer->write(content));
  return writer->commit();
}

Expected<FileReader> FileReader::open(const std::string& path) {
  FileReader reader;
  reader.path = path;
  reader.file = Descriptor(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!reader.file.is_open()) return file_error(path, "cannot be opened");
  struct stat status;
  if (fstat(reader.file.get(), &status) != 0) return file_error(path, "cannot be read");
  if (!S_ISREG(status.st_mode)) {
    Error error = no_regular_file(path, status.st_mode);
    error.allowed = "a regular file";
    return error;
  }
  reader.bytes = static_cast<uint64_t>(status.st_size);
  return reader;
}

Expected<size_t> FileReader::read(void* to, size_t bytes) const {
  size_t done = 0;
  while (done < bytes) {
    const ssize_t got = ::read(file.get(), static_cast<char*>(to) + done, bytes - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return file_error(path, "cannot be read");
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

Expected<std::string> read_file(const std::string& path) {
  Expected<FileReader> reader = FileReader::open(path);
  if (!reader) return reader.error();
  std::string content(reader->bytes, '\0');
  Expected<size_t> got = reader->read(content.data(), content.size());
  if (!got) return got.error();
  content.resize(*got);
  return content;
}

}  // namespace nrd
