// SPDX-License-Identifier: MIT
// tests/compiler/image_sections_test.cpp: what files say of counters: made by hand, cut, garbled,
// and the one of this program; and what a store to a global is without such a word.
#include "lift/image_sections.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

#include "lift/function.h"
#include "lift/image.h"

namespace nrd::lift {
namespace {

using Bytes = std::vector<uint8_t>;

template <class T>
void append(Bytes& out, const T& value) {
  const auto* start = reinterpret_cast<const uint8_t*>(&value);
  out.insert(out.end(), start, start + sizeof value);
}

// A file of symbols, strings and section headers. The first two sections are the tables.
class ElfFile {
 public:
  bool has_symbols = true;

  ElfFile() { add_symbol("", 0, 0, STT_NOTYPE, SHN_UNDEF); }
  void add_symbol(const std::string& name, uint64_t value, uint64_t size,
                  unsigned char type = STT_OBJECT, uint16_t section = 3) {
    Elf64_Sym symbol{};
    symbol.st_name = add_string(name);
    symbol.st_info = static_cast<unsigned char>(ELF64_ST_INFO(STB_LOCAL, type));
    symbol.st_shndx = section;
    symbol.st_value = value, symbol.st_size = size;
    append(symbols_, symbol);
  }
  void add_section(const std::string& name, uint64_t address, uint64_t size,
                   uint64_t flags = SHF_ALLOC | SHF_WRITE) {
    Elf64_Shdr section{};
    section.sh_name = add_string(name);
    section.sh_type = SHT_NOBITS;
    section.sh_flags = flags;
    section.sh_addr = address, section.sh_size = size;
    append(sections_, section);
  }
  Bytes bytes() const {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64, header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_shentsize = sizeof(Elf64_Shdr), header.e_shstrndx = 2;
    header.e_shnum = static_cast<uint16_t>(3 + sections_.size() / sizeof(Elf64_Shdr));
    Elf64_Shdr symbols{}, strings{};
    symbols.sh_type = has_symbols ? SHT_SYMTAB : SHT_NULL, strings.sh_type = SHT_STRTAB;
    symbols.sh_offset = sizeof header, symbols.sh_size = symbols_.size();
    symbols.sh_entsize = sizeof(Elf64_Sym), symbols.sh_link = 2;
    strings.sh_offset = sizeof header + symbols_.size(), strings.sh_size = strings_.size();
    header.e_shoff = strings.sh_offset + strings.sh_size;
    Bytes out;
    append(out, header);
    out.insert(out.end(), symbols_.begin(), symbols_.end());
    out.insert(out.end(), strings_.begin(), strings_.end());
    append(out, Elf64_Shdr{});
    append(out, symbols);
    append(out, strings);
    out.insert(out.end(), sections_.begin(), sections_.end());
    return out;
  }

