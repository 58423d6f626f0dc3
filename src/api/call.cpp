// SPDX-License-Identifier: MIT
// src/api/call.cpp: reads a call without trusting it, and binds it.
#include "api/call.h"

#include <algorithm>

#include "base/device.h"

namespace nrd {
namespace {

Error misuse(std::string_view op, std::string_view argument, std::string got, std::string allowed,
             std::string hint = "") {
  return make_error({ErrorCode::kInvalidArgument, std::string(op), std::string(argument),
                     std::move(got), std::move(allowed), std::move(hint)});
}

std::string dtype_words() {
  std::string words;
  for (const DTypeInfo& d : all_dtypes())
    words += (words.empty() ? "" : ", ") + std::string(d.word);
  return words;
}

Expected<void> check_tensor(const nereid_tensor& t, std::string_view op, std::string_view name) {
  if (t.rank < 0 || t.rank > kMaxRank)
    return make_error({ErrorCode::kShapeMismatch, std::string(op), std::string(name),
                       fmt::format("{} axes", t.rank), fmt::format("0 to {} axes", kMaxRank), ""});
  if (t.rank > 0 && t.sizes == nullptr)
    return misuse(op, name, "null sizes", fmt::format("{} sizes", t.rank));
  if (byte_size(static_cast<DType>(t.dtype)) == 0)
    return make_error({ErrorCode::kUnsupportedDtype, std::string(op), std::string(name),
                       fmt::format("dtype number {}", t.dtype), dtype_words(), ""});
  if (t.device != NEREID_CPU && t.device != NEREID_CUDA)
    return misuse(op, name, fmt::format("device number {}", t.device), "cpu (0), cuda (1)");
  if (t.device == NEREID_CUDA && t.device_index < 0)
    return misuse(op, name, fmt::format("device_index {}", t.device_index), "0 or more");
  if (t.flags & ~static_cast<uint32_t>(NEREID_READ_ONLY | NEREID_CONSTANT))
    return misuse(op, name, fmt::format("flags {:#x}", t.flags),
                  "NEREID_READ_ONLY, NEREID_CONSTANT");
  if (t.form && !is_kept_form(t.form))
    return misuse(op, name, "a form that does not exist", "NULL, or that of nereid_packed_tensor");
  return {};
}

Expected<void> check_list(std::string_view op, std::string_view what, const void* list,
                          int32_t count, int most) {
  if (count < 0 || count > most)
    return misuse(op, fmt::format("{}_count", what), fmt::format("{}", count),
                  fmt::format("0 to {}", most));
  if (count > 0 && list == nullptr)
    return misuse(op, fmt::format("{}s", what), "a null pointer",
                  fmt::format("{} elements", count));
  return {};
}

// The kept names against the lists of the call.
Expected<void> check_kept_names(const Call& call) {
  const nereid_names& names = *call.head.names;
  if (static_cast<size_t>(call.count()) != names.operands.size())
    return misuse(call.op(), "operand_count", fmt::format("{}", call.count()),
                  fmt::format("{}, as names were kept", names.operands.size()));
  if (static_cast<size_t>(call.head.attribute_count) != names.attributes.size())
    return misuse(call.op(), "attribute_count", fmt::format("{}", call.head.attribute_count),
                  fmt::format("{}, as names were kept", names.attributes.size()));
  return {};
}

Expected<void> check_names(const Call& call) {
  if (call.head.names) return check_kept_names(call);
  for (int32_t i = 0; i < call.head.attribute_count; i++)
    if (call.head.attributes[i].name == nullptr)
      return misuse(call.op(), fmt::format("attributes[{}].name", i), "a null pointer", "a name");
  for (int32_t i = 0; i < call.count(); i++)
    if (call.head.operands[i].name == nullptr)
      return misuse(call.op(), fmt::format("operands[{}].name", i), "a null pointer", "a name");
  return {};
}

Expected<Attributes> attributes_of(const Call& call) {
  Attributes attributes;
  for (int32_t i = 0; i < call.head.attribute_count; i++) {
    const nereid_attribute& a = call.head.attributes[i];
    const AttributeValue value = a.word ? AttributeValue(std::string(a.word)) : a.number;
    if (!attributes.emplace(call.attribute_name(i), value).second)
      return misuse(call.op(), call.attribute_name(i), "two values", "each attribute once");
  }
  return attributes;
}

// Whether offsets in bytes can be computed without overflow.
bool strides_fit(const OperandDesc& operand) {
  for (int64_t size : operand.sizes)
    if (size == 0) return true;  // nothing lies anywhere
  constexpr int64_t kMost = int64_t{1} << 62;
  int64_t left = kMost / static_cast<int64_t>(byte_size(operand.dtype));
  for (int d = 0; d < operand.sizes.size(); d++) {
    int64_t reach = 0;
    const int64_t steps = std::max<int64_t>(operand.sizes[d] - 1, 1);
    if (__builtin_mul_overflow(operand.strides[d], steps, &reach)) return false;
    if (reach < -left || reach > left) return false;
    left -= reach < 0 ? -reach : reach;
  }
  return true;
}

uint64_t magnitude(int64_t x) {
  return x < 0 ? uint64_t{0} - static_cast<uint64_t>(x) : static_cast<uint64_t>(x);
}

// Whether no two elements share memory. Like overlap(), it is careful: views whose axes
// interleave without meeting are refused. Axes are visited by growing stride; each step must lead
// beyond all that the smaller ones reach.
bool is_injective(const OperandDesc& operand) {
  for (int64_t size : operand.sizes)
    if (size == 0) return true;
  uint64_t reach = 0;
  std::array<bool, kMaxRank> visited{};
  for (int round = 0; round < operand.sizes.size(); round++) {
    int next = -1;
    for (int d = 0; d < operand.sizes.size(); d++)
      if (!visited[static_cast<size_t>(d)] && operand.sizes[d] > 1 &&
          (next < 0 || magnitude(operand.strides[d]) < magnitude(operand.strides[next])))
        next = d;
    if (next < 0) return true;
    visited[static_cast<size_t>(next)] = true;
    const uint64_t stride = magnitude(operand.strides[next]);
    uint64_t span = 0;
    if (stride <= reach) return false;
    if (__builtin_mul_overflow(stride, static_cast<uint64_t>(operand.sizes[next] - 1), &span) ||
        __builtin_add_overflow(reach, span, &reach))
      return false;  // no memory is that large
  }
  return true;
}

Expected<void> check_outputs(const Call& call, const BoundCall& bound) {
  for (int i = 0; i < call.count(); i++) {
    const int at = bound.order[static_cast<size_t>(i)];
    if (at < bound.desc.signature().inputs) continue;
    NRD_TRY(check_output(call.op(), call.name(i), call.tensors[static_cast<size_t>(i)],
                         bound.desc.operands[static_cast<size_t>(at)]));
  }
  return {};
}

}  // namespace

Device device_of(const nereid_tensor& tensor) {
  if (tensor.device == NEREID_CPU) return {};
  return {DeviceKind::kCuda, tensor.device_index};
}

Expected<void> check_on_cpu(const nereid_tensor& tensor, std::string_view op,
                            std::string_view name) {
  const Device device = device_of(tensor);
  if (device.kind == DeviceKind::kCpu) return {};
  return make_error({ErrorCode::kUnsupported, std::string(op), std::string(name),
                     "memory of " + to_string(device), "memory of cpu",
                     "packed matrices are the CPU's; on a GPU use gemm or fp8_gemm"});
}

Expected<void> check_output(std::string_view op, std::string_view name, const nereid_tensor& tensor,
                            const OperandDesc& operand) {
  if (operand.form) return misuse(op, name, operand.form->text(), "an output as its strides say");
  if (tensor.flags & NEREID_READ_ONLY)
    return misuse(op, name, "read-only memory", "memory that may be written");
  if (!is_injective(operand))
    return make_error({ErrorCode::kOverlap, std::string(op), std::string(name),
                       fmt::format("shape {} with strides {}", to_string(operand.sizes),
                                   to_string(operand.strides)),
                       "an output whose elements do not share memory", ""});
  return {};
}

Expected<void> read_tensor(const nereid_tensor* given, std::string_view op, std::string_view name,
                           nereid_tensor& tensor) {
  if (Expected<void> read = read_struct(given, "nereid_tensor", tensor); !read) {
    Error error = read.error();
    error.op = op;
    error.argument = fmt::format("{}: {}", name, error.argument);
    return error;
  }
  return check_tensor(tensor, op, name);
}

Expected<OperandDesc> read_operand(const nereid_tensor& t, std::string_view op,
                                   std::string_view name) {
  OperandDesc operand;
  operand.dtype = static_cast<DType>(t.dtype);
  operand.sizes = Dims(std::span(t.sizes, static_cast<size_t>(t.rank)));
  operand.constant = (t.flags & NEREID_CONSTANT) != 0;
  operand.form = reinterpret_cast<const Form*>(t.form);
  Expected<int64_t> count = element_count(operand.sizes, byte_size(operand.dtype));
  if (!count) {
    Error error = count.error();
    error.code = ErrorCode::kShapeMismatch;
    error.op = op;
    error.argument = name;
    return error;
  }
  operand.strides = t.strides ? Dims(std::span(t.strides, static_cast<size_t>(t.rank)))
                              : contiguous_strides(operand.sizes);
  if (!strides_fit(operand))
    return make_error({ErrorCode::kShapeMismatch, std::string(op), std::string(name),
                       "strides " + to_string(operand.strides), "a reach of less than 2^62 bytes",
                       "strides are in elements"});
  return operand;
}

Expected<void> read_call(const nereid_call* given, Call& call) {
  NRD_TRY(read_struct(given, "nereid_call", call.head));
  if (call.head.names) call.head.op = call.head.names->op.c_str();
  if (call.head.op == nullptr) return null_error("nereid_call.op", "an operator's name");
  NRD_TRY(check_list(call.op(), "operand", call.head.operands, call.count(), kMaxCallOperands));
  NRD_TRY(check_list(call.op(), "attribute", call.head.attributes, call.head.attribute_count,
                     kMaxCallOperands));
  NRD_TRY(check_names(call));
  if (call.head.threads < 0)
    return misuse(call.op(), "threads", fmt::format("{}", call.head.threads), "0 or more");
  int first = -1;  // whose device is that of all
  for (int i = 0; i < call.count(); i++) {
    const nereid_tensor* tensor = call.head.operands[i].tensor;
    const auto at = static_cast<size_t>(i);
    call.present[at] = tensor != nullptr;
    if (!tensor) continue;
    NRD_TRY(read_tensor(tensor, call.op(), call.name(i), call.tensors[at]));
    const Device device = device_of(call.tensors[at]);
    if (first >= 0 && device != call.device)
      return misuse(
          call.op(), call.name(i), "memory of " + to_string(device),
          fmt::format("memory of {}, where '{}' is", to_string(call.device), call.name(first)),
          "copy one of the two");
    call.device = device;
    if (first < 0) first = i;
  }
  return {};
}

void write_key(const Call& call, std::string_view backend, uint64_t generation, CallKey& key) {
  key.add(static_cast<int64_t>(generation));
  key.add(call.op());
  key.add(backend);
  key.add(static_cast<int64_t>(call.head.attribute_count));
  for (int32_t i = 0; i < call.head.attribute_count; i++) {
    const nereid_attribute& a = call.head.attributes[i];
    key.add(call.attribute_name(i));
    key.add(static_cast<int64_t>(a.word != nullptr));
    if (a.word)
      key.add(std::string_view(a.word));
    else
      key.add(a.number);
  }
  for (int i = 0; i < call.count(); i++) {
    key.add(call.name(i));
    const auto at = static_cast<size_t>(i);
    if (!call.present[at]) {
      key.add(int64_t{-1});
      continue;
    }
    const nereid_tensor& t = call.tensors[at];
    key.add(static_cast<int64_t>(t.dtype) << 32 | t.rank << 16 | t.device << 8 |
            static_cast<int64_t>(t.flags) << 1 | (t.strides != nullptr));
    key.add(static_cast<int64_t>(t.device_index));
    key.add(static_cast<int64_t>(reinterpret_cast<intptr_t>(t.form)));
    key.add(t.sizes, t.rank);
    if (t.strides) key.add(t.strides, t.rank);
  }
}

Expected<BoundCall> bind_call(const Call& call) {
  Expected<const Op*> op = find_op(call.op());
  if (!op) return op.error();
  std::vector<NamedOperand> operands;
  for (int i = 0; i < call.count(); i++) {
    if (!call.present[static_cast<size_t>(i)]) continue;
    for (const NamedOperand& known : operands)
      if (known.name == call.name(i))
        return misuse(call.op(), call.name(i), "two tensors", "one tensor for each operand");
    Expected<OperandDesc> operand =
        read_operand(call.tensors[static_cast<size_t>(i)], call.op(), call.name(i));
    if (!operand) return operand.error();
    operands.push_back({std::string(call.name(i)), *operand});
  }
  Expected<Attributes> attributes = attributes_of(call);
  if (!attributes) return attributes.error();
  Expected<Desc> desc = bind(**op, *attributes, std::move(operands));
  if (!desc) return desc.error();
  BoundCall bound{std::move(*desc), {}};
  bound.desc.device = call.device;
  for (int i = 0; i < call.count(); i++)
    bound.order.push_back(call.present[static_cast<size_t>(i)]
                              ? bound.desc.signature().find_operand(call.name(i))
                              : -1);
  NRD_TRY(check_outputs(call, bound));
  return bound;
}

}  // namespace nrd
