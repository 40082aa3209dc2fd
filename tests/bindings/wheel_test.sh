#!/bin/bash
# The release archive runs where it is unpacked, and the same build gives the same one. The wheel is built by the documented command, is small enough, refers to nothing of this machine, and works in an
# environment of its own with NumPy and onnx, without a C compiler. Exits with 77 without a network for pip.
# Usage: wheel_test.sh REPOSITORY BUILD
set -euo pipefail
repository=$1 build=$2
fail() { echo "wheel_test: $*" >&2; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

RELAXC_BUILD=$build python3 -m pip wheel --quiet --no-deps --wheel-dir "$folder/dist" "$repository"
wheel=("$folder"/dist/relaxc-*.whl)
bytes=$(stat -c %s "${wheel[0]}")
echo "${wheel[0]##*/}: $bytes bytes"
((bytes < 80 * 1000 * 1000)) || fail "the wheel has $bytes bytes"
RELAXC_BUILD=$build python3 "$repository/packaging/wheel.py" "$folder/again" --build "$build" >"$folder/log"
cmp "${wheel[0]}" "$folder"/again/relaxc-*.whl || fail "the same build gives other bytes"

python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check numpy onnx onnxruntime || exit 77
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-index "${wheel[0]}"
installed=$(echo "$folder"/venv/lib/python3*/site-packages/relaxc/tree)
! grep -rlF "$build" "$installed" || fail "the wheel refers to the build"
for file in "$installed"/lib/librelaxc.so.0 "$installed"/bin/relaxc "$installed"/lib/relaxc/*; do
  newest=$(objdump -T "$file" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -1)
  [[ $(printf '%s\nGLIBC_2.36\n' "$newest" | sort -V | tail -1) == GLIBC_2.36 ]] || fail "$file needs $newest"
  ! ldd "$file" | grep -E "libLLVM|not found" || fail "$file needs what the wheel does not bring"
done
ldd "$installed"/lib/librelaxc.so.0 | grep -E "libfmt|libprotobuf|libzstd" | grep -vF "$installed" &&
  fail "a library of this machine is taken in place of the wheel's"
# Without a C compiler on the path: what links is inside.
cd "$folder"
env -i PATH=/nowhere HOME="$folder" "$folder/venv/bin/python" "$repository/tests/bindings/package_test.py" wheel "$repository"

# The archive, unpacked elsewhere and without a C compiler on the path.
python3 "$repository/packaging/archive.py" "$folder/dist" --build "$build" >"$folder/log"
python3 "$repository/packaging/archive.py" "$folder/again" --build "$build" >"$folder/log"
archive=$(echo "$folder"/dist/relaxc-*.tar.xz)
cmp "$archive" "$folder"/again/relaxc-*.tar.xz || fail "the same build gives another archive"
mkdir "$folder/unpacked" && tar -xJf "$archive" -C "$folder/unpacked"
root=$(echo "$folder"/unpacked/relaxc-*)
env -i PATH=/nowhere "$root/bin/relaxc" "$repository/examples/digits/digits.onnx" -o "$folder/digits.so"
[[ -s $folder/digits.so && -s $root/share/doc/relaxc/LICENSE ]] || fail "the archive is not complete"
ls "$root"/share/doc/relaxc/licences/*protobuf* "$root"/share/doc/relaxc/licences/*llvm* >/dev/null || fail "licences"
