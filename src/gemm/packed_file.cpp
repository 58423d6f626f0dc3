// SPDX-License-Identifier: MIT
// src/gemm/packed_file.cpp: writes, checks and maps files of packed matrices.
#include "gemm/packed_file.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

#include "base/files.h"

namespace nrd::gemm {
namespace {

constexpr const char* kSave = "packed_save";
constexpr const char* kMap = "packed_map";
constexpr std::array<char, 8> kMagic = {'N', 'E', 'R', 'E', 'I', 'D', 'P', 'B'};
constexpr uint32_t kByteOrder = 0x01020304;
// Counts changes of the header and of what panels look like.
constexpr uint32_t kVersion = 1;
constexpr size_t kPage = 4096;  // so that the panels can be mapped

// Every member is little; the file is zero up to the panels.
struct Header {
  std::array<char, 8> magic = kMagic;
  uint32_t version = kVersion;
  uint32_t byte_order = kByteOrder;
  std::array<char, 16> isa{};
  uint32_t numerics = 0, arithmetic = 0, element = 0, depth = 0, group = 0, columns = 0;
  uint32_t dtype = 0, reserved = 0;
  int64_t k = 0, n = 0;
  uint64_t data_bytes = 0, data_checksum = 0;
  uint64_t checksum = 0;  // of what stands before it
};
static_assert(sizeof(Header) == 104 && sizeof(Header) <= kPage);

// Eight bytes a step in four chains: as fast as memory.
uint64_t checksum_of(const void* data, size_t bytes) {
  constexpr uint64_t kPrime = 0x9e3779b97f4a7c15;
  std::array<uint64_t, 4> sums = {1, 2, 3, bytes};
  const auto* at = static_cast<const unsigned char*>(data);
  const auto mix = [&](size_t chain, uint64_t word) {
    sums[chain] = std::rotl((sums[chain] ^ word) * kPrime, 29);
  };
  const auto load = [&](const unsigned char* from, size_t count) {
    uint64_t word = 0;
    std::memcpy(&word, from, count);
    return word;
  };
  size_t i = 0;
  for (; i + 32 <= bytes; i += 32) {
    for (size_t c = 0; c < 4; c++) mix(c, load(at + i + 8 * c, 8));
  }
  for (size_t c = 0; i < bytes; i += 8, c++) mix(c, load(at + i, std::min<size_t>(8, bytes - i)));
  uint64_t all = 0;
  for (uint64_t sum : sums) all = std::rotl((all ^ sum) * kPrime, 31);
  return all;
}

uint64_t checksum_of(const Header& header) {
  return checksum_of(&header, offsetof(Header, checksum));
}

Error with_op(Error error, const char* op) {
  error.op = op;
  return error;
}

Error refuse(const std::string& path, ErrorCode code, std::string got, std::string allowed,
             std::string hint = "") {
  return make_error({.code = code,
                     .op = kMap,
                     .argument = fmt::format("'{}'", path),
                     .got = std::move(got),
                     .allowed = std::move(allowed),
                     .hint = std::move(hint)});
}

Header header_of(const PackedLayout& layout, const void* panels) {
  const Family& family = *layout.family;
  Header header;
  family.isa.copy(header.isa.data(), header.isa.size() - 1);
  header.numerics = static_cast<uint32_t>(family.numerics);
  header.arithmetic = static_cast<uint32_t>(family.arithmetic);
  header.element = static_cast<uint32_t>(family.element);
  header.depth = static_cast<uint32_t>(family.depth);
  header.group = static_cast<uint32_t>(family.group);
  header.columns = static_cast<uint32_t>(family.columns());
  header.dtype = static_cast<uint32_t>(layout.source);
  header.k = layout.k;
  header.n = layout.n;
  header.data_bytes = layout.bytes();
  header.data_checksum = checksum_of(panels, layout.bytes());
  header.checksum = checksum_of(header);
  return header;
}

// The family whose panels these are; null where this version has none such.
const Family* family_of(const Header& header) {
  for (const Family& family : families()) {
    PackedLayout none;
    none.family = &family;
    Header own = header_of(none, nullptr);
    if (own.isa == header.isa && own.numerics == header.numerics &&
        own.arithmetic == header.arithmetic && own.element == header.element &&
        own.depth == header.depth && own.group == header.group && own.columns == header.columns) {
      return &family;
    }
  }
  return nullptr;
}

// In the order in which a reader learns: is it ours, can it be read, is it whole, what is it.
Expected<PackedLayout> read_header(const std::string& path, const Header& header, size_t got) {
  const auto damaged = [&](std::string what) {
    return refuse(path, ErrorCode::kInvalidArgument, std::move(what), "an undamaged file",
                  "pack the matrix again");
  };
  if (got < sizeof header.magic || header.magic != kMagic) {
    return refuse(path, ErrorCode::kInvalidArgument, "not a packed matrix",
                  "a file of nereid_packed_save");
  }
  if (got < sizeof header) return damaged("a truncated header");
  if (header.byte_order != kByteOrder) {
    return refuse(path, ErrorCode::kUnsupported, "another byte order", "this machine's",
                  "pack it on the machine that uses it");
  }
  if (header.version != kVersion) {
    return refuse(path, ErrorCode::kUnsupported, fmt::format("version {}", header.version),
                  fmt::format("version {}", kVersion), "pack it with the library that uses it");
  }
  if (header.checksum != checksum_of(header)) return damaged("a corrupt header");
  const Family* family = family_of(header);
  if (family == nullptr) {
    return refuse(path, ErrorCode::kUnsupported,
                  fmt::format("panels of a kind that this library has not ({})", header.isa.data()),
                  "those of this library", "pack it with the library that uses it");
  }
  const auto dtype = static_cast<DType>(header.dtype);
  if (byte_size(dtype) == 0 || header.k < 0 || header.n < 0)
    return damaged("a header that says nonsense");
  Expected<PackedLayout> layout = make_packed_layout(*family, dtype, header.k, header.n);
  if (!layout || layout->bytes() != header.data_bytes) {
    return damaged("a header that says nonsense");
  }
  return layout;
}

}  // namespace

Expected<void> save_packed(const PackedLayout& layout, const void* panels,
                           const std::string& path) {
  std::array<char, kPage> page{};
  const Header header = header_of(layout, panels);
  std::memcpy(page.data(), &header, sizeof header);
  const auto save = [&]() -> Expected<void> {
    Expected<FileWriter> file = FileWriter::create(path);
    if (!file) return file.error();
    NRD_TRY(file->write(page.data(), page.size()));
    NRD_TRY(file->write(panels, layout.bytes()));
    return file->commit();
  };
  const Expected<void> saved = save();
  if (!saved) return with_op(saved.error(), kSave);
  return {};
}

Expected<MappedPacked> map_packed(const std::string& path, bool verify) {
  const Expected<FileReader> file = FileReader::open(path);
  if (!file) return with_op(file.error(), kMap);
  Header header;
  const Expected<size_t> got = file->read(&header, sizeof header);
  if (!got) return with_op(got.error(), kMap);
  Expected<PackedLayout> layout = read_header(path, header, *got);
  if (!layout) return layout.error();
  const size_t bytes = kPage + layout->bytes();
  if (file->bytes != bytes) {
    return refuse(path, ErrorCode::kInvalidArgument, fmt::format("{} bytes", file->bytes),
                  fmt::format("{} bytes", bytes),
                  file->bytes < bytes ? "the file is truncated: pack the matrix again"
                                      : "something follows the matrix: pack it again");
  }
  void* map = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file->file.get(), 0);
  if (map == MAP_FAILED) return with_op(file_error(path, "cannot be mapped"), kMap);
  const char* panels = static_cast<const char*>(map) + kPage;
  std::shared_ptr<const void> owner(panels, [map, bytes](const void*) { munmap(map, bytes); });
  if (verify && checksum_of(panels, layout->bytes()) != header.data_checksum) {
    return refuse(path, ErrorCode::kInvalidArgument, "panels that do not fit their checksum",
                  "an undamaged file", "pack the matrix again");
  }
  return MappedPacked{*layout, std::move(owner)};
}

}  // namespace nrd::gemm
