// SPDX-License-Identifier: MIT
// tests/compiler/foreign_code_test.cpp: the catalogue, compiled for aarch64, has the traces that
// were lifted from this machine's code, word for word.
#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <map>

#include "compiler/catalogue_traces.h"
#include "lift/definition.h"
#include "lift/function.h"
#include "lift/image.h"
#include "trace/classify.h"
#include "trace/text.h"

namespace nrd::lift {
namespace {

constexpr uint64_t kBase = 0x10000000;

// A shared library as a file: its segments where they belong, its functions and imports by name.
class ForeignLibrary {
 public:
  explicit ForeignLibrary(const char* path) {
    std::ifstream in(path, std::ios::binary);
    file_.assign(std::istreambuf_iterator<char>(in), {});
    header_ = at<Elf64_Ehdr>(0);
    EXPECT_EQ(header_.e_machine, EM_AARCH64) << path;
    std::vector<uint8_t> memory;
    for (int i = 0; i < header_.e_phnum; i++) {
      const auto segment = at<Elf64_Phdr>(header_.e_phoff + sizeof(Elf64_Phdr) * size_t(i));
      if (segment.p_type != PT_LOAD) continue;
      memory.resize(std::max<size_t>(memory.size(), segment.p_vaddr + segment.p_memsz));
      std::copy_n(file_.begin() + ptrdiff_t(segment.p_offset), segment.p_filesz,
                  memory.begin() + ptrdiff_t(segment.p_vaddr));
    }
    image_ = std::make_unique<MemoryImage>(std::move(memory), kBase);
    for (int i = 0; i < header_.e_shnum; i++) read_section(section(uint32_t(i)));
  }

  const MemoryImage& image() const { return *image_; }
  uint64_t function(const std::string& name) const {
    const auto found = functions_.find(name);
    return found == functions_.end() ? 0 : found->second;
  }

 private:
  template <class T>
  T at(size_t offset) const {
    T value{};
    std::memcpy(&value, file_.data() + offset, sizeof value);
    return value;
  }
  Elf64_Shdr section(uint32_t i) const {
    return at<Elf64_Shdr>(header_.e_shoff + sizeof(Elf64_Shdr) * i);
  }
  std::string name_of(const Elf64_Sym& symbol, const Elf64_Shdr& symbols) const {
    return reinterpret_cast<const char*>(file_.data()) + section(symbols.sh_link).sh_offset +
           symbol.st_name;
  }

  void read_section(const Elf64_Shdr& s) {
    if (s.sh_type == SHT_DYNSYM) {
      for (size_t i = 0; i < s.sh_size / sizeof(Elf64_Sym); i++) {
        const auto symbol = at<Elf64_Sym>(s.sh_offset + sizeof(Elf64_Sym) * i);
        if (symbol.st_shndx != SHN_UNDEF) functions_[name_of(symbol, s)] = kBase + symbol.st_value;
      }
    }
    if (s.sh_type == SHT_RELA) {
      const Elf64_Shdr symbols = section(s.sh_link);
      for (size_t i = 0; i < s.sh_size / sizeof(Elf64_Rela); i++) {
        const auto entry = at<Elf64_Rela>(s.sh_offset + sizeof(Elf64_Rela) * i);
        const auto symbol =
            at<Elf64_Sym>(symbols.sh_offset + sizeof(Elf64_Sym) * ELF64_R_SYM(entry.r_info));
        image_->name_slot(kBase + entry.r_offset, name_of(symbol, symbols));
      }
    }
  }

  std::vector<uint8_t> file_;
  Elf64_Ehdr header_{};
  std::unique_ptr<MemoryImage> image_;
  std::map<std::string, uint64_t> functions_;
};

TEST(ForeignCode, TheCatalogueHasTheSameTraces) {
  const ForeignLibrary library(NRD_FOREIGN);
  const std::unique_ptr<FrontEnd> front_end = make_a64_front_end();
  ASSERT_NE(front_end, nullptr);
  size_t compared = 0;
  for (LiftRequest request : catalogue_requests()) {
    const uint64_t address = library.function("nrd_scalar_" + request.name);
    ASSERT_NE(address, 0u) << request.name;
    request.function = reinterpret_cast<const void*>(address);
    Expected<Function> function = build_function(request, library.image(), *front_end, nullptr);
    ASSERT_TRUE(function) << function.error().message();
    Expected<OpTrace> trace = analyse(std::move(*function), request);
    ASSERT_TRUE(trace) << trace.error().message();
    trace->name = request.name;
    trace->op_class = classify(*trace);
    const OpTrace* embedded = catalogue_trace(request.name);
    ASSERT_NE(embedded, nullptr) << request.name;
    EXPECT_EQ(trace_text(*trace), trace_text(*embedded));
    compared++;
  }
  EXPECT_EQ(compared, embedded_traces().size());
}

}  // namespace
}  // namespace nrd::lift
