/* SPDX-License-Identifier: MIT
 * nereid/plugin.h: a backend from a shared library.
 *
 * Export one function, `const nereid_plugin* nereid_plugin_entry(void)`, and load the library with
 * `nereid --plugin LIB.so ...`, NEREID_PLUGINS or nereid_load_plugin. The structs below live as
 * long as the library. Sizes come first, so that later versions can add fields at the end.
 * docs/adding-a-backend.md walks through examples/plugin. */
#ifndef NEREID_PLUGIN_H
#define NEREID_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#include "nereid/c.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NEREID_PLUGIN_VERSION 1u

/* One operand of a call. Strides are in elements. Absent optional operands have present = 0. */
typedef struct nereid_operand_desc {
  uint32_t struct_size;
  const char* name;
  int32_t present;
  nereid_dtype dtype;
  int32_t rank;
  const int64_t* sizes;
  const int64_t* strides;
  int32_t constant;
  int32_t output;
} nereid_operand_desc;

/* What is to be computed: every attribute is bound. Valid during the call only: copy what you
 * keep. */
typedef struct nereid_desc {
  uint32_t struct_size;
  const char* op;
  int32_t operand_count;
  const nereid_operand_desc* operands;
  int32_t attribute_count;
  const nereid_attribute* attributes;
} nereid_desc;

/* One kernel. Functions return 0 on success; otherwise they may write one sentence to `reason`
 * (at most reason_size bytes with the final zero). `run` must not allocate and may be called by
 * several threads at once with different workspaces. */
typedef struct nereid_plugin_kernel {
  uint32_t struct_size;
  const char* op;
  const char* name;
  int (*accepts)(const nereid_desc* desc, char* reason, size_t reason_size);
  int (*prepare)(const nereid_desc* desc, void* const* constants, void** state, char* reason,
                 size_t reason_size);
  size_t (*workspace)(const void* state); /* may be NULL: none */
  int (*run)(const void* state, void* const* operands, void* workspace, int32_t threads);
  void (*destroy)(void* state); /* may be NULL */
} nereid_plugin_kernel;

typedef struct nereid_plugin {
  uint32_t version; /* NEREID_PLUGIN_VERSION */
  uint32_t struct_size;
  const char* backend; /* the name users write: letters, digits, _ and - */
  const char* backend_version;
  const nereid_plugin_kernel* kernels;
  size_t kernel_count;
} nereid_plugin;

typedef const nereid_plugin* (*nereid_plugin_entry_function)(void);
#define NEREID_PLUGIN_ENTRY "nereid_plugin_entry"

#ifdef __cplusplus
}
#endif

#endif
