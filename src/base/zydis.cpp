// SPDX-License-Identifier: MIT
// src/base/zydis.cpp: dlopen by the soname of the library that we were built with.
#include "base/zydis.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <atomic>

namespace nrd {
namespace {

// No lock and no static initialiser: a fork may happen in the middle. Who comes second finds the
// same functions.
std::atomic<const Zydis*> g_zydis = nullptr;

Error missing(std::string reason) {
  return make_error({.code = ErrorCode::kEnvironment,
                     .argument = "Zydis",
                     .got = std::move(reason),
                     .allowed = fmt::format("{} (Zydis {}.{})", NRD_ZYDIS_SONAME,
                                            ZYDIS_VERSION_MAJOR(ZYDIS_VERSION),
                                            ZYDIS_VERSION_MINOR(ZYDIS_VERSION)),
                     .hint = "install it (Debian: libzydis4.0), or put its folder into "
                             "LD_LIBRARY_PATH; without it no function is lifted"});
}

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

// Structures have other layouts in other versions.
bool same_version(uint64_t version) {
  return ZYDIS_VERSION_MAJOR(version) == ZYDIS_VERSION_MAJOR(ZYDIS_VERSION) &&
         ZYDIS_VERSION_MINOR(version) == ZYDIS_VERSION_MINOR(ZYDIS_VERSION);
}

}  // namespace

Expected<const Zydis*> load_zydis() {
  if (const Zydis* loaded = g_zydis.load()) return loaded;
  void* library = dlopen(NRD_ZYDIS_SONAME, RTLD_NOW | RTLD_LOCAL);  // stays
  if (library == nullptr) {
    const char* why = dlerror();
    return missing(fmt::format("not found: {}", why ? why : "no reason from dlopen"));
  }
  Zydis z{};
  if (!find(library, "ZydisGetVersion", z.GetVersion))
    return missing("a library without ZydisGetVersion");
  if (const uint64_t version = z.GetVersion(); !same_version(version))
    return missing(
        fmt::format("version {}.{}", ZYDIS_VERSION_MAJOR(version), ZYDIS_VERSION_MINOR(version)));
  const bool whole =
      find(library, "ZydisDecoderInit", z.DecoderInit) &&
      find(library, "ZydisDecoderDecodeFull", z.DecoderDecodeFull) &&
      find(library, "ZydisDecoderDecodeInstruction", z.DecoderDecodeInstruction) &&
      find(library, "ZydisDecoderDecodeOperands", z.DecoderDecodeOperands) &&
      find(library, "ZydisFormatterInit", z.FormatterInit) &&
      find(library, "ZydisFormatterFormatInstruction", z.FormatterFormatInstruction) &&
      find(library, "ZydisMnemonicGetString", z.MnemonicGetString) &&
      find(library, "ZydisRegisterGetId", z.RegisterGetId) &&
      find(library, "ZydisRegisterGetClass", z.RegisterGetClass);
  if (!whole) return missing("a library that lacks some of its functions");
  const Zydis* made = new Zydis(z);
  const Zydis* before = nullptr;
  if (g_zydis.compare_exchange_strong(before, made)) return made;
  delete made;
  return before;
}

const Zydis& zydis() { return *g_zydis.load(std::memory_order_acquire); }

}  // namespace nrd
