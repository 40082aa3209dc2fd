#!/bin/bash
# Follows the README and the examples with an installed relaxc and nothing of the build tree or of the repository's runtime:
# C, C++, Make, CMake with one language or two, generated C by pkg-config's flags and for a machine without a C library,
# Rust, Python. Blocks are taken from the pages as they are there.
# Usage: installed_test.sh REPOSITORY BUILD [stage|driver|chroot]. In a stage the package's files are below a folder of their own;
# `driver` runs there what tests of the program say about messages, suggestions, help, tools, files of other kinds and loaders;
# `chroot` makes a Debian of its own with debootstrap, installs the package there with dpkg and apt, and needs root and a
# network. Exits with 77 where something for all of it is missing; what misses a tool of its own is left out and named.
set -euo pipefail
repository=$1 build=$2 kind=${3:-stage}
fail() { echo "installed_test: $*" >&2; exit 1; }

# follow PREFIX: in a folder with README.md, docs and examples, relaxc on the path.
follow() {
  local prefix=$1
  # block LANGUAGE: the first block of that language in the README.
  block() { awk -v fence="\`\`\`$1" '$0 == fence { on = 1; next } /^```/ { if (on) exit } on' README.md; }
  here=$PWD
  # Where compilers do not look by themselves. Others than the machine's get the sources' folder, which has no C library in it.
  [[ $prefix == /usr ]] || export PKG_CONFIG_PATH=$prefix/lib/pkgconfig CPATH=$prefix/include LIBRARY_PATH=$prefix/lib
  local headers=$prefix/share/relaxc/runtime-lite/include

  mkdir by_make by_cmake
  cp examples/digits/digits.onnx by_make
  { block c; echo 'int main(void) { static float image[64], logits[10]; return classify(image, logits); }'; } >by_make/app.c
  block make >by_make/Makefile
  make -s -C by_make && by_make/app || fail "the README's Makefile"
  cp by_make/app.c examples/digits/digits.onnx by_cmake
  cp by_cmake/app.c by_cmake/app.cpp
  sed -i 's/digits_args args = .*/digits_args args{}; args.n = 1, args.image = image, args.logits = logits;/' by_cmake/app.cpp
  local languages
  for languages in C CXX "C CXX"; do
    { echo "cmake_minimum_required(VERSION 3.21)"; echo "project(app LANGUAGES $languages)"
      [[ $languages == CXX ]] && echo "add_executable(app app.cpp)" || echo "add_executable(app app.c)"
      block cmake; } >by_cmake/CMakeLists.txt
    rm -rf by_cmake/build
    cmake -S by_cmake -B by_cmake/build -DCMAKE_PREFIX_PATH="$prefix" >log && cmake --build by_cmake/build >log ||
      { cat log; fail "the README's lines for CMake in a project of $languages"; }
    by_cmake/build/app || fail "the program of a project of $languages"
  done

  # Every example as its README calls it, but with the installed compiler.
  local example
  for example in decode streaming wrappers; do
    make -s -C examples/$example run RELAXC=relaxc >log || { cat log; fail "$example"; }
    sed -n '/^\$ make/,/^```/p' examples/$example/README.md | sed '1d;/^```/d;/^\$/d;/^build\//d' >promised
    grep -v "^build/" log | diff promised - || fail "the README of $example promises another output"
  done
  make -s -C examples/digits RELAXC=relaxc && examples/digits/build/digits | grep -qx "12 of 12 right" || fail "digits"
  LD_LIBRARY_PATH=$prefix/lib make -s -C examples/embed run INSTALLED=1 | grep -qx "0 2 0 4" || fail "embed"
  make -s -C examples/custom-op RELAXC=relaxc && examples/custom-op/build/peaks | grep -q "a peak at 5" || fail "custom-op"
  if command -v arm-none-eabi-gcc >/dev/null && command -v qemu-system-arm >/dev/null; then
    for example in bare-metal digits-int8; do
      timeout 60 make -s -C examples/$example run RELAXC=relaxc >log 2>&1 && grep -q "^12 of 12 right" log || { cat log; fail "$example"; }
    done
  else
    echo "left out: examples/bare-metal and digits-int8, there is no arm-none-eabi-gcc or no qemu-system-arm"
  fi

  # Generated C: the runtime by pkg-config; and for a board, where there is neither math.h nor string.h.
  mkdir c && cp by_make/app.c c && cd c
  relaxc "$here/examples/digits/digits.onnx" --dim n=1..12 -o digits.c
  # shellcheck disable=SC2046  # flags are words
  cc -O1 -std=c99 -ffp-contract=off -pedantic -Wall -Wextra -Werror app.c digits.c $(pkg-config --cflags --libs relax_rt) -lm -o app &&
    ./app || fail "generated C"
  cat >nodes.relax <<'END'
@R.function
def main(x: R.Tensor((4,), "float32"), z: R.Tensor((4,), "float64")) -> R.Tuple(R.Tensor((4,), "float32"), R.Tensor((4,), "float64")):
    with R.dataflow():
        a = R.floor(R.sqrt(R.abs(x))) + R.ceil(x) + R.round(x) + R.exp(x) + R.mod(x, R.const(3.0, "float32"))
        b = R.trunc(R.sqrt(R.abs(z))) + R.tanh(z) + R.floor(z)
        R.output(a, b)
    return (a, b)
END
  relaxc nodes.relax --target cortex-m3 -o nodes.c
  mkdir bare
  for header in math string; do echo "#error there is no $header.h" >bare/$header.h; done
  cc -std=c99 -ffreestanding -Wall -Wextra -Werror -Ibare -I"$headers" -c nodes.c -o nodes.o || fail "C without a C library"
  for compiler in arm-none-eabi-gcc riscv64-unknown-elf-gcc; do
    command -v $compiler >/dev/null || { echo "left out: $compiler"; continue; }
    env -u CPATH $compiler -std=c99 -ffreestanding -Wall -Wextra -Werror -I"$headers" -c nodes.c -o bare.o || fail "C by $compiler"
  done
  cd "$here"

  # Rust of either edition, Python.
  mkdir rust && cd rust
  cat >main.rs <<'END'
mod digits;
fn main() {
    let (image, mut logits) = ([0f32; 64], [0f32; 10]);
    let mut arena = Box::new(digits::digits_arena(unsafe { core::mem::zeroed() }));
    let mut context = digits::rlx_context::new();
    context.arena = arena.as_mut() as *mut _ as *mut core::ffi::c_void;
    context.arena_bytes = digits::DIGITS_ARENA_MAX as u64;
    let args = digits::digits_args { image: image.as_ptr(), logits: logits.as_mut_ptr(), n: 1 };
    std::process::exit(unsafe { digits::digits_run(&mut context, &args) });
}
END
  local edition
  for edition in 2021 2024; do
    rustc --edition $edition --print cfg >/dev/null 2>&1 || { echo "left out: no rustc knows edition $edition"; continue; }
    relaxc "$here/examples/digits/digits.onnx" --dim n=1..12 -o digits.o --rust digits.rs --rust-edition $edition
    rustc --edition $edition main.rs -C link-arg=digits.o -C link-arg="$prefix/lib/librelax_rt.a" && ./main || fail "Rust $edition"
  done
  cd "$here"
  local python=${PYTHON:-python3}
  if "$python" -c "import numpy" 2>/dev/null; then
    make -s -C examples/wrappers python RELAXC=relaxc PYTHON="$python" | grep -qx "12 of 12 right" || fail "Python"
    PYTHONPATH=$prefix/share/relaxc/python RELAXC_CACHE=$here/cache PYTHONDONTWRITEBYTECODE=1 "$python" -c '
import numpy, relaxc
model = relaxc.compile("examples/digits/digits.onnx", threads=2)
assert model(numpy.zeros((3, 1, 8, 8)))["logits"].shape == (3, 10)' || fail "the package for Python"
  else
    echo "left out: $python has no NumPy"
  fi
  relaxc examples/digits/digits.onnx --dim n=1..12 -o program && ./program --help | grep -q "Runs the model" || fail "a program"
}

