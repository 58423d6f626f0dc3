// SPDX-License-Identifier: MIT
// src/lift/frontend.h: what the core asks of a machine: decode, translate, calling convention.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lift/ir.h"

namespace nrd::lift {

// How control leaves an instruction.
enum class Flow : uint8_t {
  kNext,    // falls through
  kJump,    // to target
  kBranch,  // to target if the instruction's condition holds, else on
  kCall,    // to target (0: through memory or a register, see call_slot), then on
  kReturn,
  kTrap,      // ud2, hlt, brk, int3: never continues
  kIndirect,  // jump through a register or memory: a jump table, or a stub (call_slot)
};

struct Instruction {
  uint64_t address = 0;
  uint8_t length = 0;
  Flow flow = Flow::kNext;
  uint64_t target = 0;     // of kJump, kBranch, kCall
  uint64_t call_slot = 0;  // kCall, kIndirect through [rip + x]: the address of the pointer
  uint32_t call_register = kNoRegister;  // kCall through a register: which
  uint32_t native = 0;                   // the front end's own record

  static constexpr uint32_t kNoRegister = ~uint32_t{0};
};

// Where an instruction stream may be read. Nothing outside is ever touched: decode asks first.
class Image {
 public:
  virtual ~Image() = default;
  // Bytes readable and executable from `address` on (0: not code).
  virtual size_t code_bytes(uint64_t address) const = 0;
  virtual const uint8_t* code(uint64_t address) const = 0;
  // A constant: `size` bytes at `address` that cannot change while the module is loaded.
  virtual bool read_only(uint64_t address, size_t size, void* out) const = 0;
  // A function's name by relocation of a GOT slot, by the slot's content, or by its own address.
  virtual std::optional<std::string> name_of_slot(uint64_t slot) const = 0;
  virtual std::optional<std::string> name_of_function(uint64_t address) const = 0;
  // The address a GOT slot holds (0: not readable).
  virtual uint64_t slot_content(uint64_t slot) const = 0;
  // Whether the module says that these bytes are instrumentation's (counters of --coverage), so
  // that a store there is no effect of the function. Where it cannot say, `reason` is set to why.
  virtual bool is_instrumentation(uint64_t /*address*/, size_t /*size*/,
                                  std::string* /*reason*/ = nullptr) const {
    return false;
  }
};

// Where a parameter or result of a C function lies.
struct Place {
  enum class Where : uint8_t { kGpr, kVector, kStack } where = Where::kGpr;
  uint32_t index = 0;  // register, or bytes above the stack pointer at entry
};

class FrontEnd {
 public:
  virtual ~FrontEnd() = default;
  // Decodes one instruction; false with a reason where it cannot.
  virtual bool decode(const Image& image, uint64_t address, Instruction& out,
                      std::string& reason) = 0;
  virtual std::string text(const Instruction& instruction) const = 0;  // for NEREID_DUMP=lift
  // Everything but control flow; kBranch: returns the condition (bool), else kNoNode.
  virtual NodeId translate(const Instruction& instruction, const Image& image,
                           Builder& builder) = 0;

  // The convention: where the i-th integer and the i-th floating argument go, and results.
  virtual std::vector<Place> places(const std::vector<Type>& parameters) const = 0;
  virtual uint32_t stack_pointer() const = 0;
  virtual uint32_t result_gpr() const = 0;     // 0 on both
  virtual uint32_t result_vector() const = 0;  // 0 on both
  virtual bool caller_saved(uint32_t variable) const = 0;
  // Stack bytes that a call instruction pushes (x86: 8, a64: 0).
  virtual int call_pushes() const = 0;
};

std::unique_ptr<FrontEnd> make_x86_front_end();  // null where built without Zydis
std::unique_ptr<FrontEnd> make_a64_front_end();  // null where built without Capstone

}  // namespace nrd::lift
