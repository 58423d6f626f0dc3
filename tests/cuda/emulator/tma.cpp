// SPDX-License-Identifier: MIT
// tests/cuda/emulator/tma.cpp: boxes between global and shared memory.
#include "emulator/tma.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "emulator/copies.h"
#include "emulator/machine.h"

namespace nrd::cuda::emulator {
namespace {

constexpr uint64_t kEncodedMark = 0x70616d20646472e6;  // behind the specification

uint32_t swizzle_bytes(Swizzle s) {
  switch (s) {
    case Swizzle::k32B: return 32;
    case Swizzle::k64B: return 64;
    case Swizzle::k128B: return 128;
    case Swizzle::kNone: break;
  }
  return 0;
}

std::string why_not(const MatrixMapSpec& s) {
  const uint32_t box_bytes = s.box_width * s.element_bytes;
  if (reinterpret_cast<uintptr_t>(s.base) % 16 != 0) return "the base is not 16-byte aligned";
  if (s.row_bytes % 16 != 0 || s.row_bytes >= uint64_t{1} << 40)
    return "the row stride is no multiple of 16";
  if (s.width == 0 || s.height == 0 || s.width > uint64_t{1} << 32 || s.height > uint64_t{1} << 32)
    return "a size of 0 or over 2^32";
  if (s.box_width == 0 || s.box_height == 0 || s.box_width > 256 || s.box_height > 256)
    return "a box of 0 or over 256 elements";
  if (box_bytes % 16 != 0) return "rows of the box are no multiple of 16 bytes";
  if (s.swizzle != Swizzle::kNone && box_bytes > swizzle_bytes(s.swizzle))
    return "rows of the box are wider than the swizzle";
  return {};
}

MatrixMapSpec read(const TensorMap* map) {
  if (reinterpret_cast<uintptr_t>(map) % 64 != 0) fail("a tensor map is not 64-byte aligned");
  uint64_t mark = 0;
  std::memcpy(&mark, map->bytes + sizeof(MatrixMapSpec), 8);
  if (mark != kEncodedMark) fail("what is used as a tensor map was never encoded");
  MatrixMapSpec spec;
  std::memcpy(static_cast<void*>(&spec), map->bytes, sizeof spec);
  return spec;
}

// The box in chunks of 16 bytes, which a swizzle leaves whole: f(shared memory of the chunk, global
// memory of its part inside the tensor, where that part begins and ends in the chunk).
template <class F>
void walk_box(const MatrixMapSpec& s, const Block& block, uint32_t address, int x, int y, F f) {
  const auto size = static_cast<int64_t>(s.element_bytes);
  const auto row_bytes = static_cast<int64_t>(s.box_width) * size;
  for (int64_t row = 0; row < s.box_height; row++) {
    for (int64_t at = 0; at < row_bytes; at += 16) {
      const int64_t line = y + row, first = x + at / size;
      const auto width = static_cast<int64_t>(s.width);
      const bool has_line = line >= 0 && line < static_cast<int64_t>(s.height);
      const int64_t begin = std::clamp<int64_t>(-first * size, 0, 16);
      const int64_t end = has_line ? std::clamp<int64_t>((width - first) * size, begin, 16) : begin;
      char* global = const_cast<char*>(static_cast<const char*>(s.base)) +
                     line * static_cast<int64_t>(s.row_bytes) + first * size + begin;
      const auto linear = address + static_cast<uint32_t>(row * row_bytes + at);
      f(static_cast<char*>(shared_pointer(block, swizzled(linear, s.swizzle), 16)), global,
        static_cast<size_t>(begin), static_cast<size_t>(end));
    }
  }
}

// Byte 0 of a box in the block's memory to the last one; a swizzle stays inside.
struct Extent {
  size_t offset, bytes;
};
Extent extent_of(const MatrixMapSpec& s, const Block& block, uint32_t address) {
  const size_t bytes = size_t{s.box_width} * s.element_bytes * s.box_height;
  const auto* begin = static_cast<const char*>(shared_pointer(block, address, bytes));
  return {static_cast<size_t>(begin - block.shared), bytes};
}

// A store of the running thread reads shared memory.
void note_bulk_read(size_t offset, size_t bytes) {
  Thread& t = self();
  if (t.bulk.agent == 0) t.bulk.agent = t.block->order->add_agent();
  t.bulk.open.last = ++t.bulk.issued;
  t.block->shadow->read_async(t, offset, bytes, t.bulk.agent, t.bulk.issued);
}

void check_alive(const Block& block) {
  if (block.live == 0)
    fail("a copy arrives in the shared memory of block (" + std::to_string(block.position.x) +
         ",...), which has ended");
}

void check_box_address(const MatrixMapSpec& spec, uint32_t address) {
  const uint32_t alignment = spec.swizzle == Swizzle::kNone ? 128 : 8 * swizzle_bytes(spec.swizzle);
  if (address % alignment != 0)
    fail("a box is copied to or from byte " + std::to_string(address) +
         " of shared memory, which is no multiple of " + std::to_string(alignment));
}

}  // namespace

Expected<TensorMap> encode_matrix_map(const MatrixMapSpec& spec) {
  if (const std::string reason = why_not(spec); !reason.empty())
    return make_error(
        {.code = ErrorCode::kEnvironment, .argument = "cuTensorMapEncodeTiled", .got = reason});
  TensorMap map{};
  std::memcpy(map.bytes, &spec, sizeof spec);
  std::memcpy(map.bytes + sizeof spec, &kEncodedMark, sizeof kEncodedMark);
  return map;
}

Expected<void*> allocate_in_stream(size_t bytes, cudaStream_t) {
  constexpr size_t kAlignment = 256;
  return std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
}
void release_in_stream(void* pointer, cudaStream_t) noexcept { std::free(pointer); }

uint32_t swizzled(uint32_t address, Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::k32B: return address ^ (address >> 3 & 0x10);
    case Swizzle::k64B: return address ^ (address >> 3 & 0x30);
    case Swizzle::k128B: return address ^ (address >> 3 & 0x70);
    case Swizzle::kNone: break;
  }
  return address;
}

