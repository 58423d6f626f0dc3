// SPDX-License-Identifier: MIT
// src/api/memory.cpp: allocation through hooks, and the exchange of workspaces.
#include "api/memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <memory>
#include <new>

namespace nrd {

namespace {

// A wish: packed panels of many MB are read in strides, and small pages would miss in the TLB.
void ask_for_huge_pages(void* memory, size_t bytes) {
  constexpr size_t kHugePage = size_t{2} << 20;
  const size_t skip = -reinterpret_cast<uintptr_t>(memory) % kHugePage;
  if (bytes < skip + kHugePage) return;
  madvise(static_cast<char*>(memory) + skip, (bytes - skip) / kHugePage * kHugePage, MADV_HUGEPAGE);
}

}  // namespace

void* Allocator::allocate(size_t bytes) const {
  if (!allocate_hook) {
    void* memory = ::operator new (bytes, std::align_val_t{kWorkspaceAlignment});
    ask_for_huge_pages(memory, bytes);
    return memory;
  }
  void* memory = allocate_hook(user, bytes, kWorkspaceAlignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void Allocator::release(void* memory, size_t bytes) const {
  if (!allocate_hook)
    ::operator delete (memory, std::align_val_t{kWorkspaceAlignment});
  else if (release_hook)
    release_hook(user, memory, bytes);
}

Block::Block(const Allocator& allocator, size_t bytes)
    : allocator_(&allocator), data_(bytes ? allocator.allocate(bytes) : nullptr), bytes_(bytes) {}

Block::~Block() {
  if (data_) allocator_->release(data_, bytes_);
}

WorkspacePool::~WorkspacePool() {
  for (auto& slot : slots_) delete slot.load();
}

std::atomic<Block*>& WorkspacePool::own_slot() {
  static std::atomic<size_t> next{0};
  thread_local const size_t slot = next.fetch_add(1, std::memory_order_relaxed) % kSlots;
  return slots_[slot];
}

void WorkspacePool::Lease::take(size_t bytes) {
  std::unique_ptr<Block> block(pool_.own_slot().exchange(nullptr, std::memory_order_acquire));
  if (!block) block = std::make_unique<Block>();
  if (block->bytes() < bytes) {
    *block = Block();  // first, so that the two never exist together
    *block = Block(pool_.allocator_, bytes);
  }
  block_ = block.release();
}

void WorkspacePool::Lease::give_back() {
  delete pool_.own_slot().exchange(block_, std::memory_order_acq_rel);
}

}  // namespace nrd
