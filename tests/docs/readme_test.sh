#!/bin/bash
# What the README shows works as it is there: the command, the C function, the Makefile, the lines for CMake.
# Usage: readme_test.sh REPOSITORY BUILD [C FLAGS that the build's libraries need]
set -euo pipefail
repository=$1 build=$2 flags=${3:-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() { echo "readme_test: $*" >&2; exit 1; }
# block LANGUAGE: the first block of that language.
block() { awk -v fence="\`\`\`$1" '$0 == fence { on = 1; next } /^```/ { if (on) exit } on' "$repository/README.md"; }

mkdir "$folder/by_make" "$folder/by_cmake"
cd "$folder/by_make"
ln -s "$repository/examples" "$repository/runtime-lite" .
ln -s "$build" build
bash -euc "$(grep -m1 '^build/bin/relaxc examples' "$repository/README.md")"
[[ -s digits.o && -s digits.h ]] || fail "the command writes digits.o and digits.h"
rm digits.o digits.h
cp "$repository/examples/digits/digits.onnx" .
{ block c; echo 'int main(void) { static float image[64], logits[10]; return classify(image, logits); }'; } >app.c
block make >Makefile
PATH=$build/bin:$PATH make CC="cc -Wall -Wextra -Werror $flags" >make.log || { cat make.log; fail "the Makefile"; }
./app || fail "the program that make built"
PATH=$build/bin:$PATH make -q || fail "a second make has something to do"

cd "$folder/by_cmake"
cmake --install "$build" --prefix "$folder/prefix" >install.log
cp ../by_make/app.c ../by_make/digits.onnx .
{ echo 'cmake_minimum_required(VERSION 3.21)'; echo 'project(app LANGUAGES C)'; echo 'add_executable(app app.c)'; block cmake; } \
  >CMakeLists.txt
cmake -B build -DCMAKE_PREFIX_PATH="$folder/prefix" -DCMAKE_C_FLAGS="$flags" . >configure.log
cmake --build build >build.log || { cat build.log; fail "the lines for CMake"; }
build/app || fail "the program that CMake built"
