// SPDX-License-Identifier: MIT
// src/api/call.h: a caller's nereid_call, read and checked, and bound to an operator.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "api/call_key.h"
#include "api/status.h"
#include "ops/desc.h"

namespace nrd {

// More than any operator has; a larger count is a mistake.
constexpr int kMaxCallOperands = 32;

// The call in our version of the structs. Points into the caller's memory.
struct Call {
  nereid_call head{};
  std::array<nereid_tensor, kMaxCallOperands> tensors;  // filled up to operand_count
  std::array<bool, kMaxCallOperands> present;
  DeviceKind device = DeviceKind::kCpu;

  std::string_view op() const { return head.op; }
  int count() const { return head.operand_count; }
  std::string_view name(int i) const { return head.operands[i].name; }
};

// Reads structs, counts, ranks, dtypes and devices; shapes are bind()'s business. Fills `call`
// in place: it is large, and a repeated call should not copy it.
Expected<void> read_call(const nereid_call* given, Call& call);
// One tensor that stands alone (pack_b); `op` and `name` are for the message.
Expected<OperandDesc> read_operand(const nereid_tensor& tensor, std::string_view op,
                                   std::string_view name);
Expected<void> read_tensor(const nereid_tensor* given, std::string_view op, std::string_view name,
                           nereid_tensor& tensor);

void write_key(const Call& call, std::string_view backend, CallKey& key);

// A call bound to its operator; `order` maps the caller's operands to desc.operands (-1 where
// the caller gave none).
struct BoundCall {
  Desc desc;
  std::vector<int> order;
};
Expected<BoundCall> bind_call(const Call& call);

// What check_pointers() cannot see: index operands whose values must be rows of a table, which is
// the input whose first axis no output has (vocab of embedding, table of rope_with_pos).
struct IndexCheck {
  size_t operand = 0;
  int64_t limit = 0;
};
std::vector<IndexCheck> index_checks(const Desc& desc);
Expected<void> check_indices(const Desc& desc, std::span<const IndexCheck> checks,
                             void* const* pointers);

}  // namespace nrd
