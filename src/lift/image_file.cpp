// SPDX-License-Identifier: MIT
// src/lift/image_file.cpp: the file of a loaded module, if it still is that.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lift/image_sections.h"

namespace nrd::lift {
namespace {

using Bytes = std::span<const uint8_t>;

// Mapped, not copied: symbols are a small part of what may be hundreds of megabytes.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat status;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
      const auto size = static_cast<size_t>(status.st_size);
      void* start = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
      if (start != MAP_FAILED) bytes_ = {static_cast<const uint8_t*>(start), size};
    }
    close(file);
  }
  ~MappedFile() {
    if (!bytes_.empty()) munmap(const_cast<uint8_t*>(bytes_.data()), bytes_.size());
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  Bytes bytes() const { return bytes_; }

 private:
  Bytes bytes_;
};

// A segment has what the address sanitizer forbids to read: the gaps between constants.
__attribute__((no_sanitize("address"))) bool are_same(const uint8_t* a, const uint8_t* b,
                                                      size_t size) {
  uint8_t differences = 0;
  for (size_t i = 0; i < size; i++) differences |= a[i] ^ b[i];
  return differences == 0;
}

// A module may have been built anew since it was loaded; the names of another build are of other
// addresses. What nobody may write is the same in the right file.
bool is_loaded_from(Bytes file, std::span<const Segment> segments) {
  bool compared = false;
  for (const Segment& segment : segments) {
    if (segment.write || segment.file_bytes == 0) continue;
    const uint64_t offset = segment.file_offset, size = segment.file_bytes;
    if (!segment.read || offset > file.size() || size > file.size() - offset) return false;
    const auto* loaded = reinterpret_cast<const uint8_t*>(segment.begin);
    if (!are_same(loaded, file.data() + offset, size)) return false;
    compared = true;
  }
  return compared;
}

}  // namespace

Instrumentation read_instrumentation(const std::string& path, std::span<const Segment> segments) {
  const MappedFile file(path);
  Instrumentation found;
  if (file.bytes().empty())
    found.object("cannot be read");
  else if (!is_loaded_from(file.bytes(), segments))
    found.object("is not the file that was loaded");
  else
    found = read_instrumentation(file.bytes());
  return found;
}

}  // namespace nrd::lift
