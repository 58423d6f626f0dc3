// SPDX-License-Identifier: MIT
// src/jit/code.h: from vector IR to executable memory.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "jit/ir.h"
#include "machine/isa.h"

namespace nrd::jit {

// Executable code, mapped as long as somebody holds it. Its pages are its own and go from writable
// to executable once and never back.
class Code {
 public:
  using Entry = void (*)(const void* block);  // of code that asks for nothing else
  using EntryWithPointers = void (*)(const void* block, void* const* pointers);
  // Takes over `mapped` bytes of executable pages at `base`; code for make_code alone.
  Code(std::string name, void* base, size_t mapped, size_t bytes);
  ~Code();
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  Entry entry() const { return reinterpret_cast<Entry>(base_); }
  EntryWithPointers entry_with_pointers() const {
    return reinterpret_cast<EntryWithPointers>(base_);
  }
  const void* base() const { return base_; }
  size_t bytes() const { return bytes_; }
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  void* base_;
  size_t mapped_, bytes_;
};

// Targets of this build that `isa` allows, best first; empty: no back end (built without AsmJit,
// or the machine lacks AVX2).
std::vector<const Target*> targets(const IsaSet& isa);

// Register allocation and encoding. The bytes are position independent and end with their own
// constant pool. `spills` (optional) tells how many registers went to the stack.
Expected<std::vector<uint8_t>> encode(const Program& program, const Target& target,
                                      int* spills = nullptr);

// Copies bytes into fresh pages and makes them executable; names them for perf (NEREID_PERF_MAP)
// and gdb. kUnsupported where the system refuses executable memory (or refuse_executable_memory
// was called), so that the caller falls back.
Expected<std::shared_ptr<const Code>> make_code(std::string name,
                                                const std::vector<uint8_t>& bytes);
void refuse_executable_memory(bool refuse);  // for tests
bool executable_memory_works();              // tried once

std::string disassemble(const void* code, size_t bytes);  // for NEREID_DUMP=asm, nereid lift

}  // namespace nrd::jit
