// SPDX-License-Identifier: MIT
// src/lift/stand_ins.c: see stand_ins.h. Compiled as the definitions of the catalogue are, so that
// it is read like any other function.
#include "lift/stand_ins.h"

#include <stdint.h>

#define STAND_INS(bytes_of, type, ones)                                                        \
  void* nrd_fill_##bytes_of(void* to, int byte, size_t bytes) {                                \
    if (bytes % sizeof(type) != 0) __builtin_trap();                                           \
    const type value = (type)((type)(byte & 255) * (type)(ones));                              \
    for (size_t i = 0; i < bytes / sizeof(type); i++) ((type*)to)[i] = value;                  \
    return to;                                                                                 \
  }                                                                                            \
  void* nrd_copy_##bytes_of(void* to, const void* from, size_t bytes) {                        \
    if (bytes % sizeof(type) != 0) __builtin_trap();                                           \
    for (size_t i = 0; i < bytes / sizeof(type); i++) ((type*)to)[i] = ((const type*)from)[i]; \
    return to;                                                                                 \
  }
STAND_INS(1, uint8_t, 1)
STAND_INS(4, uint32_t, 0x01010101u)
STAND_INS(8, uint64_t, 0x0101010101010101u)
