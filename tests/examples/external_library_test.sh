#!/bin/bash
# The example with kernels of oneDNN works as its README says, and its object calls what the pattern file names. Skips
# where oneDNN is missing.
# Usage: external_library_test.sh REPOSITORY BUILD [C FLAGS that the build's libraries need]
set -euo pipefail
repository=$1 build=$2 flags=${3:-}
echo '#include <oneapi/dnnl/dnnl.hpp>' | c++ -std=c++17 -fsyntax-only -x c++ - 2>/dev/null ||
  { echo "external_library_test: skipped, there is no oneDNN (libdnnl-dev)"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/examples"
cp -r "$repository/examples/external-library" "$repository/examples/digits" "$folder/examples"
cd "$folder/examples/external-library"
make=(make --no-print-directory RELAXC="$build/bin/relaxc" RLX_INCLUDE="$repository/runtime-lite/include"
      RLX_LIB="$build/lib" CFLAGS="-O1 -Wall -Wextra -pedantic -Werror $flags")

fail() { echo "external_library_test: $*" >&2; exit 1; }

"${make[@]}" clean build/digits
build/digits | tee printed.txt
sed -n '/^\$ make/,/^```/p' README.md | sed '1d;$d' >promised.txt
diff promised.txt printed.txt || fail "the README promises another output"
grep -q onednn.txt build/digits_onednn.d || fail "make has to compile again when the patterns change"
for name in onednn_conv_relu onednn_dense; do
  nm build/digits_onednn.o | grep -q "U $name" || fail "the object has to call $name"
done
nm build/digits_own.o | grep -q onednn && fail "without patterns nothing is called"
exit 0
