#!/bin/bash
# install_packages.sh build|test|wheel|long: installs the Debian 12 packages of that group that are missing. Does nothing, quickly,
# when none is. Needs root only if something is missing. LLVM 22 comes from a package source that has llvm-22-dev.
set -euo pipefail

build=(cmake ninja-build make g++ ccache llvm-22-dev zlib1g-dev libzstd-dev libcli11-dev nlohmann-json3-dev libfmt-dev
       libprotobuf-dev protobuf-compiler libflatbuffers-dev flatbuffers-compiler catch2 python3 pkg-config dpkg-dev file)
test=(clang-format-14 clang clang-22 cppcheck lld lld-22 nodejs node-typescript meson libonnx-testdata python3-venv rustc cargo golang-go libdnnl-dev lintian graphviz chromium
      debootstrap qemu-user qemu-system-arm qemu-system-misc gcc-arm-none-eabi gcc-riscv64-unknown-elf gcc-aarch64-linux-gnu
      libc6-dev-arm64-cross gcc-arm-linux-gnueabihf libc6-dev-armhf-cross gcc-riscv64-linux-gnu libc6-dev-riscv64-cross
      gcc-powerpc-linux-gnu libc6-dev-powerpc-cross gcc-s390x-linux-gnu libc6-dev-s390x-cross gcc-mips-linux-gnu
      libc6-dev-mips-cross)
wheel=(liblld-22-dev libpolly-22-dev)  # the wheel has LLVM inside
long=(frama-c-base why3 z3)  # Frama-C proves contracts of C, in the long run alone

case "${1:-}" in
  build) wanted=("${build[@]}") ;;
  wheel) wanted=("${build[@]}" "${wheel[@]}") ;;
  test) wanted=("${build[@]}" "${wheel[@]}" "${test[@]}") ;;
  long) wanted=("${build[@]}" "${wheel[@]}" "${test[@]}" "${long[@]}") ;;
  *) echo "usage: $0 build|test|wheel|long" >&2; exit 2 ;;
esac

missing=()
for package in "${wanted[@]}"; do
  [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
done
((${#missing[@]})) || exit 0

if ((EUID)); then
  echo "missing packages; as root: apt-get install --no-install-recommends ${missing[*]}" >&2
  exit 1
fi
echo "installing ${#missing[@]} packages by apt-get, which takes some minutes the first time: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
if [[ -z $(apt-cache madison llvm-22-dev) ]]; then
  echo "no package source has llvm-22-dev: add LLVM's Debian packages as apt.llvm.org describes, then run this again" >&2
  exit 1
fi
# Without its log, but with a line for each package that is unpacked.
apt-get -qq install -y --no-install-recommends "${missing[@]}" | sed -un 's/^Unpacking \([^ ]*\) .*/  \1/p'
