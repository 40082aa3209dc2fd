#!/bin/bash
# Models in CMake projects, with Ninja and Make: one compilation when a model or its weights change, none otherwise, nothing
# compiled again that includes an unchanged header; and for another machine with an ordinary toolchain file.
# Usage: build_systems_test.sh REPOSITORY BUILD [C FLAGS that the build's libraries need]
set -euo pipefail
repository=$1 build=$2 flags=${3:-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -r "$repository/examples" "$folder/examples"
rm -rf "$folder"/examples/*/build
cd "$folder"

fail() { echo "build_systems_test: $*" >&2; exit 1; }

cmake --install "$build" --prefix "$folder/prefix" >install.log
relaxc=$folder/prefix/bin/relaxc
[[ $("$relaxc" --cmake-dir) == "$folder/prefix/lib/cmake/relaxc" ]] || fail "--cmake-dir names another folder"

# The digits with weights in a file of their own.
mkdir project
"$relaxc" examples/digits/digits.onnx -o project/digits.relax --dim n=1..12
cp examples/digits/digits.c examples/digits/samples.h project
cat >project/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.21)
project(digits LANGUAGES C)
find_package(relaxc REQUIRED)
relaxc_add_model(digits_model digits.relax NAME digits DIMS n=1..12 SELFTEST ${KIND})
add_executable(digits digits.c)
target_link_libraries(digits PRIVATE digits_model)
END

# build FOLDER MODELS SOURCES: builds, and expects so many models and C files to be compiled.
build() {
  cmake --build "$1" --verbose >build.log 2>&1 || { cat build.log; fail "$1 does not build"; }
  local models sources
  models=$(grep -c "relaxc.* -MD" build.log || true)
  sources=$(grep -cE "(^| )-c .*digits\.c" build.log || true)
  ((models == $2 && sources == $3)) || { cat build.log; fail "$1: compiled $models models and $sources sources, not $2 and $3"; }
}

for generator in Ninja "Unix Makefiles"; do
  by="by_${generator##* }"
  [[ $generator == Ninja ]] && kind=OBJECT || kind=""
  cmake -G "$generator" -S project -B "$by" -DCMAKE_PREFIX_PATH="$folder/prefix" -DCMAKE_C_FLAGS="$flags" -DKIND=$kind \
    >configure.log
  build "$by" 1 1
  "$by/digits" | grep -qx "12 of 12 right" || fail "$generator: the network reads these twelve digits right"
  build "$by" 0 0
  for changed in digits.relax digits.safetensors; do
    sleep 1.1  # files are compared by times, which Make takes to the second
    touch "project/$changed"
    build "$by" 1 0
    build "$by" 0 0
  done
done

# Two models in one library; and what a misspelt word is told.
mkdir several
cat >several/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.21)
project(several LANGUAGES C)
find_package(relaxc REQUIRED)
relaxc_add_model(zoo ../examples/digits/digits.onnx ../examples/custom-op/peaks.onnx ${WORD} DIMS digits:n=1
                 FLAGS --custom-op ${CMAKE_SOURCE_DIR}/../examples/custom-op/ops.json)
END
cmake -G Ninja -S several -B by_several -DCMAKE_PREFIX_PATH="$folder/prefix" >configure.log
cmake --build by_several >build.log || { cat build.log; fail "two models in one library"; }
grep -q "zoo_digits_run" by_several/zoo.model/zoo.h && grep -q "zoo_peaks_run" by_several/zoo.model/zoo.h ||
  fail "the header of two models has both calls"
if cmake -S several -B by_misspelt -DCMAKE_PREFIX_PATH="$folder/prefix" -DWORD=SELFTST >configure.log 2>&1; then
  fail "a misspelt word has to be refused"
fi
grep -q "found 'SELFTST'" configure.log || fail "the message has to name the misspelt word"

cmake -G Ninja -S several -B by_budget -DCMAKE_PREFIX_PATH="$folder/prefix" "-DWORD=RAM_BUDGET;100" >configure.log
if cmake --build by_budget >build.log; then fail "a model that takes more than its budget has to be refused"; fi
grep -q "more than its budget of 100" build.log || { cat build.log; fail "the message has to name the budget"; }

# A header that another compilation left is not taken for the one of this build where it lies in an include directory, and
# warned of where it lies beside a source. The stray one is of another interface, with which nothing links.
mkdir -p stray/include
"$relaxc" examples/digits/digits.onnx -o stray/include/digits.o --dim n=1
cp examples/digits/digits.c examples/digits/samples.h stray
cat >stray/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.21)
project(stray LANGUAGES C)
find_package(relaxc REQUIRED)
add_executable(digits digits.c)
target_include_directories(digits BEFORE PRIVATE include)
relaxc_add_model(digits_model ../examples/digits/digits.onnx NAME digits DIMS n=1..12)
target_link_libraries(digits PRIVATE digits_model)
END
cmake -G Ninja -S stray -B by_stray -DCMAKE_PREFIX_PATH="$folder/prefix" -DCMAKE_C_FLAGS="$flags" >configure.log 2>&1
! grep -q "CMake Warning" configure.log || { cat configure.log; fail "there is nothing to warn of"; }
cmake --build by_stray >build.log || { cat build.log; fail "a stray header wins over the one of the build"; }
by_stray/digits | grep -qx "12 of 12 right" || fail "the digits beside a stray header"
mv stray/include/digits.h stray
cmake by_stray >configure.log 2>&1
grep -q "stray/digits.h, left by another" <(tr -s ' \n' ' ' <configure.log) || { cat configure.log; fail "nobody warns of stray/digits.h"; }

# A project with C++ alone; and flags of either language that name a CPU, which without one is relaxc's default.
mkdir cxx
cat >cxx/main.cpp <<'END'
#include "digits.h"
static digits_arena arena;
int main() {
  static float image[64], logits[10];
  rlx_context context = RLX_CONTEXT_INIT;
  context.arena = &arena, context.arena_bytes = sizeof arena;
  digits_args args{};
  args.n = 1, args.image = image, args.logits = logits;
  return digits_run(&context, &args);
}
END
cat >cxx/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.21)
project(cxx LANGUAGES ${LANGUAGES})
find_package(relaxc REQUIRED)
relaxc_add_model(digits_model ../examples/digits/digits.onnx NAME digits DIMS n=1..12)
if(CMAKE_CROSSCOMPILING)
  add_library(user STATIC main.cpp)
  add_custom_target(runtime ALL DEPENDS relaxc_runtime relaxc_runtime_memory)
else()
  add_executable(user main.cpp)
endif()
target_link_libraries(user PRIVATE digits_model)
END
# machine LANGUAGES FLAGS…: what relaxc is told.
machine() {
  rm -rf by_cxx
  cmake -S cxx -B by_cxx -DCMAKE_PREFIX_PATH="$folder/prefix" -DLANGUAGES="$1" "${@:2}" >configure.log 2>&1 ||
    { cat configure.log; fail "languages $1"; }
  grep -rhom1 --include=build.make -e "--target=[^ ]*\( --mcpu=[^ ]*\)\?" by_cxx | head -1
}
default=--target=x86_64-unknown-linux-gnu  # and no --mcpu
[[ $(machine CXX -DCMAKE_CXX_FLAGS="-march=x86-64") == *--mcpu=x86-64 ]] || fail "-march=x86-64 of C++"
[[ $(machine CXX -DCMAKE_CXX_FLAGS="-std=c++17 -Werror -O2 -mtune=native $flags") == "$default" ]] || fail "the default in C++"
cmake --build by_cxx >build.log || { cat build.log; fail "C++ alone"; }
by_cxx/user || fail "the program of C++ alone"
[[ $(machine "C;CXX") == "$default" ]] || fail "the default in C and C++"
[[ $(machine "C;CXX" -DCMAKE_CXX_FLAGS="-march=x86-64-v2") == *--mcpu=x86-64-v2 ]] || fail "-march of C++ beside C"
[[ $(machine "C;CXX" -DCMAKE_C_FLAGS="-march=x86-64") == *--mcpu=x86-64 ]] || fail "-march=x86-64 of C"

# Make and CMake in one folder, in either order: what one has made is nothing to the other.
together=(make --no-print-directory -C examples/digits RELAXC="$relaxc" RLX_INCLUDE="$folder/prefix/include"
          RLX_LIB="$folder/prefix/lib" CFLAGS="-O1 $flags")
by_cmake() {
  cmake -S examples/digits -B examples/digits/build -DCMAKE_PREFIX_PATH="$folder/prefix" -DCMAKE_C_FLAGS="$flags" >configure.log
  cmake --build examples/digits/build >build.log || { cat build.log; fail "CMake beside Make"; }
}
by_make() { "${together[@]}" >build.log || { cat build.log; fail "Make beside CMake"; }; }
for order in "by_make by_cmake by_make" "by_cmake by_make by_cmake"; do
  for by in $order; do
    $by
    examples/digits/build/digits | grep -qx "12 of 12 right" || fail "$by of $order"
  done
  rm -rf examples/digits/build
done
[[ -z $(find examples -newer install.log -type f) ]] || fail "a build leaves files beside the sources: $(find examples -newer install.log -type f)"

# pkg-config for the runtime.
PKG_CONFIG_PATH=$folder/prefix/lib/pkgconfig pkg-config --libs --cflags relax_rt | grep -q -- "-lrelax_rt" ||
  fail "pkg-config does not know the runtime"

# The compiler as a library, by CMake in C and C++, and by pkg-config.
mkdir embedding
cp examples/embed/embed.c embedding/main.c
cp examples/embed/embed.c embedding/main.cpp
cat >embedding/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.21)
project(embedding LANGUAGES C CXX)
find_package(relaxc REQUIRED)
foreach(language c cpp)
  add_executable(by_${language} main.${language})
  target_link_libraries(by_${language} PRIVATE relaxc::compiler)
endforeach()
END
cmake -G Ninja -S embedding -B by_embedding -DCMAKE_PREFIX_PATH="$folder/prefix" -DCMAKE_C_FLAGS="$flags" \
  -DCMAKE_CXX_FLAGS="$flags" >configure.log
cmake --build by_embedding >build.log || { cat build.log; fail "a program with the compiler inside"; }
for language in c cpp; do
  rm -f relu.o
  by_embedding/by_$language >/dev/null && [[ -s relu.o ]] || fail "the compiler inside of by_$language"
done
PKG_CONFIG_PATH=$folder/prefix/lib/pkgconfig pkg-config --libs --cflags relaxc | grep -q -- "-lrelaxc" ||
  fail "pkg-config does not know the compiler"

# The machine is read off the compiler.
"$relaxc" --print-target --target-from-cc "cc -march=x86-64-v3" | grep -q -- "--mcpu=x86-64-v3" || fail "x86-64-v3"
"$relaxc" --print-target --target-from-cc "cc -march=x86-64" | grep -q -- "--mcpu=x86-64$" || fail "x86-64"
! "$relaxc" --print-target --target-from-cc "cc" | grep -- --mcpu || fail "a CPU that nobody named"
! "$relaxc" --print-target | grep -- --mcpu || fail "a CPU that nobody named"
if "$relaxc" --print-target --target-from-cc "no-such-compiler" 2>errors.txt; then fail "a compiler that is not there"; fi

command -v arm-none-eabi-gcc >/dev/null || { echo "skipped the rest: there is no arm-none-eabi-gcc"; exit 0; }
while read -r cpu arguments expected; do
  "$relaxc" --print-target --target-from-cc "arm-none-eabi-gcc -mcpu=$cpu -mthumb ${arguments//,/ }" >printed.txt
  grep -q -- "--target=$expected --mcpu=$cpu" printed.txt || fail "$cpu $arguments is taken for $(cat printed.txt)"
done <<'END'
cortex-m0plus -mfloat-abi=soft                         thumbv6m-unknown-none-eabi
cortex-m3     -mfloat-abi=soft                         thumbv7m-unknown-none-eabi
cortex-m4     -mfloat-abi=hard,-mfpu=fpv4-sp-d16       thumbv7em-unknown-none-eabihf
cortex-m4     -mfloat-abi=softfp,-mfpu=fpv4-sp-d16     thumbv7em-unknown-none-eabi
cortex-m7     -mfloat-abi=hard,-mfpu=fpv5-d16          thumbv7em-unknown-none-eabihf
cortex-m33    -mfloat-abi=hard,-mfpu=fpv5-sp-d16       thumbv8m.main-unknown-none-eabihf
cortex-m55    -mfloat-abi=hard                         thumbv8.1m.main-unknown-none-eabihf
END

# C++ alone for another machine: the runtime is C all the same.
if command -v arm-none-eabi-g++ >/dev/null; then
  cat >cxx/arm.cmake <<'END'
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_CXX_COMPILER arm-none-eabi-g++)
set(CMAKE_CXX_FLAGS_INIT "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
END
  [[ $(machine CXX -DCMAKE_TOOLCHAIN_FILE="$folder/cxx/arm.cmake" -Drelaxc_DIR="$("$relaxc" --cmake-dir)") == *--mcpu=cortex-m4 ]] ||
    fail "C++ for a Cortex-M4"
  cmake --build by_cxx >build.log 2>&1 || { cat build.log; fail "C++ alone, for a Cortex-M4"; }
fi

# The toolchain file knows nothing of relaxc, and nothing looks for packages outside of its sysroot. A header of another
# build lies where the example looks for its samples.
cp stray/digits.h examples/digits
cross=(cmake -S examples/bare-metal -DCMAKE_TOOLCHAIN_FILE="$folder/examples/bare-metal/arm-none-eabi.cmake"
       -Drelaxc_DIR="$("$relaxc" --cmake-dir)")
for generator in "Unix Makefiles" Ninja; do
  rm -rf by_cross
  "${cross[@]}" -G "$generator" -B by_cross >configure.log 2>&1 || { cat configure.log; fail "a cross build does not configure"; }
  cmake --build by_cross >build.log 2>&1 || { cat build.log; fail "a cross build does not build"; }
  cmake --build by_cross --verbose >build.log
  ! grep -qE "arm-none-eabi-gcc .* -[co] |relaxc.* -MD" build.log || { cat build.log; fail "a second cross build has something to do"; }
done
if command -v qemu-system-arm >/dev/null; then
  timeout 60 qemu-system-arm -M mps2-an386 -nographic -semihosting-config enable=on,target=native \
    -kernel by_cross/digits.elf </dev/null >printed.txt 2>&1 || fail "the cross build ends with a failure"
  grep -q "^12 of 12 right" printed.txt || fail "the cross build computes something else"
fi
if "${cross[@]}" -B by_wrong -DMODEL_TARGET=cortex-m3 >configure.log 2>&1; then fail "another float ABI has to be refused"; fi
for machine in thumbv7m-unknown-none-eabi thumbv7em-unknown-none-eabihf; do
  tr -d '\n' <configure.log | tr -s ' ' | grep -q "$machine" || { cat configure.log; fail "the message has to name $machine"; }
done
