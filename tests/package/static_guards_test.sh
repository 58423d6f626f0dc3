#!/bin/sh
# SPDX-License-Identifier: MIT
# tests/package/static_guards_test.sh: no function of the library has a static with a guard.
#
# A fork while another thread is making such a static leaves its guard taken in the child for ever;
# src/base/lazy.h is what the library uses instead. A thread's own statics are no danger, and CUDA
# itself does not survive a fork.
# Usage: static_guards_test.sh READELF CXXFILT LIBRARY
readelf=$1 cxxfilt=$2 library=$3
symbols=$("$readelf" -sW "$library") || exit 1
if ! printf '%s\n' "$symbols" | grep -q _ZN3nrd; then
  echo "no local symbols in $library; skipped"
  exit 77
fi
guards=$(printf '%s\n' "$symbols" | awk '$4 == "OBJECT" && $8 ~ /^_ZGV/ {print $8}' |
         "$cxxfilt" | grep -v "nrd::cuda::" | grep -E "nrd::|nereid_|anonymous" | sort -u)
if [ -n "$guards" ]; then
  printf 'statics with a guard:\n%s\n' "$guards"
  exit 1
fi
echo "none"
