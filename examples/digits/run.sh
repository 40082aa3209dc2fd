#!/bin/bash
# First light: installs what is missing, builds relaxc into build/, compiles digits.onnx, links it into digits.c through the
# Makefile beside it, and shows what the program sees. What is made is below build/.
set -euo pipefail
cd "$(dirname "$0")/../.."

cmake/install_packages.sh build
if [[ ! -x build/bin/relaxc ]]; then
  echo "building relaxc with $(nproc) jobs: about $((16 / $(nproc) + 1)) minutes the first time"
fi
[[ -f build/build.ninja ]] || cmake --preset release -D CMAKE_UNITY_BUILD=ON
cmake --build --preset release --target relaxc relax_rt
make --no-print-directory -C examples/digits BUILD="$PWD/build/examples/digits"
build/examples/digits/digits
