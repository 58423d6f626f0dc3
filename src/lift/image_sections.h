// SPDX-License-Identifier: MIT
// src/lift/image_sections.h: inside the image of the process: which data of a module its file calls
// instrumentation. Only names tell a counter of --coverage from one of the program's own, and they
// are in no segment that is loaded.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lift/image_module.h"

namespace nrd::lift {

class Instrumentation {
 public:
  bool covers(uint64_t address, size_t size) const;  // an address as in the file: less the base
  // Why the file has no say about symbols; empty where it has.
  const std::string& objection() const { return objection_; }

  void add(uint64_t begin, uint64_t size);
  void object(std::string why) { objection_ = std::move(why); }
  void sort();  // before covers()

 private:
  struct Range {
    uint64_t begin = 0, end = 0;
  };
  std::vector<Range> ranges_;  // ascending, apart
  std::string objection_;
};

// Reads section headers and symbols of a 64-bit little-endian ELF file. Nothing outside `file` is
// touched, whatever it says.
Instrumentation read_instrumentation(std::span<const uint8_t> file);

// The same of the file that these segments were loaded from.
Instrumentation read_instrumentation(const std::string& path, std::span<const Segment> segments);

}  // namespace nrd::lift
