// SPDX-License-Identifier: MIT
// src/lift/function_machine.h: runs a Function on memory of its own, and tells where the code it
// was made from would go wrong: an access outside, a division that traps, a path without return.
#pragma once

#include <span>

#include "lift/function.h"

namespace nrd::lift {

// Memory that a run may touch. The function sees region i at region_address(i): so far apart that
// no access that misses one meets another.
struct MemoryRegion {
  char* data = nullptr;
  size_t bytes = 0;
};
constexpr uint64_t region_address(size_t i) { return static_cast<uint64_t>(i + 1) << 56; }
constexpr size_t kMaxRegions = 100;

enum class Fault : uint8_t {
  kNone,
  kLoad,     // outside every region and all read-only data
  kStore,    // outside every region
  kDivide,   // by zero, or a quotient that does not fit
  kAbort,    // a path that does not return
  kTooLong,  // more steps than allowed: not known to go wrong
};

struct FunctionRun {
  Fault fault = Fault::kNone;
  NodeId node = kNoNode;  // what went wrong
  uint64_t result = 0;    // the bits of what is returned
  int64_t steps = 0;
};

class FunctionMachine {
 public:
  // The function must outlive the machine. A function with something that the machine does not
  // know is refused.
  static Expected<FunctionMachine> make(const Function& function, const Image& image);

  // Arguments are the bits of each parameter (floats in the low half, pointers into regions).
  FunctionRun run(std::span<const uint64_t> arguments, std::span<const MemoryRegion> memory,
                  int64_t most_steps);

  // Whether the address or the divisor of a fault was made from loaded data.
  bool depends_on_data(const FunctionRun& run, const CSignature& signature) const;
  // "a division by zero at 0x40123a"
  std::string fault_text(const FunctionRun& run) const;

 private:
  FunctionMachine(const Function& function, const Image& image);
  void plan(BlockId block);
  void plan_node(NodeId id, std::vector<bool>& planned, std::vector<NodeId>& order);
  void enter(BlockId block, BlockId from);
  Fault execute(NodeId id);
  Fault check_trap(NodeId id) const;
  char* place(uint64_t address, size_t bytes) const;
  bool is_shadow(uint64_t address) const;
  Fault load(NodeId id);
  Fault store(NodeId id);
  uint64_t compute(const Node& node) const;
  uint64_t pure(const Node& node) const;

  const Function* function_;
  const Image* image_;
  std::vector<std::vector<NodeId>> order_;  // of each block: what it computes and touches, in order
  std::vector<uint64_t> values_;            // of the nodes
  std::vector<uint64_t> next_;              // of phis while they replace each other
  std::span<const MemoryRegion> memory_;
};

}  // namespace nrd::lift
