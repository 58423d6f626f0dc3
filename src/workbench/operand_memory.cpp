// SPDX-License-Identifier: MIT
// src/workbench/operand_memory.cpp: host memory as it is, device memory through its runtime.
#include "workbench/operand_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "dispatch/device_runtime.h"

namespace nrd {
namespace {

class HostMemory final : public OperandMemory {
 public:
  Expected<void*> allocate(size_t bytes, MemoryMode mode, unsigned char) override {
    Expected<Buffer> buffer = Buffer::allocate(bytes, mode);
    if (!buffer) return buffer.error();
    buffers_.push_back(std::move(*buffer));
    return buffers_.back().data();
  }
  size_t alignment() const override { return 64; }
  Expected<void> write(void* to, const void* host, size_t bytes) override {
    if (bytes > 0) std::memcpy(to, host, bytes);
    return {};
  }
  Expected<void> read(void* host, const void* from, size_t bytes) const override {
    if (bytes > 0) std::memcpy(host, from, bytes);
    return {};
  }
  Expected<void> copy(void* to, const void* from, size_t bytes) override {
    return write(to, from, bytes);
  }
  Expected<void> fill(void* to, unsigned char byte, size_t bytes) override {
    if (bytes > 0) std::memset(to, byte, bytes);
    return {};
  }
  bool addressable() const override { return true; }
  Expected<void> wait() override { return {}; }
  Expected<int> damaged(std::string&) const override { return -1; }  // its guard is a fault

 private:
  std::vector<Buffer> buffers_;
};

class DeviceOperandMemory final : public OperandMemory {
 public:
  DeviceOperandMemory(DeviceRuntime& runtime, const Device& device)
      : runtime_(runtime), device_(device) {}
  ~DeviceOperandMemory() override {
    for (const Piece& piece : pieces_) runtime_.release(device_.index, piece.block);
  }

  Expected<void*> allocate(size_t bytes, MemoryMode mode, unsigned char guard) override {
    const size_t band = mode == MemoryMode::kGuarded ? kBand : 0;
    // At least one byte: null would read as an absent operand.
    Expected<void*> block = runtime_.allocate(device_.index, std::max<size_t>(1, bytes + 2 * band));
    if (!block) return block.error();
    pieces_.push_back({static_cast<char*>(*block), bytes, band, guard});
    const Piece& piece = pieces_.back();
    NRD_TRY(fill(piece.block, guard, band));
    NRD_TRY(fill(piece.block + band + bytes, guard, band));
    return piece.block + band;
  }
  size_t alignment() const override { return 256; }

  Expected<void> write(void* to, const void* host, size_t bytes) override {
    return transfer(to, device_, host, Device{}, bytes);
  }
  Expected<void> read(void* host, const void* from, size_t bytes) const override {
    return transfer(host, Device{}, from, device_, bytes);
  }
  Expected<void> copy(void* to, const void* from, size_t bytes) override {
    return transfer(to, device_, from, device_, bytes);
  }
  Expected<void> fill(void* to, unsigned char byte, size_t bytes) override {
    const std::vector<char> pattern(std::min(bytes, kPatternBytes), static_cast<char>(byte));
    NRD_TRY(write(to, pattern.data(), pattern.size()));
    // What is filled is copied behind itself: host memory is far away.
    for (size_t done = pattern.size(); done < bytes; done *= 2)
      NRD_TRY(copy(static_cast<char*>(to) + done, to, std::min(done, bytes - done)));
    return {};
  }
  bool addressable() const override { return false; }
  Expected<void> wait() override { return runtime_.wait_for(device_.index, nullptr); }

  Expected<int> damaged(std::string& where) const override {
    for (size_t i = 0; i < pieces_.size(); i++) {
      const Piece& piece = pieces_[i];
      std::vector<char> front(piece.band), back(piece.band);
      NRD_TRY(read(front.data(), piece.block, piece.band));
      NRD_TRY(read(back.data(), piece.block + piece.band + piece.bytes, piece.band));
      const auto before = changed(front, piece.guard), behind = changed(back, piece.guard);
      if (before + behind == 0) continue;
      where = fmt::format("{} bytes {}", before > 0 ? before : behind,
                          before > 0 ? "before it" : "behind its end");
      return static_cast<int>(i);
    }
    return -1;
  }

 private:
  static constexpr size_t kBand = 4096;
  static constexpr size_t kPatternBytes = size_t{1} << 20;
  struct Piece {
    char* block = nullptr;
    size_t bytes = 0;
    size_t band = 0;
    unsigned char guard = 0;
  };

  Expected<void> transfer(void* to, const Device& to_device, const void* from,
                          const Device& from_device, size_t bytes) const {
    if (bytes == 0) return {};
    NRD_TRY(runtime_.copy(to, to_device, from, from_device, bytes, nullptr));
    return runtime_.wait_for(device_.index, nullptr);
  }
  static int64_t changed(const std::vector<char>& band, unsigned char guard) {
    return std::count_if(band.begin(), band.end(),
                         [&](char c) { return static_cast<unsigned char>(c) != guard; });
  }

  DeviceRuntime& runtime_;
  Device device_;
  std::vector<Piece> pieces_;
};

}  // namespace

Expected<std::unique_ptr<OperandMemory>> OperandMemory::on(const Device& device) {
  if (device.kind == DeviceKind::kCpu)
    return std::unique_ptr<OperandMemory>(std::make_unique<HostMemory>());
  Expected<DeviceRuntime*> runtime = device_runtime();
  if (!runtime) return runtime.error();
  return std::unique_ptr<OperandMemory>(std::make_unique<DeviceOperandMemory>(**runtime, device));
}

}  // namespace nrd
