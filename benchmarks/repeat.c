/* SPDX-License-Identifier: MIT
 * benchmarks/repeat.c: runs a plan many times, so that a Python program can time it without its own
 * cost a call. */
#include <nereid/c.h>

NEREID_API int bench_repeat(const nereid_plan* plan, void* const* data, int32_t count, void* workspace,
                            size_t workspace_bytes, int32_t threads, int64_t times) {
  for (int64_t i = 0; i < times; i++) {
    nereid_status status = nereid_plan_run(plan, data, count, workspace, workspace_bytes, threads);
    if (status != NEREID_OK) return status;
  }
  return 0;
}
