// SPDX-License-Identifier: MIT
// src/jit/symbols.cpp: tells perf and gdb what generated code is called.
//
// perf reads lines "address size name" from perf-PID.map in the directory for temporary files.
// gdb puts a breakpoint on __jit_debug_register_code and reads the object file of each entry of
// __jit_debug_descriptor; ours is an ELF header, a symbol and the place of its code.
#include "jit/symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "base/env.h"
#include "base/files.h"
#include "base/locks.h"

// The names and layouts that gdb looks for ("JIT Compilation Interface" in its manual).
extern "C" {
struct jit_code_entry {
  jit_code_entry* next_entry;
  jit_code_entry* prev_entry;
  const char* symfile_addr;
  uint64_t symfile_size;
};

struct jit_descriptor {
  uint32_t version;
  uint32_t action_flag;
  jit_code_entry* relevant_entry;
  jit_code_entry* first_entry;
};

__attribute__((visibility("hidden"), used))
jit_descriptor __jit_debug_descriptor = {1, 0, nullptr, nullptr};
__attribute__((visibility("hidden"), noinline, used)) void __jit_debug_register_code() {
  __asm__ volatile("" ::: "memory");
}
}

namespace nrd::jit {
namespace {

constexpr uint32_t kRegister = 1, kUnregister = 2;  // action_flag

struct ObjectFile {
  Elf64_Ehdr header{};
  Elf64_Shdr sections[5]{};  // none, .text, .symtab, .strtab, .shstrtab
  Elf64_Sym symbols[2]{};
};

struct GdbEntry {
  jit_code_entry entry{};
  const void* base = nullptr;
  std::string file;
};

std::vector<std::unique_ptr<GdbEntry>> entries;  // under LockName::kSymbols

bool is_on(std::string_view variable) {
  const auto value = env(variable);
  return value && !value->empty() && *value != "0";
}

// ---- perf ----

void write_perf_map(const std::string& name, const void* base, size_t bytes) {
  const std::string path = fmt::format("/tmp/perf-{}.map", getpid());
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  const Descriptor file(open(path.c_str(), kFlags, 0600));
  struct stat status;  // anyone can put a file of that name, or a FIFO, into the folder first
  if (!file.is_open() || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  const std::string line =
      fmt::format("{:x} {:x} nereid:{}\n", reinterpret_cast<uintptr_t>(base), bytes, name);
  // perf skips a line that is cut short; there is nobody to tell.
  if (write(file.get(), line.data(), line.size()) < 0) errno = 0;
}

// ---- gdb ----

void fill_header(Elf64_Ehdr& header) {
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_REL;
#if defined(__x86_64__)
  header.e_machine = EM_X86_64;
#else
  header.e_machine = EM_AARCH64;
#endif
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_shoff = offsetof(ObjectFile, sections);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 5;
  header.e_shstrndx = 4;
}

std::string object_file(const std::string& name, const void* base, size_t bytes) {
  constexpr char kSectionNames[] = "\0.text\0.symtab\0.strtab\0.shstrtab";
  const size_t strings_size = name.size() + 2;  // a 0 in front, the name, a 0 behind
  ObjectFile object;
  fill_header(object.header);
  object.sections[1] = {.sh_name = 1,
                        .sh_type = SHT_NOBITS,
                        .sh_flags = SHF_EXECINSTR | SHF_ALLOC,
                        .sh_addr = reinterpret_cast<uintptr_t>(base),
                        .sh_size = bytes,
                        .sh_addralign = 64};
  object.sections[2] = {.sh_name = 7,
                        .sh_type = SHT_SYMTAB,
                        .sh_offset = offsetof(ObjectFile, symbols),
                        .sh_size = sizeof(object.symbols),
                        .sh_link = 3,
                        .sh_info = 1,
                        .sh_addralign = 8,
                        .sh_entsize = sizeof(Elf64_Sym)};
  object.sections[3] = {.sh_name = 15,
                        .sh_type = SHT_STRTAB,
                        .sh_offset = sizeof(ObjectFile),
                        .sh_size = strings_size,
                        .sh_addralign = 1};
  object.sections[4] = {.sh_name = 23,
                        .sh_type = SHT_STRTAB,
                        .sh_offset = sizeof(ObjectFile) + strings_size,
                        .sh_size = sizeof(kSectionNames),
                        .sh_addralign = 1};
  object.symbols[1].st_name = 1;
  object.symbols[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
  object.symbols[1].st_shndx = 1;
  object.symbols[1].st_size = bytes;
  std::string file(reinterpret_cast<const char*>(&object), sizeof(object));
  file += '\0';
  file += name;
  file += '\0';
  file.append(kSectionNames, sizeof(kSectionNames));
  return file;
}

void tell_gdb(jit_code_entry* entry, uint32_t action) {
  __jit_debug_descriptor.action_flag = action;
  __jit_debug_descriptor.relevant_entry = entry;
  __jit_debug_register_code();
}

void register_with_gdb(const std::string& name, const void* base, size_t bytes) {
  auto made = std::make_unique<GdbEntry>();
  made->base = base;
  made->file = object_file(name, base, bytes);
  jit_code_entry& entry = made->entry;
  entry.symfile_addr = made->file.data();
  entry.symfile_size = made->file.size();
  const Locked lock(LockName::kSymbols);
  entry.next_entry = __jit_debug_descriptor.first_entry;
  if (entry.next_entry != nullptr) entry.next_entry->prev_entry = &entry;
  __jit_debug_descriptor.first_entry = &entry;
  tell_gdb(&entry, kRegister);
  entries.push_back(std::move(made));
}

}  // namespace

void announce_code(const std::string& name, const void* base, size_t bytes) {
  if (is_on("NEREID_PERF_MAP")) write_perf_map(name, base, bytes);
  if (is_on("NEREID_GDB")) register_with_gdb(name, base, bytes);
}

void withdraw_code(const void* base) {
  const Locked lock(LockName::kSymbols);
  for (size_t i = 0; i < entries.size(); i++) {
    if (entries[i]->base != base) continue;
    jit_code_entry& entry = entries[i]->entry;
    if (entry.prev_entry != nullptr) {
      entry.prev_entry->next_entry = entry.next_entry;
    } else {
      __jit_debug_descriptor.first_entry = entry.next_entry;
    }
    if (entry.next_entry != nullptr) entry.next_entry->prev_entry = entry.prev_entry;
    tell_gdb(&entry, kUnregister);
    entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(i));
    return;
  }
}

}  // namespace nrd::jit
