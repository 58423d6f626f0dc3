// SPDX-License-Identifier: MIT
// src/api/call.h: a caller's nereid_call, read and checked, and bound to an operator.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "api/call_key.h"
#include "api/names.h"
#include "api/status.h"
#include "ops/desc.h"

namespace nrd {

// More than any operator has; a larger count is a mistake.
constexpr int kMaxCallOperands = 32;

// The call in our version of the structs. Points into the caller's memory.
struct Call {
  nereid_call head{};  // op is that of the kept names, where there are such
  std::array<nereid_tensor, kMaxCallOperands> tensors;  // filled up to operand_count
  std::array<bool, kMaxCallOperands> present;
  Device device;  // of all operands

  std::string_view op() const { return head.op; }
  int count() const { return head.operand_count; }
  std::string_view name(int i) const {
    if (head.names) return head.names->operands[static_cast<size_t>(i)];
    return head.operands[i].name;
  }
  std::string_view attribute_name(int i) const {
    if (head.names) return head.names->attributes[static_cast<size_t>(i)];
    return head.attributes[i].name;
  }
};

// Reads structs, counts, ranks, dtypes and devices; shapes are bind()'s business. Fills `call`
// in place: it is large, and a repeated call should not copy it.
Expected<void> read_call(const nereid_call* given, Call& call);
// One tensor that stands alone (pack_b); `op` and `name` are for the message.
Expected<OperandDesc> read_operand(const nereid_tensor& tensor, std::string_view op,
                                   std::string_view name);
Expected<void> read_tensor(const nereid_tensor* given, std::string_view op, std::string_view name,
                           nereid_tensor& tensor);

// Where a tensor that was read lies.
Device device_of(const nereid_tensor& tensor);

// For what has no form on a device.
Expected<void> check_on_cpu(const nereid_tensor& tensor, std::string_view op,
                            std::string_view name);

// An output must be writable, and no two of its elements the same memory.
Expected<void> check_output(std::string_view op, std::string_view name, const nereid_tensor& tensor,
                            const OperandDesc& operand);

// `generation` is plan_generation(): keys of another one are never equal.
void write_key(const Call& call, std::string_view backend, uint64_t generation, CallKey& key);

// A call bound to its operator; `order` maps the caller's operands to desc.operands (-1 where
// the caller gave none).
struct BoundCall {
  Desc desc;
  std::vector<int> order;
};
Expected<BoundCall> bind_call(const Call& call);

// What check_pointers() cannot see: values that lead to indices. Of the catalogue, index operands
// must be rows of a table, which is the input whose first axis no output has (vocab of embedding,
// table of rope_with_pos); of a user's function, bind() found the values (Desc::value_checks).
struct IndexCheck {
  size_t operand = 0;
  DType dtype = DType::kI32;
  double low = 0, high = 0;  // both allowed
  int64_t contiguous = -1;   // elements that lie side by side; -1: they do not
};
std::vector<IndexCheck> index_checks(const Desc& desc);
// True is certain; after false, check_indices() has the last word, and the words.
bool indices_pass(std::span<const IndexCheck> checks, void* const* pointers);
Expected<void> check_indices(const Desc& desc, std::span<const IndexCheck> checks,
                             void* const* pointers);

}  // namespace nrd
