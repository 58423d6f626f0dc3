// SPDX-License-Identifier: MIT
// src/lift/a64.cpp: the aarch64 front end (AAPCS64). What it understands: a64_table.cpp.
#include "lift/a64.h"

#include <fmt/format.h>

#include <cstring>
#include <memory>

#include "lift/simplify.h"

namespace nrd::lift {
namespace {

constexpr uint32_t kArgumentRegisters = 8;

class A64FrontEnd final : public FrontEnd {
 public:
  bool ready() const { return decoder_.ready(); }

  bool decode(const Image& image, uint64_t address, Instruction& out, std::string& reason) override;
  std::string text(const Instruction& instruction) const override;
  NodeId translate(const Instruction& instruction, const Image& image, Builder& builder) override;

  std::vector<Place> places(const std::vector<Type>& parameters) const override;
  uint32_t stack_pointer() const override { return kA64Sp; }
  uint32_t result_gpr() const override { return 0; }
  uint32_t result_vector() const override { return 0; }
  bool caller_saved(uint32_t variable) const override;
  int call_pushes() const override { return 0; }

 private:
  static constexpr uint32_t kNoRecord = ~uint32_t{0};  // a stub: nothing to translate

  A64Decoder decoder_;
  std::vector<A64Record> records_;
};

uint64_t target_of(const A64Record& record) {
  if (record.operand_count == 0) return 0;
  const A64Operand& last = record.operands[record.operand_count - 1];
  return last.kind == A64Operand::Kind::kImmediate ? static_cast<uint64_t>(last.value) : 0;
}

bool A64FrontEnd::decode(const Image& image, uint64_t address, Instruction& out,
                         std::string& reason) {
  uint32_t word = 0;
  if (address % sizeof word != 0 || image.code_bytes(address) < sizeof word) {
    reason = fmt::format("{:#x} is not code", address);
    return false;
  }
  out = Instruction{.address = address, .length = sizeof word};
  if (const std::optional<A64Stub> stub = match_a64_stub(image, address)) {
    out.length = stub->length;
    out.flow = stub->slot != 0 ? Flow::kIndirect : Flow::kJump;
    out.target = stub->target;
    out.call_slot = stub->slot;
    out.native = kNoRecord;
    return true;
  }
  std::memcpy(&word, image.code(address), sizeof word);
  A64Record record;
  if (!decoder_.decode(word, address, record)) {
    reason = fmt::format("unknown instruction {:#010x} at {:#x}", word, address);
    return false;
  }
  out.flow = record.flow;
  const bool has_target =
      record.flow == Flow::kJump || record.flow == Flow::kBranch || record.flow == Flow::kCall;
  if (has_target) out.target = target_of(record);
  const bool by_register = record.flow == Flow::kCall && record.operand_count > 0 &&
                           record.operands[0].kind == A64Operand::Kind::kGpr;
  if (by_register) out.call_register = record.operands[0].reg;
  out.native = static_cast<uint32_t>(records_.size());
  records_.push_back(record);
  return true;
}

std::string A64FrontEnd::text(const Instruction& instruction) const {
  if (instruction.native == kNoRecord) {
    return instruction.call_slot != 0 ? fmt::format("stub [{:#x}]", instruction.call_slot)
                                      : fmt::format("stub {:#x}", instruction.target);
  }
  const A64Record& record = records_[instruction.native];
  return decoder_.text(record.word, record.address);
}

NodeId A64FrontEnd::translate(const Instruction& instruction, const Image&, Builder& builder) {
  if (instruction.native == kNoRecord) return kNoNode;
  A64Translator translator(records_, instruction.native, decoder_, builder);
  switch (instruction.flow) {
    case Flow::kNext: translator.translate(); return kNoNode;
    case Flow::kBranch: return translator.branch_condition();
    default: return kNoNode;
  }
}

std::vector<Place> A64FrontEnd::places(const std::vector<Type>& parameters) const {
  std::vector<Place> places;
  places.reserve(parameters.size());
  uint32_t integers = 0, floats = 0, stack_bytes = 0;
  for (const Type type : parameters) {
    uint32_t& used = is_float(type) ? floats : integers;
    if (used < kArgumentRegisters) {
      places.push_back({is_float(type) ? Place::Where::kVector : Place::Where::kGpr, used++});
    } else {
      places.push_back({Place::Where::kStack, stack_bytes});
      stack_bytes += 8;
    }
  }
  return places;
}

// v8 to v15 keep their lower halves, which is all a scalar function has in them.
bool A64FrontEnd::caller_saved(uint32_t variable) const {
  if (variable >= kFlagsVariable) return true;
  if (variable >= kVectorBase) {
    const uint32_t vector = variable - kVectorBase;
    return vector < 8 || vector > 15;
  }
  return variable <= 18 || variable == kA64Link;
}

}  // namespace

std::unique_ptr<FrontEnd> make_a64_front_end() {
  auto front_end = std::make_unique<A64FrontEnd>();
  if (!front_end->ready()) return nullptr;
  return front_end;
}

}  // namespace nrd::lift
