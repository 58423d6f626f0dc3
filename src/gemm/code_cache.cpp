// SPDX-License-Identifier: MIT
// src/gemm/code_cache.cpp: see code_cache.h.
#include "gemm/code_cache.h"

#include <mutex>
#include <unordered_map>

namespace nrd::gemm {
namespace {

template <class Write>  // Expected<jit::Program>()
Expected<jit::Code::Entry> find_or_make(std::string key, const jit::Target& target, Write write) {
  static std::mutex mutex;
  static auto* kept = new std::unordered_map<std::string, std::shared_ptr<const jit::Code>>;
  const std::lock_guard lock(mutex);
  if (auto found = kept->find(key); found != kept->end()) return found->second->entry();
  Expected<jit::Program> program = write();
  if (!program) return program.error();
  Expected<std::vector<uint8_t>> bytes = jit::encode(*program, target);
  if (!bytes) return bytes.error();
  Expected<std::shared_ptr<const jit::Code>> code = jit::make_code("nereid_" + key, *bytes);
  if (!code) return code.error();
  return kept->emplace(std::move(key), std::move(*code)).first->second->entry();
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

}  // namespace nrd::gemm
