/* SPDX-License-Identifier: MIT
 * examples/02_c_api.c: the same in plain C: one call, a prepared plan, an error. */
#include <nereid/c.h>
#include <stdio.h>

static nereid_tensor matrix(float* data, const int64_t* sizes) {
  nereid_tensor tensor = {0};
  tensor.struct_size = sizeof tensor;
  tensor.data = data;
  tensor.dtype = NEREID_F32;
  tensor.rank = 2;
  tensor.sizes = sizes;
  return tensor;
}

static int fail(void) {
  fprintf(stderr, "nereid: %s\n", nereid_last_error()->message);
  return 1;
}

int main(void) {
  float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {1, 0, 0, 1, 1, 1}, c[4];
  const int64_t a_sizes[] = {2, 3}, b_sizes[] = {3, 2}, c_sizes[] = {2, 2};
  const nereid_tensor a_tensor = matrix(a, a_sizes), b_tensor = matrix(b, b_sizes);
  const nereid_tensor c_tensor = matrix(c, c_sizes);
  nereid_operand operands[] = {{"a", &a_tensor}, {"b", &b_tensor}, {"c", &c_tensor}};
  nereid_call call = {0};
  call.struct_size = sizeof call;
  call.op = "gemm";
  call.operands = operands;
  call.operand_count = 3;

  /* Once. NULL is the default context. */
  if (nereid_run(NULL, &call) != NEREID_OK) return fail();
  printf("gemm: %g %g %g %g\n", c[0], c[1], c[2], c[3]);

  /* Often: check and choose once, then run with any memory of the same shapes. */
  nereid_plan* plan = NULL;
  if (nereid_prepare(NULL, &call, &plan) != NEREID_OK) return fail();
  a[0] = 10;
  void* data[] = {a, b, c};
  const nereid_status status = nereid_plan_run(plan, data, 3, NULL, 0, 0);
  nereid_plan_destroy(plan);
  if (status != NEREID_OK) return fail();
  printf("plan: %g %g %g %g\n", c[0], c[1], c[2], c[3]);

  /* A mistake is a status and a sentence. */
  operands[1].tensor = &a_tensor;
  if (nereid_run(NULL, &call) != NEREID_SHAPE_MISMATCH) return 1;
  printf("error: %s\n", nereid_last_error()->message);
  return 0;
}
