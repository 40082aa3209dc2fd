#!/bin/bash
# The example with operators of its own works as its README says, and without its C functions does not link.
# Usage: custom_op_test.sh REPOSITORY BUILD [C FLAGS that the build's libraries need]
set -euo pipefail
repository=$1 build=$2 flags=${3:-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -r "$repository/examples/custom-op" "$folder/custom-op"
cd "$folder/custom-op"
make=(make --no-print-directory RELAXC="$build/bin/relaxc" RLX_INCLUDE="$repository/runtime-lite/include"
      RLX_LIB="$build/lib" CFLAGS="-O1 -Wall -Wextra -pedantic -Werror $flags")

fail() { echo "custom_op_test: $*" >&2; exit 1; }

"${make[@]}" clean build/peaks
build/peaks | tee printed.txt
sed -n '/^\$ make/,/^```/p' README.md | sed '1d;$d' >promised.txt
diff promised.txt printed.txt || fail "the README promises another output"
grep -q ops.json build/peaks.d || fail "make has to compile again when the rules change"

echo '#include "peaks.h"' >ops.c
if "${make[@]}" -B build/peaks 2>errors.txt; then fail "functions that are missing have to be link errors"; fi
grep -q find_peaks errors.txt || fail "the linker has to name the missing function"
