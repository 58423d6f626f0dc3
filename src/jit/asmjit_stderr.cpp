// SPDX-License-Identifier: MIT
// src/jit/asmjit_stderr.cpp: where AsmJit writes a failed assertion (see cmake/codegen.cmake).
#include <cstdio>

extern "C" {
extern __attribute__((visibility("hidden"))) FILE* nereid_asmjit_stderr;
FILE* nereid_asmjit_stderr = stderr;
}
