// SPDX-License-Identifier: MIT
// src/jit/code_memory.cpp: pages that are written once, then executable.
//
// Private anonymous pages, no second mapping: that would break after fork. A system may refuse
// the step to executable (PR_SET_MDWE, SELinux, seccomp); then the caller falls back.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/lazy.h"
#include "jit/code.h"
#include "jit/symbols.h"

namespace nrd::jit {
namespace {

std::atomic<bool> refused{false};
constinit Lazy<const bool> g_works;

Error refusal(const std::string& name, std::string_view step, int error) {
  const bool may_pass = error == ENOMEM || error == EAGAIN;  // and work another time
  return make_error({.code = may_pass ? ErrorCode::kEnvironment : ErrorCode::kUnsupported,
                     .op = name,
                     .got = fmt::format("{}: {}", step, std::strerror(error)),
                     .hint = may_pass ? "" : "this system refuses executable memory"});
}

size_t round_to_pages(size_t bytes) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

// Fresh pages that hold the bytes and may be executed.
Expected<void*> map_code(const std::string& name, const std::vector<uint8_t>& bytes,
                         size_t mapped) {
  void* base = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return refusal(name, "mmap", errno);
  std::memcpy(base, bytes.data(), bytes.size());
  if (mprotect(base, mapped, PROT_READ | PROT_EXEC) != 0) {
    const int error = errno;
    munmap(base, mapped);
    return refusal(name, "mprotect", error);
  }
  char* begin = static_cast<char*>(base);
  __builtin___clear_cache(begin, begin + bytes.size());
  return base;
}

}  // namespace

Code::Code(std::string name, void* base, size_t mapped, size_t bytes)
    : name_(std::move(name)), base_(base), mapped_(mapped), bytes_(bytes) {
  announce_code(name_, base_, bytes_);
}

Code::~Code() {
  withdraw_code(base_);
  munmap(base_, mapped_);
}

Expected<std::shared_ptr<const Code>> make_code(std::string name,
                                                const std::vector<uint8_t>& bytes) {
  if (bytes.empty()) {
    return make_error({.code = ErrorCode::kInternal, .op = std::move(name), .got = "no code"});
  }
  if (refused.load(std::memory_order_relaxed)) {
    return make_error({.code = ErrorCode::kUnsupported,
                       .op = std::move(name),
                       .got = "executable memory was refused on request"});
  }
  const size_t mapped = round_to_pages(bytes.size());
  const Expected<void*> base = map_code(name, bytes, mapped);
  if (!base) return base.error();
  return std::shared_ptr<const Code>(
      std::make_shared<Code>(std::move(name), *base, mapped, bytes.size()));
}

void refuse_executable_memory(bool refuse) { refused.store(refuse, std::memory_order_relaxed); }

bool executable_memory_works() {
  const bool works = g_works.get([] {
    const std::vector<uint8_t> nothing(16, 0);
    const size_t mapped = round_to_pages(nothing.size());
    const Expected<void*> base = map_code("probe", nothing, mapped);
    if (base) munmap(*base, mapped);
    return static_cast<bool>(base);
  });
  return works && !refused.load(std::memory_order_relaxed);
}

}  // namespace nrd::jit