 private:
  uint32_t add_string(const std::string& text) {
    const size_t at = strings_.size();
    strings_.insert(strings_.end(), text.c_str(), text.c_str() + text.size() + 1);
    return static_cast<uint32_t>(at);
  }
  Bytes symbols_, strings_, sections_;
};

ElfFile example() {
  ElfFile file;
  file.add_symbol("__gcov0.f", 0x4000, 24);
  file.add_symbol("calls", 0x4018, 8);
  file.add_symbol("__llvm_gcov_ctr.3", 0x4040, 16);
  file.add_section(".bss", 0x4000, 0x1000);
  file.add_section("__llvm_prf_cnts", 0x6000, 64);
  return file;
}

// Bytes that end where a page that must not be touched begins.
class Guarded {
 public:
  explicit Guarded(const Bytes& bytes) : size_(bytes.size()) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    mapped_ = (size_ / page + 2) * page;
    start_ = static_cast<uint8_t*>(
        mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(start_ + mapped_ - page, page, PROT_NONE);
    end_ = start_ + mapped_ - page;
    if (size_ != 0) std::memcpy(end_ - size_, bytes.data(), size_);
  }
  ~Guarded() { munmap(start_, mapped_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  std::span<const uint8_t> bytes() const { return {end_ - size_, size_}; }

 private:
  size_t size_, mapped_;
  uint8_t *start_, *end_;
};

TEST(Sections, SymbolsOfCountersCoverTheirBytes) {
  ElfFile file = example();
  file.add_symbol("my__gcov", 0x5000, 8);
  file.add_symbol("__gcov_f", 0x5010, 8, STT_FUNC);
  file.add_symbol("__gcov_u", 0x5020, 8, STT_OBJECT, SHN_UNDEF);
  file.add_symbol("__gcov_t", 0x5030, 8, STT_TLS);
  file.add_symbol("__gcov_w", ~uint64_t{0} - 4, 8);
  const Instrumentation found = read_instrumentation(file.bytes());
  EXPECT_EQ(found.objection(), "");
  EXPECT_TRUE(found.covers(0x4000, 8));
  EXPECT_TRUE(found.covers(0x4010, 8));
  EXPECT_TRUE(found.covers(0x4048, 8));
  EXPECT_FALSE(found.covers(0x4014, 8)) << "half of it is the program's";
  EXPECT_FALSE(found.covers(0x3fff, 8));
  EXPECT_FALSE(found.covers(0x4000, ~size_t{0}));
  for (uint64_t other : {0x4018u, 0x4050u, 0x5000u, 0x5010u, 0x5020u, 0x5030u, 0u})
    EXPECT_FALSE(found.covers(other, 8)) << other;
  EXPECT_FALSE(found.covers(~uint64_t{0} - 4, 1));
}

TEST(Sections, SectionsOfCountersNeedNoSymbols) {
  ElfFile file = example();
  file.add_section("__llvm_prf_bits", 0x6100, 1);
  file.add_section("__sancov_cntrs", 0x6200, 4);
  file.add_section("__llvm_prf_cnts_of_mine", 0x6300, 8);
  file.add_section("__sancov_cntrs", 0x6400, 8, SHF_ALLOC);
  file.has_symbols = false;
  const Instrumentation found = read_instrumentation(file.bytes());
  EXPECT_EQ(found.objection(), "has no symbols: it is stripped");
  EXPECT_TRUE(found.covers(0x6038, 8));
  EXPECT_TRUE(found.covers(0x6100, 1));
  EXPECT_TRUE(found.covers(0x6203, 1));
  for (uint64_t other : {0x4000u, 0x6039u, 0x6300u, 0x6400u})
    EXPECT_FALSE(found.covers(other, 8)) << other;
}

TEST(Sections, WhatIsNoElfFileSaysNothing) {
  Bytes narrow = example().bytes(), swapped = narrow;
  narrow[EI_CLASS] = ELFCLASS32;
  swapped[EI_DATA] = ELFDATA2MSB;
  for (const Bytes& file : {Bytes{}, Bytes(1000, 0), Bytes(1000, 0xff), narrow, swapped}) {
    const Instrumentation found = read_instrumentation(Guarded(file).bytes());
    EXPECT_EQ(found.objection(), "is no ELF file of 64 bits with sections");
    EXPECT_FALSE(found.covers(0x4000, 8));
  }
}

TEST(Sections, CutFilesAreReadToTheirEnd) {
  const Bytes whole = example().bytes();
  for (size_t size = 0; size < whole.size(); size++) {
    const Guarded cut(Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)));
    EXPECT_FALSE(read_instrumentation(cut.bytes()).objection().empty()) << size;
  }
}

TEST(Sections, GarbledFilesAreReadInBounds) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const Bytes whole = example().bytes();
  const uint64_t extremes[] = {0, 1, 0x7fff, 0xffff, ~uint64_t{0}, ~uint64_t{0} << 3, whole.size()};
  for (int i = 0; i < 5000; i++) {
    Bytes file = whole;
    for (size_t changes = random() % 4 + 1; changes > 0; changes--) {
      const size_t at = random() % (file.size() - 8), width = size_t{1} << random() % 4;
      const uint64_t value = random() % 2 ? extremes[random() % std::size(extremes)] : random();
      std::memcpy(&file[at], &value, width);
    }
    const Guarded guarded(file);
    read_instrumentation(guarded.bytes()).covers(0x4000, 8);
  }
}

// ---- this program ----

[[gnu::used]] int64_t coverage_counter asm("__gcov0.image_sections_test");
[[gnu::used, gnu::section("__llvm_prf_cnts")]] int64_t profile_counter = 0;
[[gnu::used]] int64_t own_counter;

uint64_t address_of(const int64_t& number) { return reinterpret_cast<uint64_t>(&number); }

TEST(ProcessImage, CountersOfInstrumentationAreKnownByName) {
  const Image& image = process_image();
  std::string reason;
  EXPECT_TRUE(image.is_instrumentation(address_of(coverage_counter), 8, &reason)) << reason;
  EXPECT_TRUE(image.is_instrumentation(address_of(profile_counter), 8, &reason)) << reason;
  EXPECT_FALSE(image.is_instrumentation(address_of(own_counter), 8, &reason));
  EXPECT_EQ(reason, "") << "the file says whose it is";
  EXPECT_FALSE(image.is_instrumentation(0, 8, &reason));
  EXPECT_FALSE(image.is_instrumentation(~uint64_t{0}, 8, &reason));
}

TEST(Sections, OnlyTheFileThatWasLoadedCounts) {
  std::vector<Segment> segments;
  const auto take_first = [](dl_phdr_info* info, size_t, void* out) {
    *static_cast<std::vector<Segment>*>(out) = Module(*info).segments();
    return 1;
  };
  dl_iterate_phdr(take_first, &segments);
  EXPECT_EQ(read_instrumentation("/proc/self/exe", segments).objection(), "");
  std::ifstream in("/proc/self/exe", std::ios::binary);
  Bytes file{std::istreambuf_iterator<char>(in), {}};
  const std::string path = testing::TempDir() + "nereid_image_sections_test";
  const auto objection = [&](const Bytes& bytes) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return read_instrumentation(path, segments).objection();
  };
  EXPECT_EQ(objection(file), "");
  Bytes other = file;
  for (const Segment& segment : segments)
    if (segment.execute) other[segment.file_offset + segment.file_bytes / 2] ^= 1;
  EXPECT_EQ(objection(other), "is not the file that was loaded");
  file.resize(file.size() / 8);
  EXPECT_EQ(objection(file), "is not the file that was loaded");
  EXPECT_EQ(objection({}), "cannot be read");
  std::remove(path.c_str());
  for (const char* no_file : {path.c_str(), "/", "/dev/null", ""})
    EXPECT_EQ(read_instrumentation(no_file, segments).objection(), "cannot be read") << no_file;
}