void tma_load(void* shared, const TensorMap* map, uint64_t* barrier, int x, int y,
              uint32_t blocks) {
  const Block& own = *self().block;
  const MatrixMapSpec spec = read(map);
  const uint32_t address = shared_address(shared), counter = shared_address(barrier);
  check_box_address(spec, address);
  check_global(spec.base);
  if (blocks >> cluster_size() != 0) fail("a multicast goes to blocks outside the cluster");
  for (int rank = 0; rank < cluster_size(); rank++) {
    if (blocks == 0 ? rank != own.rank : !(blocks >> rank & 1)) continue;
    Block* to = &cluster_block(rank);
    const Extent extent = extent_of(spec, *to, address);
    const CopyAgent copies = copies_of(*to, counter);
    to->shadow->write_async(self(), extent.offset, extent.bytes, copies.agent, copies.count);
    start([=] {
      check_alive(*to);
      walk_box(spec, *to, address, x, y,
               [](char* shared, const char* global, size_t begin, size_t end) {
                 std::memset(shared, 0, 16);
                 std::memcpy(shared + begin, global, end - begin);
               });
      mbarrier_complete(*to, counter, spec.box_width * spec.element_bytes * spec.box_height);
    });
  }
}

void tma_store(const TensorMap* map, const void* shared, int x, int y) {
  const Block* own = self().block;
  const MatrixMapSpec spec = read(map);
  const uint32_t address = shared_address(shared);
  check_box_address(spec, address);
  check_global(spec.base);
  const Extent extent = extent_of(spec, *own, address);
  note_bulk_read(extent.offset, extent.bytes);
  self().bulk.open.copies.push_back(start([=] {
    walk_box(spec, *own, address, x, y,
             [](const char* shared, char* global, size_t begin, size_t end) {
               std::memcpy(global, shared + begin, end - begin);
             });
  }));
}

void bulk_load(void* shared, const void* global, uint32_t bytes, uint64_t* barrier) {
  Block* own = self().block;
  const uint32_t address = shared_address(shared), counter = shared_address(barrier);
  if ((address | bytes) % 16 != 0) fail("a bulk copy's address or size is no multiple of 16");
  check_aligned(global, 16);
  const auto offset =
      static_cast<size_t>(static_cast<char*>(shared_pointer(*own, address, bytes)) - own->shared);
  const CopyAgent copies = copies_of(*own, counter);
  own->shadow->write_async(self(), offset, bytes, copies.agent, copies.count);
  start([=] {
    check_alive(*own);
    std::memcpy(shared_pointer(*own, address, bytes), global, bytes);
    mbarrier_complete(*own, counter, bytes);
  });
}

void bulk_store(void* global, const void* shared, uint32_t bytes) {
  const Block* own = self().block;
  const uint32_t address = shared_address(shared);
  if ((address | bytes) % 16 != 0) fail("a bulk copy's address or size is no multiple of 16");
  check_aligned(global, 16);
  note_bulk_read(
      static_cast<size_t>(static_cast<char*>(shared_pointer(*own, address, bytes)) - own->shared),
      bytes);
  self().bulk.open.copies.push_back(
      start([=] { std::memcpy(global, shared_pointer(*own, address, bytes), bytes); }));
}

void bulk_commit() { commit(self().bulk); }
void bulk_wait(int groups) {
  Thread& t = self();
  if (const uint32_t last = wait_for_groups(t.bulk, groups))
    t.clock.learn_fenced(t.bulk.agent, last);
}

void copy_async(void* shared, const void* global, size_t bytes) {
  Thread& t = self();
  auto* to = static_cast<char*>(shared_pointer(shared_address(shared), 16));
  const auto first = static_cast<size_t>(to - t.block->shared) / 4;
  for (size_t i = 0; i < 4; i++)
    t.copies.open.words.push_back(&t.block->shadow->write_pending(t, first + i));
  t.copies.open.copies.push_back(start([=] {
    std::memset(to, 0, 16);
    std::memcpy(to, global, bytes);
  }));
}

void copy_async_wait(int groups) { wait_for_groups(self().copies, groups); }

}  // namespace nrd::cuda::emulator
