#!/bin/bash
# The digits example works as its README says, by make and by CMake from an installed relaxc, and both print the same.
# Usage: digits_test.sh REPOSITORY BUILD [C FLAGS that the build's libraries need]
set -euo pipefail
repository=$1 build=$2 flags=${3:-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -r "$repository/examples/digits" "$folder/digits"
cd "$folder/digits"
make=(make --no-print-directory RELAXC="$build/bin/relaxc" RLX_INCLUDE="$repository/runtime-lite/include"
      RLX_LIB="$build/lib" CFLAGS="-O1 -Wall -Wextra -pedantic -Werror $flags")

fail() { echo "digits_test: $*" >&2; exit 1; }

# By make: it builds, it is up to date afterwards, and a model that changed is compiled again.
"${make[@]}" clean build/digits
build/digits | tee "$folder/by_make.txt"
grep -qx "12 of 12 right" "$folder/by_make.txt" || fail "the network reads these twelve digits right"
"${make[@]}" -q build/digits || fail "a second make has nothing to do"
touch -d '1 minute ago' build/digits.o
! "${make[@]}" -q build/digits || fail "a newer model has to be compiled again"

# By CMake, from an installed package that knows nothing of the build tree.
"${make[@]}" clean
cmake --install "$build" --prefix "$folder/prefix" >"$folder/install.log"
! grep -r --include='*.cmake' -F "$build" "$folder/prefix" || fail "the package refers to the build tree"
cmake -S . -B by_cmake -DCMAKE_PREFIX_PATH="$folder/prefix" -DCMAKE_C_FLAGS="$flags" >"$folder/configure.log"
cmake --build by_cmake
by_cmake/digits >"$folder/by_cmake.txt"
diff "$folder/by_make.txt" "$folder/by_cmake.txt" || fail "make and CMake print different predictions"
cmake --build by_cmake | tee "$folder/second.log"
! grep -q "Compiling model" "$folder/second.log" || fail "a second build compiles the model again"

# By Meson, where there is one.
if command -v meson >/dev/null && [[ -z $flags ]]; then
  PKG_CONFIG_PATH=$folder/prefix/lib/pkgconfig PATH=$PATH:$folder/prefix/bin meson setup by_meson >"$folder/meson.log"
  meson compile -C by_meson >"$folder/meson.log"
  by_meson/digits >"$folder/by_meson.txt"
  diff "$folder/by_make.txt" "$folder/by_meson.txt" || fail "make and Meson print different predictions"
  meson compile -C by_meson | grep -q "no work to do" || fail "a second build by Meson has something to do"
  touch digits.onnx
  meson compile -C by_meson | grep -c "\[1/" >/dev/null || fail "Meson compiles a newer model"
fi
