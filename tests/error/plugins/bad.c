/* SPDX-License-Identifier: MIT
 * tests/error/plugins/bad.c: a plug-in with one mistake, chosen by a macro BAD_... */
#include <stdio.h>

#include "nereid/plugin.h"

static int accepts(const nereid_desc* desc, char* reason, size_t reason_size) {
  (void)desc;
#if defined(BAD_NO_ACCEPT)
  snprintf(reason, reason_size, "it is not in the mood");
  return 1;
#else
  (void)reason;
  (void)reason_size;
  return 0;
#endif
}

static int prepare(const nereid_desc* desc, void* const* constants, void** state, char* reason,
                   size_t reason_size) {
  (void)desc, (void)constants, (void)state, (void)reason, (void)reason_size;
  return 0;
}

#if !defined(BAD_NULL_FUNCTION)
static int run(const void* state, void* const* operands, void* workspace, int32_t threads) {
  (void)state, (void)operands, (void)workspace, (void)threads;
  return 0;
}
#endif

static const nereid_plugin_kernel kernels[] = {{
    sizeof(nereid_plugin_kernel),
#if defined(BAD_UNKNOWN_OP)
    "sillu",
#else
    "silu",
#endif
    "bad_kernel",
    accepts,
    prepare,
    NULL,
#if defined(BAD_NULL_FUNCTION)
    NULL,
#else
    run,
#endif
    NULL,
}};

static const nereid_plugin plugin = {
#if defined(BAD_WRONG_VERSION)
    NEREID_PLUGIN_VERSION + 1,
#else
    NEREID_PLUGIN_VERSION,
#endif
#if defined(BAD_SMALL_STRUCT)
    8,
#else
    sizeof(nereid_plugin),
#endif
#if defined(BAD_BAD_NAME)
    "bad name!",
#else
    "bad",
#endif
    "1",
    kernels,
#if defined(BAD_NO_KERNELS)
    0,
#else
    1,
#endif
};

#if defined(BAD_NO_ENTRY)
NEREID_API const nereid_plugin* another_entry(void) { return &plugin; }
#elif defined(BAD_NULL_ENTRY)
NEREID_API const nereid_plugin* nereid_plugin_entry(void) {
  (void)plugin;
  return NULL;
}
#else
NEREID_API const nereid_plugin* nereid_plugin_entry(void) { return &plugin; }
#endif
