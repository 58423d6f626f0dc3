// SPDX-License-Identifier: MIT
// src/lift/image.h: where code and constants are read: the running process, or bytes at hand.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lift/frontend.h"

namespace nrd::lift {

// The modules that are loaded now; modules loaded later are found when they are first asked for.
// Safe to use from several threads. A module must not be unloaded while it is lifted.
const Image& process_image();

// Names a function that no symbol table names: hidden ones, such as the library's own.
void register_name(const void* function, std::string name);

// Bytes as if they lay at `base`: all of them code and constants. Names are what it is told.
class MemoryImage final : public Image {
 public:
  MemoryImage(std::vector<uint8_t> bytes, uint64_t base) : bytes_(std::move(bytes)), base_(base) {}

  void name_function(uint64_t address, std::string name);
  void name_slot(uint64_t slot, std::string name);
  void add_instrumentation(uint64_t address, size_t size);

  size_t code_bytes(uint64_t address) const override;
  const uint8_t* code(uint64_t address) const override;
  bool read_only(uint64_t address, size_t size, void* out) const override;
  std::optional<std::string> name_of_slot(uint64_t slot) const override;
  std::optional<std::string> name_of_function(uint64_t address) const override;
  uint64_t slot_content(uint64_t slot) const override;
  bool is_instrumentation(uint64_t address, size_t size, std::string* reason) const override;

 private:
  std::vector<uint8_t> bytes_;
  uint64_t base_;
  std::vector<std::pair<uint64_t, std::string>> functions_, slots_;
  std::vector<std::pair<uint64_t, size_t>> instrumentation_;
};

}  // namespace nrd::lift
