#!/bin/bash
# The example with the compiler inside works as its README says.
# Usage: embed_test.sh REPOSITORY BUILD [C FLAGS that the build's libraries need]
set -euo pipefail
repository=$1 build=$2 flags=${3:-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -r "$repository/examples/embed" "$folder/embed"
cd "$folder/embed"
make=(make --no-print-directory SOURCE="$repository" ROOT="$build" CFLAGS="-O1 -Wall -Wextra -pedantic -Werror $flags")

fail() { echo "embed_test: $*" >&2; exit 1; }

"${make[@]}" clean >/dev/null
"${make[@]}" run | grep -vE "^(cc|gcc|build/embed)" | tee printed.txt
sed -n '/^\$ make/,/^```/p' README.md | sed '1d;$d' >promised.txt
diff promised.txt printed.txt || fail "the README promises another output"
"${make[@]}" -q build/use || fail "a second make has something to do"
