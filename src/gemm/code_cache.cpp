// SPDX-License-Identifier: MIT
// src/gemm/code_cache.cpp: see code_cache.h.
#include "gemm/code_cache.h"

#include <unordered_map>

#include "base/lazy.h"
#include "base/locks.h"

namespace nrd::gemm {
namespace {

// Under LockName::kProductCode. No two kinds of kernel have a key in common.
constinit Lazy<std::unordered_map<std::string, std::shared_ptr<const jit::Code>>> g_kept;

template <class Write>  // Expected<jit::Program>()
Expected<jit::Code::Entry> find_or_make(std::string key, const jit::Target& target, Write write) {
  auto& kept = g_kept.get();
  {
    const Locked lock(LockName::kProductCode);
    if (auto found = kept.find(key); found != kept.end()) return found->second->entry();
  }
  Expected<jit::Program> program = write();
  if (!program) return program.error();
  Expected<std::vector<uint8_t>> bytes = jit::encode(*program, target);
  if (!bytes) return bytes.error();
  Expected<std::shared_ptr<const jit::Code>> code = jit::make_code("nereid_" + key, *bytes);
  if (!code) return code.error();
  const Locked lock(LockName::kProductCode);
  return kept.try_emplace(std::move(key), *code).first->second->entry();
}

}  // namespace

Expected<jit::Code::Entry> micro_kernel(const MicroKernelSpec& spec) {
  return find_or_make(spec.key(), *spec.target, [&] { return write_micro_kernel(spec); });
}

Expected<jit::Code::Entry> pack_kernel(const PackSpec& spec) {
  return find_or_make(spec.key(), *spec.target, [&] { return write_pack_kernel(spec); });
}

Expected<jit::Code::Entry> tile_configure(const jit::Target& target, bool is_release) {
  return find_or_make(
      is_release ? "tile_release" : "tile_config", target,
      [&]() -> Expected<jit::Program> { return write_tile_configure(target, is_release); });
}

Expected<jit::Code::Entry> gemv_kernel(const GemvSpec& spec) {
  return find_or_make(spec.key(), *spec.target,
                      [&]() -> Expected<jit::Program> { return write_gemv_kernel(spec); });
}

Expected<jit::Code::Entry> stream_kernel(const StreamSpec& spec) {
  return find_or_make(spec.key(), *spec.target,
                      [&]() -> Expected<jit::Program> { return write_stream_kernel(spec); });
}

}  // namespace nrd::gemm
