// SPDX-License-Identifier: MIT
// src/lift/image_module.cpp: segments, relocations and symbols of a loaded ELF module.
#include "lift/image_module.h"

#include <algorithm>
#include <cstring>

#include "base/lazy.h"
#include "base/locks.h"
#include "lift/image_sections.h"

namespace nrd::lift {
namespace {

// Relocations that store a symbol's address in a pointer: a PLT's slot, a GOT entry, data.
bool stores_symbol(uint64_t type) {
#if defined(__x86_64__)
  return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT || type == R_X86_64_64;
#elif defined(__aarch64__)
  return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT || type == R_AARCH64_ABS64;
#endif
}

}  // namespace

struct Module::File {
  std::string path;
  LazyMember<const Instrumentation> instrumentation;
};

int walk_modules(int (*visit)(dl_phdr_info* info, size_t size, void* data), void* data) {
  const Locked lock(LockName::kModules);
  return dl_iterate_phdr(visit, data);
}

Module::Module(const dl_phdr_info& info) : base_(info.dlpi_addr), file_(std::make_shared<File>()) {
  const bool is_program = info.dlpi_name == nullptr || info.dlpi_name[0] == 0;
  file_->path = is_program ? "/proc/self/exe" : info.dlpi_name;
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < info.dlpi_phnum; i++) {
    const ElfW(Phdr)& header = info.dlpi_phdr[i];
    const uint64_t begin = base_ + header.p_vaddr;
    const Segment segment{.begin = begin,
                          .end = begin + header.p_memsz,
                          .read = (header.p_flags & PF_R) != 0,
                          .write = (header.p_flags & PF_W) != 0,
                          .execute = (header.p_flags & PF_X) != 0,
                          .file_offset = header.p_offset,
                          .file_bytes = header.p_filesz};
    if (header.p_type == PT_LOAD) segments_.push_back(segment);
    if (header.p_type == PT_GNU_RELRO) relro_ = segment;
    if (header.p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const ElfW(Dyn)*>(begin);
  }
  if (dynamic) read_dynamic(dynamic);
}

const Segment* Module::find(uint64_t address, size_t size) const {
  for (const Segment& segment : segments_)
    if (segment.holds(address, size)) return &segment;
  return nullptr;
}

bool Module::is_constant(uint64_t address, size_t size) const {
  const Segment* segment = find(address, size);
  if (!segment || !segment->read) return false;
  return !segment->write || relro_.holds(address, size);
}

// glibc relocates the addresses of the dynamic section in place, other loaders (and the vdso) do
// not. Null: neither reading lies in the module.
const void* Module::at(ElfW(Addr) address) const {
  if (find(address, 1)) return reinterpret_cast<const void*>(address);
  if (find(base_ + address, 1)) return reinterpret_cast<const void*>(base_ + address);
  return nullptr;
}

void Module::read_dynamic(const ElfW(Dyn) * entry) {
  const ElfW(Rela)* plt = nullptr, *other = nullptr;
  size_t plt_bytes = 0, other_bytes = 0;
  for (; entry->d_tag != DT_NULL; entry++) {
    switch (entry->d_tag) {
      case DT_JMPREL: plt = static_cast<const ElfW(Rela)*>(at(entry->d_un.d_ptr)); break;
      case DT_PLTRELSZ: plt_bytes = entry->d_un.d_val; break;
      case DT_RELA: other = static_cast<const ElfW(Rela)*>(at(entry->d_un.d_ptr)); break;
      case DT_RELASZ: other_bytes = entry->d_un.d_val; break;
      case DT_SYMTAB: symbols_ = static_cast<const ElfW(Sym)*>(at(entry->d_un.d_ptr)); break;
      case DT_STRTAB: strings_ = static_cast<const char*>(at(entry->d_un.d_ptr)); break;
      case DT_STRSZ: string_bytes_ = entry->d_un.d_val; break;
      case DT_HASH: hash_ = static_cast<const uint32_t*>(at(entry->d_un.d_ptr)); break;
      case DT_GNU_HASH: gnu_hash_ = static_cast<const uint32_t*>(at(entry->d_un.d_ptr)); break;
      default: break;
    }
  }
  if (plt) plt_relocations_ = {plt, plt_bytes / sizeof(ElfW(Rela))};
  if (other) relocations_ = {other, other_bytes / sizeof(ElfW(Rela))};
}

// The old table has one chain entry a symbol. The GNU table does not say how many there are: the
// end of the last chain does.
size_t Module::count_symbols() const {
  if (hash_) return hash_[1];
  if (!gnu_hash_) return 0;
  const uint32_t bucket_count = gnu_hash_[0], first_symbol = gnu_hash_[1];
  const uint32_t* bloom = gnu_hash_ + 4;
  const uint32_t* buckets = bloom + gnu_hash_[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
  const uint32_t* chains = buckets + bucket_count;
  uint32_t last = 0;
  for (uint32_t i = 0; i < bucket_count; i++) last = std::max(last, buckets[i]);
  if (last < first_symbol) return first_symbol;
  while (!(chains[last - first_symbol] & 1)) last++;
  return last + 1;
}

std::string_view Module::symbol_name(size_t index) const {
  if (!symbols_ || !strings_) return {};
  const uint32_t at = symbols_[index].st_name;
  return at < string_bytes_ ? std::string_view(strings_ + at) : std::string_view{};
}

std::string_view Module::name_of_slot(uint64_t slot) const {
  for (std::span<const ElfW(Rela)> list : {plt_relocations_, relocations_})
    for (const ElfW(Rela) & relocation : list)
      if (base_ + relocation.r_offset == slot && stores_symbol(ELF64_R_TYPE(relocation.r_info)))
        return symbol_name(ELF64_R_SYM(relocation.r_info));
  return {};
}

uint64_t Module::definition_of_slot(uint64_t slot) const {
  if (!symbols_) return 0;
  for (const ElfW(Rela) & relocation : plt_relocations_) {
    if (base_ + relocation.r_offset != slot) continue;
    const ElfW(Sym)& symbol = symbols_[ELF64_R_SYM(relocation.r_info)];
    return symbol.st_shndx != SHN_UNDEF ? base_ + symbol.st_value : 0;
  }
  return 0;
}

std::string_view Module::name_of_function(uint64_t address) const {
  if (!symbols_) return {};
  const size_t count = count_symbols();
  for (size_t i = 1; i < count; i++) {
    const ElfW(Sym)& symbol = symbols_[i];
    if (symbol.st_shndx != SHN_UNDEF && base_ + symbol.st_value == address &&
        ELF64_ST_TYPE(symbol.st_info) == STT_FUNC)
      return symbol_name(i);
  }
  return {};
}

bool Module::is_instrumentation(uint64_t address, size_t size, std::string* reason) const {
  const Instrumentation& known =
      file_->instrumentation.get([&] { return read_instrumentation(file_->path, segments_); });
  if (known.covers(address - base_, size)) return true;
  if (reason != nullptr && !known.objection().empty())
    *reason = file_->path + " " + known.objection();
  return false;
}

}  // namespace nrd::lift
