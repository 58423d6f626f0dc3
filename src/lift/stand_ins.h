// SPDX-License-Identifier: MIT
// src/lift/stand_ins.h: memset and memcpy as loops over elements, which are lifted in place of
// calls whose length is known at run time only. A length that is no multiple of the element does
// not return: what is right for whole elements alone is taken for no more.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
void* nrd_fill_1(void* to, int byte, size_t bytes);
void* nrd_fill_4(void* to, int byte, size_t bytes);
void* nrd_fill_8(void* to, int byte, size_t bytes);
void* nrd_copy_1(void* to, const void* from, size_t bytes);
void* nrd_copy_4(void* to, const void* from, size_t bytes);
void* nrd_copy_8(void* to, const void* from, size_t bytes);
#ifdef __cplusplus
}
#endif
