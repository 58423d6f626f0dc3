// SPDX-License-Identifier: MIT
// src/lift/image_memory.cpp: an image made of bytes.
#include <algorithm>
#include <cstring>

#include "lift/image.h"

namespace nrd::lift {
namespace {

using Names = std::vector<std::pair<uint64_t, std::string>>;

std::optional<std::string> find(const Names& names, uint64_t address) {
  for (const auto& [at, name] : names)
    if (at == address) return name;
  return std::nullopt;
}

}  // namespace

void MemoryImage::name_function(uint64_t address, std::string name) {
  functions_.emplace_back(address, std::move(name));
}

void MemoryImage::name_slot(uint64_t slot, std::string name) {
  slots_.emplace_back(slot, std::move(name));
}

void MemoryImage::add_instrumentation(uint64_t address, size_t size) {
  instrumentation_.emplace_back(address, size);
}

size_t MemoryImage::code_bytes(uint64_t address) const {
  const uint64_t at = address - base_;  // wraps below the base
  return at < bytes_.size() ? bytes_.size() - at : 0;
}

const uint8_t* MemoryImage::code(uint64_t address) const {
  return bytes_.data() + (address - base_);
}

bool MemoryImage::read_only(uint64_t address, size_t size, void* out) const {
  if (code_bytes(address) < size) return false;
  std::memcpy(out, code(address), size);
  return true;
}

std::optional<std::string> MemoryImage::name_of_slot(uint64_t slot) const {
  return find(slots_, slot);
}

std::optional<std::string> MemoryImage::name_of_function(uint64_t address) const {
  return find(functions_, address);
}

uint64_t MemoryImage::slot_content(uint64_t slot) const {
  uint64_t content = 0;
  return read_only(slot, sizeof content, &content) ? content : 0;
}

bool MemoryImage::is_instrumentation(uint64_t address, size_t size, std::string*) const {
  return std::any_of(instrumentation_.begin(), instrumentation_.end(), [&](const auto& range) {
    return address >= range.first && address + size <= range.first + range.second;
  });
}

}  // namespace nrd::lift