if [[ $kind == inside ]]; then  # the chroot
  cd /work
  follow /usr
  # What a page needs is not there, and one line says what to install.
  if ! command -v clang >/dev/null; then
    message=$(relaxc examples/digits/digits.onnx -o page.wasm 2>&1) && fail "a .wasm appears without a linker"
    [[ $message == *"install clang and lld"* ]] || fail "what a .wasm without a linker says: $message"
  fi
  exit 0
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
pack() {
  cpack -G DEB --config "$build/CPackConfig.cmake" -B "$folder/packed" -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip >"$folder/cpack.log" 2>&1 ||
    { cat "$folder/cpack.log"; fail "cpack"; }
}
mkdir "$folder/work"
cp -r "$repository/README.md" "$repository/examples" "$folder/work"
rm -rf "$folder"/work/examples/*/build

if [[ $kind == chroot ]]; then
  command -v debootstrap >/dev/null || { echo "skipped: there is no debootstrap"; exit 77; }
  ((EUID == 0)) || { echo "skipped: debootstrap wants root"; exit 77; }
  pack
  debootstrap --variant=minbase bookworm "$folder/root" >"$folder/log" 2>&1 || { tail "$folder/log"; echo "skipped: no Debian to be had"; exit 77; }
  # LLVM 22 and rustc-web come with Debian's security updates, which debootstrap leaves out, by the way this machine takes.
  echo "deb http://deb.debian.org/debian-security bookworm-security main" >>"$folder/root/etc/apt/sources.list"
  cp /etc/apt/apt.conf.d/* "$folder/root/etc/apt/apt.conf.d"
  cp "$folder"/packed/relaxc_*.deb "$folder/root/relaxc.deb"
  cp "$folder"/packed/librelax-rt-dev_*.deb "$folder/root/runtime.deb"
  cp -r "$folder/work" "$folder/root/work"
  cp "$0" "$folder/root/installed_test.sh"
  # With /proc, as every Debian has it; the mount ends with the namespace.
  unshare --mount --propagation private bash -ec 'mount -t proc proc "$0/proc" && exec chroot "$0" bash -ec "$1"' "$folder/root" "apt-get -qq update
    DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends /relaxc.deb /runtime.deb gcc g++ libc6-dev make cmake \
      pkg-config python3-numpy rustc-web gcc-arm-none-eabi qemu-system-arm gcc-riscv64-unknown-elf >/dev/null
    bash /installed_test.sh / / inside" || fail "in a Debian of its own"
  exit 0
fi

if command -v dpkg-shlibdeps >/dev/null; then
  pack
  dpkg -x "$folder"/packed/relaxc_*.deb "$folder/root"
  dpkg -x "$folder"/packed/librelax-rt-dev_*.deb "$folder/root"
  prefix=$folder/root/usr
else
  cmake --install "$build" --prefix "$folder/prefix" >"$folder/install.log"
  prefix=$folder/prefix
fi
PYTHON=$repository/build/venv/bin/python
[[ -x $PYTHON ]] || PYTHON=python3
export PYTHON PATH=$prefix/bin:$PATH
cd "$folder/work"
if [[ $kind == driver ]]; then
  export PYTHONDONTWRITEBYTECODE=1
  for name in suggestions foreign messages outputs output_names tools bounds; do
    "$PYTHON" "$repository/tests/driver/${name}_test.py" "$prefix/bin/relaxc" "$prefix/lib/librelax_rt.a" || fail "driver:$name"
  done
  for name in messages javascript; do
    status=0
    "$PYTHON" "$repository/tests/bindings/${name}_test.py" "$prefix/bin/relaxc" "$repository" || status=$?
    ((status == 0 || status == 77)) || fail "bindings:$name"
  done
  exit 0
fi
follow "$prefix"
