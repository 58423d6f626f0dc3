#!/bin/sh
# SPDX-License-Identifier: MIT
# cmake/keep_ptxas_output.sh COMPILER ARGUMENTS...: runs nvcc (or ccache in front of it, which says
# again what a kept compilation said) and keeps what it says beside the object, as OBJECT.ptxas.
#
# tests/cuda/check_kernels.py reads it. What is worth a reader's time goes to the terminal as well:
# all but the figures of kernels that are as they should be.
object=
previous=
for argument in "$@"; do
  if [ "$previous" = -o ]; then object=$argument; fi
  previous=$argument
done
if [ -z "$object" ]; then exec "$@"; fi
"$@" 2>"$object.ptxas"
status=$?
grep -v -e '^ptxas info  *: \(Used\|Compiling\|Function properties\|Compile time\|[0-9]* bytes gmem\)' \
  -e '^ *0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads$' "$object.ptxas" >&2
exit "$status"
