// SPDX-License-Identifier: MIT
// src/lift/image_sections.cpp: see image_sections.h.
#include "lift/image_sections.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

namespace nrd::lift {
namespace {

// GCC and clang name the counters of --coverage; clang has sections for those of
// -fprofile-instr-generate and -fsanitize-coverage, whose symbols a linker may drop.
constexpr std::string_view kSymbolPrefixes[] = {"__gcov", "__llvm_gcov_ctr"};
constexpr std::string_view kSections[] = {"__llvm_prf_cnts", "__llvm_prf_bits", "__sancov_cntrs"};

using Bytes = std::span<const uint8_t>;

// Part of a file; nothing where it would reach beyond its end.
std::optional<Bytes> part(Bytes file, uint64_t offset, uint64_t size) {
  if (offset > file.size() || size > file.size() - offset) return std::nullopt;
  return file.subspan(offset, size);
}

// Files promise no alignment. The caller knows that the table has `index`.
template <class T>
T entry(Bytes table, size_t index) {
  T out;
  std::memcpy(&out, table.data() + index * sizeof(T), sizeof(T));
  return out;
}

bool has_prefix(Bytes strings, uint64_t at, std::string_view prefix) {
  const std::optional<Bytes> start = part(strings, at, prefix.size());
  return start && std::memcmp(start->data(), prefix.data(), prefix.size()) == 0;
}

// The string itself, its end included.
bool is_name(Bytes strings, uint64_t at, std::string_view name) {
  return has_prefix(strings, at, name) && has_prefix(strings, at + name.size(), {"\0", 1});
}

class SectionReader {
 public:
  explicit SectionReader(Bytes file) : file_(file) {}

  Instrumentation run() {
    if (!find_sections()) {
      out_.object("is no ELF file of 64 bits with sections");
      return std::move(out_);
    }
    bool has_symbols = false;
    for (size_t i = 0; i < count_; i++) {
      const auto section = entry<Elf64_Shdr>(sections_, i);
      if (section.sh_type == SHT_SYMTAB) has_symbols |= add_symbols(section);
      if (holds_counters(section)) out_.add(section.sh_addr, section.sh_size);
    }
    if (!has_symbols) out_.object("has no symbols: it is stripped");
    out_.sort();
    return std::move(out_);
  }

 private:
  bool find_sections() {
    const std::optional<Bytes> start = part(file_, 0, sizeof(Elf64_Ehdr));
    if (!start) return false;
    const auto header = entry<Elf64_Ehdr>(*start, 0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shstrndx >= header.e_shnum)
      return false;
    const std::optional<Bytes> table =
        part(file_, header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr));
    if (!table) return false;
    sections_ = *table;
    count_ = header.e_shnum;
    names_ = contents(header.e_shstrndx);
    return true;
  }

  // Empty where there is none, or not in the file.
  Bytes contents(uint64_t section) const {
    if (section >= count_) return {};
    const auto header = entry<Elf64_Shdr>(sections_, section);
    if (header.sh_type == SHT_NOBITS) return {};
    return part(file_, header.sh_offset, header.sh_size).value_or(Bytes{});
  }

  bool holds_counters(const Elf64_Shdr& section) const {
    constexpr uint64_t kData = SHF_ALLOC | SHF_WRITE;
    if ((section.sh_flags & (kData | SHF_TLS)) != kData) return false;
    return std::any_of(std::begin(kSections), std::end(kSections), [&](std::string_view name) {
      return is_name(names_, section.sh_name, name);
    });
  }

  // False where the table cannot be read.
  bool add_symbols(const Elf64_Shdr& section) {
    const std::optional<Bytes> table = part(file_, section.sh_offset, section.sh_size);
    const Bytes strings = contents(section.sh_link);
    if (!table || section.sh_entsize != sizeof(Elf64_Sym) || strings.empty()) return false;
    for (size_t i = 0; i < table->size() / sizeof(Elf64_Sym); i++) {
      const auto symbol = entry<Elf64_Sym>(*table, i);
      const bool is_data = ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT &&
                           symbol.st_shndx != SHN_UNDEF && symbol.st_shndx != SHN_ABS;
      if (!is_data) continue;
      for (const std::string_view prefix : kSymbolPrefixes)
        if (has_prefix(strings, symbol.st_name, prefix)) out_.add(symbol.st_value, symbol.st_size);
    }
    return true;
  }

  Bytes file_, sections_, names_;
  size_t count_ = 0;
  Instrumentation out_;
};

}  // namespace

void Instrumentation::add(uint64_t begin, uint64_t size) {
  if (size != 0 && size <= ~begin) ranges_.push_back({begin, begin + size});
}

void Instrumentation::sort() {
  std::sort(ranges_.begin(), ranges_.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  std::vector<Range> joined;
  for (const Range& range : ranges_) {
    if (joined.empty() || range.begin > joined.back().end) joined.push_back(range);
    joined.back().end = std::max(joined.back().end, range.end);
  }
  ranges_ = std::move(joined);
}

bool Instrumentation::covers(uint64_t address, size_t size) const {
  const auto after =
      std::upper_bound(ranges_.begin(), ranges_.end(), address,
                       [](uint64_t at, const Range& range) { return at < range.begin; });
  if (after == ranges_.begin()) return false;
  const Range& range = *std::prev(after);
  return address < range.end && size <= range.end - address;
}

Instrumentation read_instrumentation(Bytes file) { return SectionReader(file).run(); }

}  // namespace nrd::lift
