/* SPDX-License-Identifier: MIT
 * examples/plugin/plugin.c: a backend of two kernels in plain C, loaded by name.
 *
 * accepts() looks at dtypes and strides, prepare() keeps what run() needs, run() computes. */
#include "nereid/plugin.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct State {
  int64_t count;
} State;

static int is_contiguous(const nereid_operand_desc* operand) {
  int64_t expected = 1;
  for (int32_t i = operand->rank; i-- > 0;) {
    if (operand->sizes[i] != 1 && operand->strides[i] != expected) return 0;
    expected *= operand->sizes[i];
  }
  return 1;
}

static int64_t count_of(const nereid_operand_desc* operand) {
  int64_t count = 1;
  for (int32_t i = 0; i < operand->rank; i++) count *= operand->sizes[i];
  return count;
}

/* f32, contiguous, and all operands of one size: nothing is broadcast. */
static int accepts(const nereid_desc* desc, char* reason, size_t reason_size) {
  for (int32_t i = 0; i < desc->operand_count; i++) {
    const nereid_operand_desc* operand = &desc->operands[i];
    if (operand->dtype != NEREID_F32) {
      snprintf(reason, reason_size, "%s is not f32", operand->name);
      return 1;
    }
    if (!is_contiguous(operand) || count_of(operand) != count_of(&desc->operands[0])) {
      snprintf(reason, reason_size, "%s is strided or broadcast", operand->name);
      return 1;
    }
  }
  return 0;
}

static int prepare(const nereid_desc* desc, void* const* constants, void** state, char* reason,
                   size_t reason_size) {
  (void)constants;
  State* made = malloc(sizeof *made);
  if (made == NULL) {
    snprintf(reason, reason_size, "out of memory");
    return 1;
  }
  made->count = count_of(&desc->operands[0]);
  *state = made;
  return 0;
}

/* Operands come in the order of the signature: x, out. */
static int run_silu(const void* state, void* const* operands, void* workspace, int32_t threads) {
  const float* x = operands[0];
  float* out = operands[1];
  (void)workspace;
  (void)threads;
  for (int64_t i = 0; i < ((const State*)state)->count; i++) out[i] = x[i] / (1.0f + expf(-x[i]));
  return 0;
}

/* x, y, out. */
static int run_vec_add(const void* state, void* const* operands, void* workspace, int32_t threads) {
  const float* x = operands[0];
  const float* y = operands[1];
  float* out = operands[2];
  (void)workspace;
  (void)threads;
  for (int64_t i = 0; i < ((const State*)state)->count; i++) out[i] = x[i] + y[i];
  return 0;
}

static const nereid_plugin_kernel kernels[] = {
    {sizeof(nereid_plugin_kernel), "silu", "example_silu", accepts, prepare, NULL, run_silu, free},
    {sizeof(nereid_plugin_kernel), "vec_add", "example_vec_add", accepts, prepare, NULL,
     run_vec_add, free},
};

static const nereid_plugin plugin = {
    NEREID_PLUGIN_VERSION,
    sizeof(nereid_plugin),
    "example",
    "1.0",
    kernels,
    sizeof kernels / sizeof kernels[0],
};

NEREID_API const nereid_plugin* nereid_plugin_entry(void) { return &plugin; }
