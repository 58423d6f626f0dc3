// SPDX-License-Identifier: MIT
// src/lift/calls.h: what a called function is, by its name.
#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "lift/flat_map.h"
#include "lift/function.h"

namespace nrd::lift {

enum class CallKind : uint8_t {
  kPure,      // a mathematical function: `op` on `arity` arguments of `type`
  kRoundTo,   // nrd_round_to_f32
  kSinCos,    // sincosf(x, &s, &c): two pure functions, two stores
  kCopy,      // memcpy, memmove
  kFill,      // memset
  kNoReturn,  // abort and the like: the path that leads here is not part of the operator
  kIgnored,   // instrumentation
  kHelper,    // code that we can read: lifted in place
  kUnknown,
};

struct CallTarget {
  CallKind kind = CallKind::kUnknown;
  TraceOp op = TraceOp::kConst;
  Type type = Type::kF32;
  int arity = 0;
  uint64_t address = 0;  // of a helper
  std::string name;      // empty where nobody knows it
};

// By name alone; kUnknown for what is in no table.
CallTarget library_function(std::string_view name);

// The function behind an address: past jumps, stubs and landing pads. Answers are remembered.
class CallResolver {
 public:
  CallResolver(const Image& image, FrontEnd& front_end) : image_(image), front_end_(front_end) {}

  const CallTarget& of_address(uint64_t address);
  const CallTarget& of_slot(uint64_t slot);
  // Calls whose length is known at run time only, which were met before: the loop that is read in
  // their place, or null (stand_ins.h).
  struct BlockCall {
    uint64_t site = 0;
    size_t element_bytes = 0;
  };
  std::vector<BlockCall> block_calls;
  const CallTarget* stand_in(uint64_t site, const CallTarget& target);
  // Past endbr64 or bti, which some functions and stubs begin with.
  uint64_t skip_landing_pad(uint64_t address) const;

 private:
  CallTarget look_up_address(uint64_t address, int hops);
  CallTarget look_up_slot(uint64_t slot, int hops);

  const Image& image_;
  FrontEnd& front_end_;
  std::deque<CallTarget> targets_;  // references stay valid
  FlatMap by_address_, by_slot_;
};

}  // namespace nrd::lift
