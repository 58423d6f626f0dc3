/* SPDX-License-Identifier: MIT
 * tests/package/consumer/main.c: the installed C header, from C. */
#include <nereid/c.h>
#include <nereid/plugin.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  printf("nereid %s has %d operators\n", nereid_version(), (int)nereid_op_count());
  return strcmp(nereid_version(), NEREID_VERSION) == 0 && nereid_op_count() > 0 ? 0 : 1;
}
