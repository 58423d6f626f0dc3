// SPDX-License-Identifier: MIT
// tests/fuzz/lift_bytes_fuzz.cpp: libFuzzer's way into lift_bytes.h; one program a machine.
//
//   cmake --preset release -B build/fuzz -DCMAKE_C_COMPILER=clang-16
//   -DCMAKE_CXX_COMPILER=clang++-16 \
//     -DNEREID_SANITIZE=address,undefined,fuzzer-no-link
//   ninja -C build/fuzz lift_bytes_fuzz_x86 lift_bytes_fuzz_a64
//   build/fuzz/tests/fuzz/lift_bytes_fuzz_x86 -timeout=1 NEW_INPUTS tests/fuzz/seeds/x86
#include <cstdio>
#include <cstdlib>

#include "lift_bytes.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string complaint =
      nrd::lift::complaint_about(nrd::lift::Machine::NEREID_FUZZ_MACHINE, {data, size});
  if (complaint.empty()) return 0;
  std::fprintf(stderr, "%s\n", complaint.c_str());
  std::abort();
}
