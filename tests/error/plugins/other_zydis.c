/* SPDX-License-Identifier: MIT
 * tests/error/plugins/other_zydis.c: a Zydis of a version that we were not built for. */
#include <stdint.h>

uint64_t ZydisGetVersion(void) { return UINT64_C(0x0003000100000000); }
