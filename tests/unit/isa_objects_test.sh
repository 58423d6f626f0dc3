#!/bin/sh
# SPDX-License-Identifier: MIT
# tests/unit/isa_objects_test.sh: object files built with ISA flags export no weak symbol.
#
# The linker keeps one copy of a weak symbol (an inline function, a template) for the whole
# program; were it one built for AVX-512, every other CPU would die of it.
# Usage: isa_objects_test.sh NM ARCHIVE MEMBER_PREFIX
nm=$1 archive=$2 prefix=$3
listing=$("$nm" -A --defined-only "$archive") || exit 1
members=$(printf '%s\n' "$listing" | grep -c "[:[]$prefix.*nrd_probe_")
if [ "$members" -eq 0 ]; then
  echo "no symbol of a member $prefix* in $archive"
  exit 1
fi
weak=$(printf '%s\n' "$listing" | grep "[:[]$prefix" | grep -E ' [WwVvu] ')
if [ -n "$weak" ]; then
  printf 'weak symbols:\n%s\n' "$weak"
  exit 1
fi
echo "$members entry points, no weak symbol"
