// SPDX-License-Identifier: MIT
// src/lift/image_module.h: inside the image of the process: what is read of a loaded ELF module.
#pragma once

#include <link.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace nrd::lift {

struct Segment {
  uint64_t begin = 0, end = 0;
  bool read = false, write = false, execute = false;
  uint64_t file_offset = 0, file_bytes = 0;  // of what the file holds of it

  bool holds(uint64_t address, size_t size) const {
    return address >= begin && address < end && size <= end - address;
  }
};

// dl_iterate_phdr, inside LockName::kModules: a child that is forked while another thread is in it
// could not call it any more.
int walk_modules(int (*visit)(dl_phdr_info* info, size_t size, void* data), void* data);

// Tables of the module's dynamic section, where it has one.
class Module {
 public:
  explicit Module(const dl_phdr_info& info);

  const std::vector<Segment>& segments() const { return segments_; }
  const Segment* find(uint64_t address, size_t size) const;
  bool is_constant(uint64_t address, size_t size) const;
  // The symbol that a relocation of a pointer at this address names; empty if none does.
  std::string_view name_of_slot(uint64_t slot) const;
  // Where the module itself defines that symbol; 0 if it does not.
  uint64_t definition_of_slot(uint64_t slot) const;
  // A function of the dynamic symbol table that begins here; empty if none does.
  std::string_view name_of_function(uint64_t address) const;
  // See Image. The file is read when it is first asked for.
  bool is_instrumentation(uint64_t address, size_t size, std::string* reason) const;

 private:
  void read_dynamic(const ElfW(Dyn) * entry);
  const void* at(ElfW(Addr) address) const;
  std::string_view symbol_name(size_t index) const;
  size_t count_symbols() const;

  struct File;

  uint64_t base_ = 0;
  std::vector<Segment> segments_;
  std::shared_ptr<File> file_;  // shared: File is known in one place only
  Segment relro_;               // read-only once the module is relocated
  std::span<const ElfW(Rela)> plt_relocations_, relocations_;
  const ElfW(Sym) * symbols_ = nullptr;
  const uint32_t *hash_ = nullptr, *gnu_hash_ = nullptr;
  const char* strings_ = nullptr;
  size_t string_bytes_ = 0;
};

}  // namespace nrd::lift
