// SPDX-License-Identifier: MIT
// src/api/status.cpp: the last error of each thread, and the small queries that need no context.
#include "api/status.h"

#include <new>
#include <utility>

#include "api/memory.h"
#include "base/dtype.h"
#include "base/tensor.h"

namespace nrd {
namespace {

static_assert(static_cast<int>(ErrorCode::kInvalidArgument) == NEREID_INVALID_ARGUMENT);
static_assert(static_cast<int>(ErrorCode::kShapeMismatch) == NEREID_SHAPE_MISMATCH);
static_assert(static_cast<int>(ErrorCode::kUnsupportedDtype) == NEREID_UNSUPPORTED_DTYPE);
static_assert(static_cast<int>(ErrorCode::kOverlap) == NEREID_OVERLAP);
static_assert(static_cast<int>(ErrorCode::kUnknownName) == NEREID_UNKNOWN_NAME);
static_assert(static_cast<int>(ErrorCode::kUnsupported) == NEREID_UNSUPPORTED);
static_assert(static_cast<int>(ErrorCode::kNumericalOverflow) == NEREID_NUMERICAL_OVERFLOW);
static_assert(static_cast<int>(ErrorCode::kEnvironment) == NEREID_ENVIRONMENT);
static_assert(static_cast<int>(ErrorCode::kInternal) == NEREID_INTERNAL);
static_assert(static_cast<int>(DType::kF64) == NEREID_F64);
static_assert(static_cast<int>(DType::kF32) == NEREID_F32);
static_assert(static_cast<int>(DType::kF16) == NEREID_F16);
static_assert(static_cast<int>(DType::kBF16) == NEREID_BF16);
static_assert(static_cast<int>(DType::kF8E4M3) == NEREID_F8E4M3);
static_assert(static_cast<int>(DType::kF8E5M2) == NEREID_F8E5M2);
static_assert(static_cast<int>(DType::kE8M0) == NEREID_E8M0);
static_assert(static_cast<int>(DType::kE2M1) == NEREID_E2M1);
static_assert(static_cast<int>(DType::kI8) == NEREID_I8);
static_assert(static_cast<int>(DType::kU8) == NEREID_U8);
static_assert(static_cast<int>(DType::kI32) == NEREID_I32);
static_assert(static_cast<int>(DeviceKind::kCuda) == NEREID_CUDA);
static_assert(kMaxRank == NEREID_MAX_RANK);
static_assert(std::string_view(NEREID_VERSION) == NEREID_PROJECT_VERSION,
              "NEREID_VERSION in nereid/c.h must match project(VERSION) in CMakeLists.txt");

struct LastError {
  Error error;
  std::string message;
  nereid_error view = plain(NEREID_OK, "");

  static nereid_error plain(nereid_status status, const char* message) {
    return {sizeof(nereid_error), status, "", "", "", "", "", message};
  }
  void keep(const Error& from) {
    error = from;
    message = from.message();
    view = {sizeof(nereid_error), static_cast<int32_t>(error.code),
            error.op.c_str(),     error.argument.c_str(),
            error.got.c_str(),    error.allowed.c_str(),
            error.hint.c_str(),   message.c_str()};
  }
};

LastError& last() {
  thread_local LastError error;
  return error;
}

}  // namespace

nereid_status fail(const Error& error) noexcept {
  try {
    last().keep(error);
    return static_cast<nereid_status>(error.code);
  } catch (...) {  // no memory even for the words
    last().view = LastError::plain(NEREID_ENVIRONMENT, "out of memory");
    return NEREID_ENVIRONMENT;
  }
}

nereid_status fail_with_exception() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    last().view = LastError::plain(NEREID_ENVIRONMENT, "out of memory");
    return NEREID_ENVIRONMENT;
  } catch (const HookThrew& threw) {
    try {
      return fail(make_error({ErrorCode::kInvalidArgument, "",
                              fmt::format("nereid_context_options.{}", threw.hook), "an exception",
                              "hooks that do not throw", ""}));
    } catch (...) {
    }
  } catch (const MisalignedMemory& misaligned) {
    try {
      return fail(make_error(
          {ErrorCode::kInvalidArgument, "", "nereid_context_options.allocate",
           fmt::format("memory at {}", misaligned.address),
           fmt::format("a multiple of {} bytes, as it is asked for", kWorkspaceAlignment), ""}));
    } catch (...) {
    }
  } catch (const std::exception& e) {
    try {
      return fail(make_error({ErrorCode::kInternal, "", "", e.what(), "", "please report this"}));
    } catch (...) {
    }
  } catch (...) {
  }
  last().view = LastError::plain(NEREID_INTERNAL, "an unknown exception; please report this");
  return NEREID_INTERNAL;
}

constinit std::atomic<int> g_executor_faults{0};

namespace {

struct ExecutorFault {
  int64_t count = 0, done = 0;  // count 0: none
};
constinit thread_local ExecutorFault t_fault;

}  // namespace

void note_executor_fault(int64_t count, int64_t done) {
  if (t_fault.count == 0) g_executor_faults.fetch_add(1, std::memory_order_relaxed);
  t_fault = {count, done};
}

Expected<void> take_executor_fault() {
  const ExecutorFault fault = std::exchange(t_fault, {});
  if (fault.count == 0) return {};  // another thread's
  g_executor_faults.fetch_sub(1, std::memory_order_relaxed);
  return make_error({ErrorCode::kInvalidArgument, "", "nereid_context_options.parallel_for",
                     fmt::format("{} of {} indices run", fault.done, fault.count),
                     "each index in [0, count) once, all before it returns", ""});
}

Error null_error(std::string_view argument, std::string_view allowed, std::string_view op) {
  return make_error({ErrorCode::kInvalidArgument, std::string(op), std::string(argument),
                     "a null pointer", std::string(allowed), ""});
}

Error struct_size_error(std::string_view type, uint32_t got, size_t known) {
  return make_error({ErrorCode::kInvalidArgument, "", fmt::format("{}.struct_size", type),
                     fmt::format("{}", got), fmt::format("1 to {}", known),
                     got == 0 ? "set it to sizeof the struct"
                              : "the caller was built for a newer version of the library"});
}

}  // namespace nrd

extern "C" {

const nereid_error* nereid_last_error(void) { return &nrd::last().view; }

const char* nereid_status_name(nereid_status status) {
  if (status == NEREID_OK) return "ok";
  return nrd::error_code_name(static_cast<nrd::ErrorCode>(status)).data();
}

const char* nereid_version(void) { return NEREID_PROJECT_VERSION; }

const char* nereid_dtype_name(nereid_dtype dtype) {
  return nrd::word(static_cast<nrd::DType>(dtype)).data();
}

size_t nereid_dtype_size(nereid_dtype dtype) {
  return nrd::byte_size(static_cast<nrd::DType>(dtype));
}

nereid_status nereid_parse_dtype(const char* word, nereid_dtype* dtype) {
  return nrd::guarded([&]() -> nrd::Expected<void> {
    if (word == nullptr || dtype == nullptr)
      return nrd::null_error(word ? "dtype" : "word", "a pointer", "nereid_parse_dtype");
    nrd::Expected<nrd::DType> parsed = nrd::parse_dtype(word);
    if (!parsed) return parsed.error();
    *dtype = static_cast<nereid_dtype>(*parsed);
    return {};
  });
}

}  // extern "C"
