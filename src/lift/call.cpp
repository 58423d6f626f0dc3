// SPDX-License-Identifier: MIT
// src/lift/call.cpp: every argument register and a fixed number of stack slots are filled,
// whatever the function takes: both calling conventions (System V x86-64, AAPCS64) leave unused
// ones alone, and the caller drops the stack.
#include "lift/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace nrd::lift {
namespace {

#if defined(__x86_64__)
constexpr size_t kIntegerRegisters = 6;
#elif defined(__aarch64__)
constexpr size_t kIntegerRegisters = 8;
#else
#error "which registers carry integer arguments on this machine?"
#endif
constexpr size_t kVectorRegisters = 8;

struct Arguments {
  std::array<int64_t, kIntegerRegisters> integers{};
  std::array<double, kVectorRegisters> vectors{};
  std::array<int64_t, kMaxStackArguments> stack{};
};

bool is_number(CKind kind) { return kind == CKind::kFloat || kind == CKind::kDouble; }

// Takes values from the lists in order and says how each is represented.
class Values {
 public:
  Values(void* const* pointers, const int64_t* integers, const double* numbers)
      : pointers_(pointers), integers_(integers), numbers_(numbers) {}

  int64_t next(CKind kind) {
    switch (kind) {
      case CKind::kPointer: return reinterpret_cast<int64_t>(*pointers_++);
      case CKind::kFloat: return std::bit_cast<int32_t>(static_cast<float>(*numbers_++));
      case CKind::kDouble: return std::bit_cast<int64_t>(*numbers_++);
      default: return *integers_++;
    }
  }

 private:
  void* const* pointers_;
  const int64_t* integers_;
  const double* numbers_;
};

size_t field_bytes(CKind kind) {
  const bool half = kind == CKind::kFloat || kind == CKind::kInt32 || kind == CKind::kUInt32;
  return half ? 4 : 8;
}

// 8-byte units keep a struct aligned.
int64_t make_struct(const CParam& param, Values& values, CallWords& call) {
  size_t bytes = 8;
  for (uint32_t offset : param.field_offset) bytes = std::max<size_t>(bytes, offset + 8);
  std::vector<int64_t>& memory = call.structs.emplace_back((bytes + 7) / 8);
  auto* base = reinterpret_cast<char*>(memory.data());
  for (size_t i = 0; i < param.fields.size(); i++) {
    const CKind kind = param.fields[i].kind;
    const int64_t value = values.next(kind);
    std::memcpy(base + param.field_offset[i], &value, field_bytes(kind));  // little endian
  }
  return reinterpret_cast<int64_t>(base);
}

Arguments arrange(const CSignature& signature, const CallWords& call) {
  Arguments arguments;
  size_t integers = 0, vectors = 0, stack = 0;
  for (size_t i = 0; i < signature.params.size(); i++) {
    const CParam& param = signature.params[i];
    const int64_t value = call.words[i];
    if (is_number(param.kind) && vectors < kVectorRegisters)
      arguments.vectors[vectors++] = std::bit_cast<double>(value);
    else if (!is_number(param.kind) && integers < kIntegerRegisters)
      arguments.integers[integers++] = value;
    else if (stack < kMaxStackArguments)
      arguments.stack[stack++] = value;
  }
  return arguments;
}

template <size_t>
using Int64 = int64_t;
template <size_t>
using Double = double;

// The function is called through another type than its own, which only the ABI defines.
template <class R, size_t... I, size_t... V, size_t... S>
__attribute__((no_sanitize("undefined"))) R call_as(const void* function, const Arguments& a,
                                                    std::index_sequence<I...>,
                                                    std::index_sequence<V...>,
                                                    std::index_sequence<S...>) {
  using Function = R (*)(Int64<I>..., Double<V>..., Int64<S>...);
  return reinterpret_cast<Function>(const_cast<void*>(function))(a.integers[I]..., a.vectors[V]...,
                                                                 a.stack[S]...);
}

template <class R>
R call_with(const void* function, const Arguments& arguments) {
  return call_as<R>(function, arguments, std::make_index_sequence<kIntegerRegisters>{},
                    std::make_index_sequence<kVectorRegisters>{},
                    std::make_index_sequence<kMaxStackArguments>{});
}

double call_for_number(const void* function, CKind result, const Arguments& arguments) {
  switch (result) {
    case CKind::kFloat: return call_with<float>(function, arguments);
    case CKind::kDouble: return call_with<double>(function, arguments);
    case CKind::kInt32: return call_with<int32_t>(function, arguments);
    case CKind::kUInt32: return call_with<uint32_t>(function, arguments);
    case CKind::kInt64: return static_cast<double>(call_with<int64_t>(function, arguments));
    default: return static_cast<double>(call_with<uint64_t>(function, arguments));
  }
}

size_t pointers_of(const std::vector<CParam>& params) {
  size_t count = 0;
  for (const CParam& p : params)
    count += p.kind == CKind::kStruct ? pointers_of(p.fields) : p.kind == CKind::kPointer;
  return count;
}

void store_result(CKind kind, double result, void* to) {
  if (kind == CKind::kDouble) {
    std::memcpy(to, &result, sizeof result);
  } else if (kind == CKind::kFloat) {
    const auto narrow = static_cast<float>(result);
    std::memcpy(to, &narrow, sizeof narrow);
  } else {
    const auto whole = static_cast<int32_t>(result);
    std::memcpy(to, &whole, sizeof whole);
  }
}

}  // namespace

Expected<void> check_callable(const CSignature& signature) {
  size_t integers = 0, numbers = 0;
  for (const CParam& param : signature.params) (is_number(param.kind) ? numbers : integers)++;
  const auto beyond = [](size_t count, size_t room) { return count > room ? count - room : 0; };
  const size_t stack = beyond(integers, kIntegerRegisters) + beyond(numbers, kVectorRegisters);
  if (stack <= kMaxStackArguments) return {};
  return make_error({.code = ErrorCode::kUnsupported,
                     .argument = "signature",
                     .got = fmt::format("{} parameters", signature.params.size()),
                     .allowed = fmt::format("{} beyond the registers", kMaxStackArguments),
                     .hint = "pass them in a struct"});
}

CallWords call_words(const CSignature& signature, void* const* pointers,
                     const int64_t* sizes_and_ints, const double* numbers) {
  Values values(pointers, sizes_and_ints, numbers);
  CallWords call;
  call.words.reserve(signature.params.size());
  for (const CParam& param : signature.params)
    call.words.push_back(param.kind == CKind::kStruct ? make_struct(param, values, call)
                                                      : values.next(param.kind));
  return call;
}

void call_function(const void* function, const CSignature& signature, void* const* pointers,
                   const int64_t* sizes_and_ints, const double* numbers, double* result) {
  const CallWords call = call_words(signature, pointers, sizes_and_ints, numbers);
  const Arguments arguments = arrange(signature, call);
  if (signature.returns_void) return call_with<void>(function, arguments);
  const double value = call_for_number(function, signature.result, arguments);
  if (result)
    *result = value;
  else if (!is_map(signature))
    store_result(signature.result, value, pointers[pointers_of(signature.params)]);
}

}  // namespace nrd::lift
