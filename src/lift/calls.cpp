// SPDX-License-Identifier: MIT
// src/lift/calls.cpp: see calls.h.
#include "lift/calls.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "lift/stand_ins.h"

namespace nrd::lift {
namespace {

struct MathFunction {
  std::string_view name;  // of the double version
  TraceOp op;
  int arity = 1;
};

constexpr MathFunction kMathFunctions[] = {
    {"exp", TraceOp::kExp},        {"exp2", TraceOp::kExp2},
    {"expm1", TraceOp::kExpm1},    {"log", TraceOp::kLog},
    {"log2", TraceOp::kLog2},      {"log10", TraceOp::kLog10},
    {"log1p", TraceOp::kLog1p},    {"tanh", TraceOp::kTanh},
    {"erf", TraceOp::kErf},        {"erfc", TraceOp::kErfc},
    {"sin", TraceOp::kSin},        {"cos", TraceOp::kCos},
    {"tan", TraceOp::kTan},        {"sinh", TraceOp::kSinh},
    {"cosh", TraceOp::kCosh},      {"asin", TraceOp::kAsin},
    {"acos", TraceOp::kAcos},      {"atan", TraceOp::kAtan},
    {"cbrt", TraceOp::kCbrt},      {"sqrt", TraceOp::kSqrt},
    {"fabs", TraceOp::kAbs},       {"floor", TraceOp::kFloor},
    {"ceil", TraceOp::kCeil},      {"trunc", TraceOp::kTrunc},
    {"rint", TraceOp::kRint},      {"nearbyint", TraceOp::kRint},
    {"roundeven", TraceOp::kRint}, {"pow", TraceOp::kPow, 2},
    {"atan2", TraceOp::kAtan2, 2}, {"fmod", TraceOp::kFmod, 2},
    {"hypot", TraceOp::kHypot, 2}, {"fmax", TraceOp::kMaxNum, 2},
    {"fmin", TraceOp::kMinNum, 2}, {"copysign", TraceOp::kCopySign, 2},
    {"fma", TraceOp::kFma, 3},
};

constexpr std::string_view kNoReturn[] = {
    "abort",
    "exit",
    "_exit",
    "_Exit",
    "quick_exit",
    "__assert_fail",
    "__assert",
    "__assert_perror_fail",
    "__stack_chk_fail",
    "__stack_chk_fail_local",
    "__chk_fail",
    "__fortify_fail",
    "_Unwind_Resume",
    "__clang_call_terminate",
    "_ZSt9terminatev",
    "__cxa_throw",
    "__cxa_rethrow",
    "__cxa_pure_virtual",
    "__cxa_call_unexpected",
    "__cxa_call_terminate",
};
constexpr std::string_view kNoReturnPrefixes[] = {
    "__asan_report_", "__ubsan_handle_", "__cxa_bad_", "__cxa_throw_", "_ZSt17__throw_",
};

constexpr std::string_view kIgnored[] = {
    "mcount",      "_mcount",     "__fentry__",   "__mcount",
    "__gcov_init", "__gcov_exit", "__gcov_flush", "__asan_handle_no_return"};
constexpr std::string_view kIgnoredPrefixes[] = {"__gcov_", "__sanitizer_cov_trace_pc",
                                                 "__cyg_profile_func_"};

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool starts_with_one_of(std::string_view name, std::span<const std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

void drop_suffix(std::string_view& name, std::string_view suffix) {
  if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
}

// expf@GLIBC_2.27, __expf_finite and __expf_fma are all expf.
std::string_view plain_name(std::string_view name) {
  name = name.substr(0, name.find('@'));
  if (!name.starts_with("__")) return name;
  std::string_view inner = name.substr(2);
  for (const std::string_view suffix :
       {"_finite", "_fma", "_fma4", "_sse2", "_sse4_1", "_avx2", "_c"})
    drop_suffix(inner, suffix);
  return inner;
}

const MathFunction* find_math(std::string_view name) {
  for (const MathFunction& f : kMathFunctions)
    if (f.name == name) return &f;
  return nullptr;
}

bool find_math_target(std::string_view name, CallTarget& out) {
  const MathFunction* found = find_math(name);  // "erf" is no "er" of floats
  out.type = Type::kF64;
  if (found == nullptr && name.ends_with('f')) {
    out.type = Type::kF32;
    name.remove_suffix(1);
    found = find_math(name);
  }
  if (found == nullptr) return false;
  out.kind = CallKind::kPure;
  out.op = found->op;
  out.arity = found->arity;
  return true;
}

CallKind other_kind(std::string_view name) {
  if (name == "nrd_round_to_f32") return CallKind::kRoundTo;
  if (name == "memcpy" || name == "memmove" || name == "__memcpy_chk" || name == "__memmove_chk")
    return CallKind::kCopy;
  if (name == "memset" || name == "__memset_chk") return CallKind::kFill;
  if (is_one_of(name, kIgnored) || starts_with_one_of(name, kIgnoredPrefixes))
    return CallKind::kIgnored;
  if (is_one_of(name, kNoReturn) || starts_with_one_of(name, kNoReturnPrefixes))
    return CallKind::kNoReturn;
  if (name.starts_with("_ZSt") && name.find("__throw_") != std::string_view::npos)
    return CallKind::kNoReturn;
  return CallKind::kUnknown;
}

constexpr int kMaxHops = 4;

}  // namespace

CallTarget library_function(std::string_view name) {
  CallTarget target{.name = std::string(name)};
  name = name.substr(0, name.find('@'));
  target.kind = other_kind(name);
  if (target.kind != CallKind::kUnknown) return target;
  const std::string_view plain = plain_name(name);
  if (plain == "sincosf" || plain == "sincos") {
    target.kind = CallKind::kSinCos;
    target.type = plain.ends_with('f') ? Type::kF32 : Type::kF64;
    return target;
  }
  find_math_target(plain, target);
  return target;
}

uint64_t CallResolver::skip_landing_pad(uint64_t address) const {
  if (image_.code_bytes(address) < 4) return address;
  uint32_t word = 0;
  std::memcpy(&word, image_.code(address), sizeof word);
  constexpr uint32_t kEndbr64 = 0xfa1e0ff3, kBti = 0xd503241f, kBtiKinds = 0xc0;
  const bool is_pad = word == kEndbr64 || (word & ~kBtiKinds) == kBti;
  return is_pad ? address + 4 : address;
}

const CallTarget& CallResolver::of_address(uint64_t address) {
  const uint32_t known = by_address_.find(address);
  if (known != FlatMap::kMissing) return targets_[known];
  targets_.push_back(look_up_address(address, 0));
  by_address_.set(address, static_cast<uint32_t>(targets_.size() - 1));
  return targets_.back();
}

const CallTarget& CallResolver::of_slot(uint64_t slot) {
  const uint32_t known = by_slot_.find(slot);
  if (known != FlatMap::kMissing) return targets_[known];
  targets_.push_back(look_up_slot(slot, 0));
  by_slot_.set(slot, static_cast<uint32_t>(targets_.size() - 1));
  return targets_.back();
}

const CallTarget* CallResolver::stand_in(uint64_t site, const CallTarget& target) {
  const auto met = std::find_if(block_calls.begin(), block_calls.end(),
                                [&](const BlockCall& call) { return call.site == site; });
  if (met == block_calls.end()) return nullptr;
  const auto of_width = [&](auto* one, auto* four, auto* eight) {
    return reinterpret_cast<uint64_t>(met->element_bytes == 1   ? one
                                      : met->element_bytes == 4 ? four
                                                                : eight);
  };
  const uint64_t address = target.kind == CallKind::kFill
                               ? of_width(&nrd_fill_1, &nrd_fill_4, &nrd_fill_8)
                               : of_width(&nrd_copy_1, &nrd_copy_4, &nrd_copy_8);
  targets_.push_back({.kind = CallKind::kHelper, .address = address, .name = target.name});
  return &targets_.back();
}

CallTarget CallResolver::look_up_slot(uint64_t slot, int hops) {
  const std::optional<std::string> name = image_.name_of_slot(slot);
  if (name) {
    CallTarget target = library_function(*name);
    if (target.kind != CallKind::kUnknown) return target;
  }
  const uint64_t content = image_.slot_content(slot);
  CallTarget target;
  // A slot that was never called leads into the dynamic linker: no function begins there.
  const bool is_bound =
      content != 0 && image_.code_bytes(content) > 0 && (!name || image_.name_of_function(content));
  if (is_bound && hops < kMaxHops) target = look_up_address(content, hops + 1);
  if (target.name.empty() && name) target.name = *name;
  return target;
}

// A name decides; without one, a stub leads on, and other code is a helper.
CallTarget CallResolver::look_up_address(uint64_t address, int hops) {
  const std::optional<std::string> name = image_.name_of_function(address);
  if (name) {
    CallTarget target = library_function(*name);
    if (target.kind != CallKind::kUnknown) return target;
  }
  CallTarget helper{.kind = CallKind::kHelper, .address = address, .name = name.value_or("")};
  Instruction first;
  std::string reason;
  const bool decoded =
      front_end_.decode(image_, skip_landing_pad(address), first, reason) && hops < kMaxHops;
  if (!decoded) return image_.code_bytes(address) > 0 ? helper : CallTarget{.name = helper.name};
  if (first.flow == Flow::kJump) return look_up_address(first.target, hops + 1);
  if (first.flow == Flow::kIndirect && first.call_slot != 0)
    return look_up_slot(first.call_slot, hops + 1);
  return helper;
}

}  // namespace nrd::lift
