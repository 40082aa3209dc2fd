#!/bin/bash
# The examples that are programs of their own print what their READMEs say.
# Usage: programs_test.sh REPOSITORY BUILD [C FLAGS that the build's libraries need]
set -euo pipefail
repository=$1 build=$2 flags=${3:-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -r "$repository/examples" "$folder/examples"
warnings="-O1 -Wall -Wextra -pedantic -Werror $flags"
make=(make --no-print-directory RELAXC="$build/bin/relaxc" RLX_INCLUDE="$repository/runtime-lite/include"
      RUNTIME="$repository/runtime-lite" RLX_LIB="$build/lib" CFLAGS="$warnings"
      CXXFLAGS="$warnings -Wshadow -Wconversion")

fail() { echo "programs_test: $*" >&2; exit 1; }

for example in decode fine-tune kv-cache streaming wrappers; do
  cd "$folder/examples/$example"
  "${make[@]}" clean >/dev/null
  "${make[@]}" run | grep -vE "^(cc|c\+\+|g\+\+|gcc|$build)" | tee printed.txt
  sed -n '/^\$ make/,/^```/p' README.md | sed '1d;/^```/d;/^\$/d' | diff - printed.txt ||
    fail "the README of $example promises another output"
  first=$(sed -n 's/^run: $(BUILD)\/\([a-z]*\).*/build\/\1/p' Makefile)
  "${make[@]}" -q "$first" || fail "$example: a second make has something to do"
done

# Only a plain build gives a library that another program can load.
python=$repository/build/venv/bin/python
[[ -z $flags && -x $python ]] || exit 0
cd "$folder/examples/wrappers"
"${make[@]}" python PYTHON="$python" | grep -qx "12 of 12 right" || fail "Python computes something else"
