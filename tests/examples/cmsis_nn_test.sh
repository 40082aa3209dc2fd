#!/bin/bash
# The pattern file and the calls of CMSIS-NN in examples/external-library compute what relaxc's kernels compute, with
# functions that do as the library's do in its place.
# Usage: cmsis_nn_test.sh REPOSITORY BUILD [C FLAGS that the build's libraries need]
set -euo pipefail
repository=$1 build=$2 flags=${3:-}
example=$repository/examples/external-library stub=$repository/tests/examples/cmsis_nn_stub
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() { echo "cmsis_nn_test: $*" >&2; exit 1; }

"$build/bin/relaxc" "$stub/quantized.relax" -o own.o
"$build/bin/relaxc" "$stub/quantized.relax" --external-patterns "$example/cmsis-nn.txt" -o called.o 2>notes.txt ||
  { cat notes.txt >&2; exit 1; }
[[ ! -s notes.txt ]] || fail "every row has to match: $(cat notes.txt)"
# The prototypes of the header are those of the calls.
{ echo '#include "called.h"'; cat "$example/cmsis_nn.c"; } >cmsis_nn.c
read -ra link <<<"$flags"
cc -std=c99 -O1 -Wall -Wextra -pedantic -Werror "${link[@]}" -I"$repository/runtime-lite/include" -I. -I"$stub" \
  -o program "$stub/main.c" "$stub/arm_nnfunctions.c" cmsis_nn.c own.o called.o -L"$build/lib" -lrelax_rt -lm
./program
[[ $(nm called.o | grep -c ' U cmsis_nn_') == 2 ]] || fail "convolutions and dense layers have to be calls"
