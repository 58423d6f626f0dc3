// SPDX-License-Identifier: MIT
// tests/fuzz/user_functions/corpus/corpus.h: what the functions of the corpus are written with.
//
// The word in front of a name is its kind. A function that is not static is judged; its type is
// read off its definition.
#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
