// SPDX-License-Identifier: MIT
// src/api/memory.cpp: allocation through hooks, and the exchange of workspaces.
#include "api/memory.h"

#include <cstdint>
#include <memory>
#include <new>

#include "api/status.h"
#include "base/pages.h"

namespace nrd {

namespace {

// malloc keeps what is freed and gives it out in pieces: advice on pages would outlive a workspace.
bool takes_pages(size_t bytes) { return bytes >= kHugePage; }

}  // namespace

void* Allocator::allocate(size_t bytes) const {
  if (!allocate_hook && !takes_pages(bytes)) {
    return ::operator new (bytes, std::align_val_t{kWorkspaceAlignment});
  }
  void* memory = nullptr;
  if (allocate_hook)
    call_hook("allocate", [&] { memory = allocate_hook(user, bytes, kWorkspaceAlignment); });
  else
    memory = map_pages(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  if (reinterpret_cast<uintptr_t>(memory) % kWorkspaceAlignment != 0) {
    release(memory, bytes);
    throw MisalignedMemory{memory};
  }
  return memory;
}

void Allocator::release(void* memory, size_t bytes) const {
  if (allocate_hook) {
    if (release_hook) release_hook(user, memory, bytes);
  } else if (takes_pages(bytes)) {
    unmap_pages(memory, bytes);
  } else {
    ::operator delete (memory, std::align_val_t{kWorkspaceAlignment});
  }
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