// ---- functions that add one to the number at 0x12008 ----

Expected<Function> build_counting(Bytes code, FrontEnd& front_end, bool is_known) {
  MemoryImage image(std::move(code), 0x10000);
  image.add_instrumentation(0x12000, is_known ? 16 : 8);
  const LiftRequest request{"f", reinterpret_cast<const void*>(0x10000),
                            *parse_signature("float(float x)")};
  return build_function(request, image, front_end, nullptr);
}

void expect_dropped_only_if_known(const Bytes& code, std::unique_ptr<FrontEnd> front_end) {
  if (front_end == nullptr) GTEST_SKIP() << "built without this decoder";
  const Expected<Function> known = build_counting(code, *front_end, true);
  ASSERT_TRUE(known) << known.error().message();
  for (const Block& block : known->blocks) EXPECT_TRUE(block.memory.empty());
  const Expected<Function> unknown = build_counting(code, *front_end, false);
  ASSERT_FALSE(unknown) << "an effect of the function is lost";
  EXPECT_NE(unknown.error().message().find("it writes a global at 0x12008"), std::string::npos)
      << unknown.error().message();
}

TEST(Counters, X86) {  // add qword [rip + 0x2000], 1; ret
  expect_dropped_only_if_known({0x48, 0x83, 0x05, 0x00, 0x20, 0, 0, 1, 0xc3}, make_x86_front_end());
}

TEST(Counters, A64) {  // adrp x0, 0x12000; ldr x1, [x0, 8]; add x1, x1, 1; str x1, [x0, 8]; ret
  Bytes code;
  for (uint32_t word : {0xd0000000u, 0xf9400401u, 0x91000421u, 0xf9000401u, 0xd65f03c0u})
    append(code, word);
  expect_dropped_only_if_known(code, make_a64_front_end());
}

}  // namespace
}  // namespace nrd::lift
