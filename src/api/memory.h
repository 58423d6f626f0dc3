// SPDX-License-Identifier: MIT
// src/api/memory.h: a context's memory: its allocator, and workspaces that calls take in turn.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <utility>

namespace nrd {

constexpr size_t kWorkspaceAlignment = 64;

// What a caller's hook gave is not aligned as it was asked for; kernels would fault on it. Given
// back already. An exception, as std::bad_alloc is in the same place; guarded() makes it an error.
struct MisalignedMemory {
  void* address;
};

// The caller's hooks, or aligned operator new and, for large memory, whole pages.
struct Allocator {
  void* user = nullptr;
  void* (*allocate_hook)(void* user, size_t bytes, size_t alignment) = nullptr;
  void (*release_hook)(void* user, void* memory, size_t bytes) = nullptr;

  // Aligned to kWorkspaceAlignment. Throws std::bad_alloc, or MisalignedMemory of the hook's.
  void* allocate(size_t bytes) const;
  void release(void* memory, size_t bytes) const;  // as many as were allocated
};

// Memory of an allocator, given back at the end.
class Block {
 public:
  Block() = default;
  Block(const Allocator& allocator, size_t bytes);
  Block(Block&& other) noexcept { swap(other); }
  Block& operator=(Block&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Block();
  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  void swap(Block& other) noexcept {
    std::swap(allocator_, other.allocator_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }

 private:
  const Allocator* allocator_ = nullptr;
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

// Workspaces that outlive a call. A thread finds the one it used last in its own slot, so that a
// repeated call neither allocates nor locks; threads that share a slot allocate now and then.
class WorkspacePool {
 public:
  explicit WorkspacePool(const Allocator& allocator) : allocator_(allocator) {}
  ~WorkspacePool();

  class Lease {
   public:
    Lease(WorkspacePool& pool, size_t bytes) : pool_(pool) {
      if (bytes > 0) take(bytes);
    }
    ~Lease() {
      if (block_) give_back();
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    void* data() const { return block_ ? block_->data() : nullptr; }

   private:
    void take(size_t bytes);
    void give_back();

    WorkspacePool& pool_;
    Block* block_ = nullptr;
  };

 private:
  static constexpr size_t kSlots = 64;
  std::atomic<Block*>& own_slot();

  const Allocator& allocator_;
  std::array<std::atomic<Block*>, kSlots> slots_{};
};

}  // namespace nrd
