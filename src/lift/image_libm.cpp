// SPDX-License-Identifier: MIT
// src/lift/image_libm.cpp: the functions that are known by their address. Slots of a static
// program have no names, and those of an IFUNC lead to a function no symbol names.
#include "lift/image_libm.h"

#include <dlfcn.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>

extern "C" void __stack_chk_fail(void);  // NOLINT: the C library's name

namespace nrd::lift {
namespace {

#define ENTRY(name) \
  LibraryFunction { reinterpret_cast<uint64_t>(&::name), #name }
#define BOTH(name) ENTRY(name), ENTRY(name##f)

std::vector<LibraryFunction> linked_functions() {
  return {BOTH(exp),
          BOTH(exp2),
          BOTH(expm1),
          BOTH(log),
          BOTH(log2),
          BOTH(log10),
          BOTH(log1p),
          BOTH(tanh),
          BOTH(erf),
          BOTH(erfc),
          BOTH(sin),
          BOTH(cos),
          BOTH(tan),
          BOTH(sinh),
          BOTH(cosh),
          BOTH(asin),
          BOTH(acos),
          BOTH(atan),
          BOTH(atan2),
          BOTH(asinh),
          BOTH(acosh),
          BOTH(atanh),
          BOTH(pow),
          BOTH(cbrt),
          BOTH(hypot),
          BOTH(fmod),
          BOTH(sqrt),
          BOTH(floor),
          BOTH(ceil),
          BOTH(trunc),
          BOTH(rint),
          BOTH(nearbyint),
          BOTH(round),
          BOTH(fabs),
          BOTH(fmax),
          BOTH(fmin),
          BOTH(fma),
          BOTH(ldexp),
          BOTH(sincos),
          BOTH(copysign),
          BOTH(fdim),
          BOTH(remainder),
          ENTRY(memcpy),
          ENTRY(memmove),
          ENTRY(memset),
          ENTRY(abort),
          ENTRY(__stack_chk_fail)};
}

#undef BOTH
#undef ENTRY

// Where `jmp [rip + x]` at an address leads, past endbr64 and a bnd prefix; 0 if it is no stub.
uint64_t behind_stub([[maybe_unused]] uint64_t address) {
#if defined(__x86_64__)
  const auto* code = reinterpret_cast<const uint8_t*>(address);
  static constexpr uint8_t kEndbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
  if (std::memcmp(code, kEndbr64, sizeof kEndbr64) == 0) code += sizeof kEndbr64;
  if (*code == 0xf2) code++;
  if (code[0] != 0xff || code[1] != 0x25) return 0;
  int32_t displacement;
  std::memcpy(&displacement, code + 2, sizeof displacement);
  uint64_t content;
  std::memcpy(&content, code + 6 + displacement, sizeof content);
  return content;
#else
  return 0;
#endif
}

}  // namespace

std::vector<LibraryFunction> library_functions() {
  std::vector<LibraryFunction> list = linked_functions();
  const size_t linked = list.size();
  for (size_t i = 0; i < linked; i++) {
    const LibraryFunction function = list[i];
    const auto found =
        reinterpret_cast<uint64_t>(dlsym(RTLD_DEFAULT, std::string(function.name).c_str()));
    if (found != 0 && found != function.address) list.push_back({found, function.name});
    if (const uint64_t target = behind_stub(function.address))
      list.push_back({target, function.name});
  }
  return list;
}

}  // namespace nrd::lift
