// SPDX-License-Identifier: MIT
// src/compiler/user_function.cpp: the calls behind a user's operator.
#include "compiler/user_function.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "lift/call.h"
#include "trace/bounded.h"
#include "trace/extents.h"

namespace nrd {
namespace {

using lift::CKind;
using lift::CParam;

bool is_number(CKind kind) { return kind == CKind::kFloat || kind == CKind::kDouble; }
DType number_dtype(CKind kind) { return kind == CKind::kDouble ? DType::kF64 : DType::kF32; }

// A struct's fields stand where the struct stood.
void flatten(const std::vector<CParam>& params, std::vector<CParam>& out) {
  for (const CParam& p : params)
    if (p.kind == CKind::kStruct)
      flatten(p.fields, out);
    else
      out.push_back(p);
}

Error refuse(const UserFunction& user, std::string got, std::string allowed) {
  return make_error({.code = ErrorCode::kUnsupported,
                     .op = user.name,
                     .argument = lift::signature_text(user.signature),
                     .got = std::move(got),
                     .allowed = std::move(allowed)});
}

// float f(float, ...): each argument is an array, and so is the result.
Expected<void> describe_map(UserFunction& user) {
  if (!is_number(user.signature.result))
    return refuse(user, "an integer is returned for each number", "float or double");
  for (const CParam& p : user.signature.params) user.elements.push_back(number_dtype(p.kind));
  user.inputs = user.elements.size();
  user.elements.push_back(number_dtype(user.signature.result));
  user.sizes = 1;
  for (size_t i = 0; i < user.elements.size(); i++) user.operand_of_pointer.push_back(i);
  return {};
}

// What a function of pointers returns is an output behind the others.
Expected<void> describe_result(UserFunction& user) {
  const CKind kind = user.signature.result;
  if (user.elements.empty())
    return refuse(user, "an integer parameter beside a returned value, and no pointer",
                  "float and double parameters only, or pointers");
  if (!is_number(kind) && kind != CKind::kInt32)
    return refuse(user, "an integer that no dtype holds is returned", "float, double or int32_t");
  user.operand_of_pointer.push_back(user.elements.size());
  user.elements.push_back(is_number(kind) ? number_dtype(kind) : DType::kI32);
  return {};
}

Expected<void> describe_operands(UserFunction& user) {
  std::vector<CParam> flat;
  flatten(user.signature.params, flat);
  std::vector<DType> outputs;
  for (const CParam& p : flat) {
    if (p.kind == CKind::kPointer)
      (p.is_const ? user.elements : outputs).push_back(p.element);
    else if (is_number(p.kind))
      user.numbers.push_back(p.name);
    else
      user.sizes++;
  }
  user.inputs = user.elements.size();
  size_t next_input = 0, next_output = user.inputs;
  for (const CParam& p : flat)
    if (p.kind == CKind::kPointer)
      user.operand_of_pointer.push_back(p.is_const ? next_input++ : next_output++);
  user.elements.insert(user.elements.end(), outputs.begin(), outputs.end());
  return user.signature.returns_void ? Expected<void>() : describe_result(user);
}

void call_as_it_is(const void* context, const InstanceArgs& args) {
  const auto& user = *static_cast<const UserFunction*>(context);
  std::array<void*, kMaxOperands> pointers{};
  for (size_t i = 0; i < user.operand_of_pointer.size(); i++)
    pointers[i] = args.pointers[user.operand_of_pointer[i]];
  std::array<int64_t, kMaxRank> sizes{};
  for (size_t i = 0; i < user.sizes; i++) sizes[i] = static_cast<int64_t>(args.sizes[i]);
  lift::call_function(user.function, user.signature, pointers.data(), sizes.data(), args.numbers,
                      nullptr);
}

double element(const void* base, DType dtype, size_t i) {
  return dtype == DType::kF64 ? static_cast<const double*>(base)[i]
                              : static_cast<const float*>(base)[i];
}

// float f(float, ...): one call an element.
void call_each(const void* context, const InstanceArgs& args) {
  const auto& user = *static_cast<const UserFunction*>(context);
  std::array<double, kMaxOperands> numbers{};
  void* out = args.pointers[user.inputs];
  for (size_t i = 0; i < args.sizes[0]; i++) {
    for (size_t a = 0; a < user.inputs; a++)
      numbers[a] = element(args.pointers[a], user.elements[a], i);
    double result = 0;
    lift::call_function(user.function, user.signature, nullptr, nullptr, numbers.data(), &result);
    if (user.elements[user.inputs] == DType::kF64)
      static_cast<double*>(out)[i] = result;
    else
      static_cast<float*>(out)[i] = static_cast<float>(result);
  }
}

// Floats are doubles in the reference; integers keep their type.
void store_double(void* base, DType dtype, int64_t i, double value) {
  if (is_float(dtype))
    static_cast<double*>(base)[i] = value;
  else if (dtype == DType::kI32)
    static_cast<int32_t*>(base)[i] = static_cast<int32_t>(value);
  else
    static_cast<int8_t*>(base)[i] = static_cast<int8_t>(static_cast<int32_t>(value));
}

double load_double(const void* base, DType dtype, size_t i) {
  if (is_float(dtype)) return static_cast<const double*>(base)[i];
  if (dtype == DType::kI32) return static_cast<const int32_t*>(base)[i];
  if (dtype == DType::kU8) return static_cast<const uint8_t*>(base)[i];
  return static_cast<const int8_t*>(base)[i];
}

// The trace in double: the checker's reference. Floating operands are arrays of doubles.
void evaluate_in_double(const void* context, const InstanceArgs& args) {
  const auto& user = *static_cast<const UserFunction*>(context);
  std::vector<int64_t> sizes;
  for (const TraceParam& p : user.trace.params)
    if (p.kind == TraceParamKind::kSize)
      sizes.push_back(static_cast<int64_t>(args.sizes[sizes.size()]));
  const std::vector<Extent> touched = extents(user.trace, sizes);
  std::vector<std::vector<Bounded>> memory;
  std::vector<void*> pointers;
  memory.reserve(touched.size());
  for (const TraceParam& p : user.trace.params) {
    if (p.kind != TraceParamKind::kPointer) continue;
    const size_t i = pointers.size();
    pointers.push_back(args.pointers[i]);
    if (!is_float(p.dtype) && !p.written) continue;
    std::vector<Bounded>& wide = memory.emplace_back(static_cast<size_t>(touched[i].end));
    pointers[i] = wide.data();
    for (size_t e = 0; e < wide.size(); e++)
      wide[e].value = load_double(args.pointers[i], p.dtype, e);
  }
  interpret_bounded(user.trace, {pointers.data(), sizes.data(), args.numbers, args.types});
  size_t pointer = 0;
  for (const TraceParam& p : user.trace.params) {
    if (p.kind != TraceParamKind::kPointer) continue;
    const size_t i = pointer++;
    if (!p.written) continue;
    const auto* wide = static_cast<const Bounded*>(pointers[i]);
    for (int64_t e = 0; e < touched[i].end; e++)
      store_double(args.pointers[i], p.dtype, e, wide[e].value);
  }
}

// The trace with pointers in operand order, everything else in place.
OpTrace with_operands_in_order(OpTrace trace, const std::vector<size_t>& operand_of_pointer) {
  std::vector<uint16_t> pointers, place(trace.params.size());
  for (uint16_t p = 0; p < trace.params.size(); p++) {
    place[p] = p;
    if (trace.params[p].kind == TraceParamKind::kPointer) pointers.push_back(p);
  }
  const std::vector<TraceParam> old = trace.params;
  for (size_t i = 0; i < pointers.size() && i < operand_of_pointer.size(); i++) {
    place[pointers[i]] = pointers[operand_of_pointer[i]];
    trace.params[place[pointers[i]]] = old[pointers[i]];
  }
  for (Value& v : trace.values)
    if (v.op == TraceOp::kLoad || v.op == TraceOp::kStore) v.index = place[v.index];
  return trace;
}

// A pointer is const exactly if nothing is stored through it.
void note_written(std::vector<CParam>& params, const OpTrace& trace, size_t& next) {
  for (CParam& p : params) {
    if (p.kind == CKind::kStruct)
      note_written(p.fields, trace, next);
    else if (const TraceParam& traced = trace.params[next++]; p.kind == CKind::kPointer)
      p.is_const = !traced.written;
  }
}

Definition definition(const UserFunction& user,
                      void (*call)(const void* context, const InstanceArgs&)) {
  Definition d;
  d.context = &user;
  d.call = call;
  d.operands = static_cast<int>(user.elements.size());
  d.sizes = static_cast<int>(user.sizes);
  d.numbers = static_cast<int>(user.numbers.size());
  std::copy(user.elements.begin(), user.elements.end(), d.native.begin());
  return d;
}

}  // namespace

Expected<void> describe_function(UserFunction& user) {
  NRD_TRY(lift::check_callable(user.signature));
  user.elements.clear();
  user.numbers.clear();
  user.operand_of_pointer.clear();
  user.sizes = 0;
  NRD_TRY(lift::is_map(user.signature) ? describe_map(user) : describe_operands(user));
  if (user.elements.size() > kMaxOperands)
    return refuse(user, fmt::format("{} operands", user.elements.size()),
                  fmt::format("at most {}", kMaxOperands));
  if (user.sizes > kMaxRank)
    return refuse(user, fmt::format("{} integers", user.sizes),
                  fmt::format("at most {}", kMaxRank));
  if (user.inputs == user.elements.size())
    return refuse(user, "no pointer to write through", "a pointer to what is not const");
  return {};
}

Expected<void> keep_trace(UserFunction& user, OpTrace trace) {
  if (!lift::is_map(user.signature)) {
    size_t next = 0;
    note_written(user.signature.params, trace, next);
    NRD_TRY(describe_function(user));
  }
  user.trace = with_operands_in_order(std::move(trace), user.operand_of_pointer);
  return {};
}

std::vector<IntegerParam> integer_params(const UserFunction& user) {
  std::vector<IntegerParam> list;
  std::vector<CParam> flat;
  flatten(user.signature.params, flat);
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  for (const CParam& p : flat) switch (p.kind) {
      case CKind::kInt32: list.push_back({p.name, "int", -0x80000000LL, 0x7fffffffLL}); break;
      case CKind::kUInt32: list.push_back({p.name, "unsigned", 0, 0xffffffffLL}); break;
      case CKind::kInt64: list.push_back({p.name, "int64_t", -kMost - 1, kMost}); break;
      case CKind::kUInt64: list.push_back({p.name, "size_t", 0, kMost}); break;
      default: break;
    }
  return list;
}

Definition function_definition(const UserFunction& user) {
  return definition(user, lift::is_map(user.signature) ? call_each : call_as_it_is);
}

Definition reference_definition(const UserFunction& user) {
  Definition d = definition(user, evaluate_in_double);
  for (DType& native : d.native)
    if (is_float(native)) native = DType::kF64;
  return d;
}

}  // namespace nrd
