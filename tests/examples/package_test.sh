#!/bin/bash
# The Debian package holds what a clean system needs: it names the packages of every library that it loads, and from a root
# of its own the examples build and run.
# Usage: package_test.sh REPOSITORY BUILD [lintian]. With lintian, what it says of the packages is an error. Exits with 77 where there is no dpkg-shlibdeps or no right to install.
set -euo pipefail
repository=$1 build=$2
command -v dpkg-shlibdeps >/dev/null || { echo "skipped: there is no dpkg-shlibdeps"; exit 77; }
((EUID == 0)) || { echo "skipped: dpkg installs for root only"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() { echo "package_test: $*" >&2; exit 1; }

cpack -G DEB --config "$build/CPackConfig.cmake" -B "$folder/packed" -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip >"$folder/cpack.log" 2>&1 ||
  { cat "$folder/cpack.log"; fail "cpack"; }
package=$(echo "$folder"/packed/relaxc_*.deb) runtime=$(echo "$folder"/packed/librelax-rt-dev_*.deb)
if [[ ${3:-} == lintian ]]; then
  command -v lintian >/dev/null || { echo "skipped: there is no lintian"; exit 77; }
  lintian --allow-root --fail-on error,warning "$package" "$runtime" || fail "lintian"
  exit 0
fi
depends=$(dpkg-deb -f "$package" Depends)

root=$folder/root
mkdir -p "$root"/var/lib/dpkg/{updates,info}
touch "$root/var/lib/dpkg/status"
# The scripts of the package call ldconfig, and the root has no shell of its own.
into_root=(dpkg --root="$root" --force-depends --force-script-chrootless)
"${into_root[@]}" -i "$package" "$runtime" >"$folder/dpkg.log" 2>&1 || { cat "$folder/dpkg.log"; fail "dpkg"; }

# Every library that the program loads comes of a package that it depends on.
mapfile -t needed < <(readelf -d "$root/usr/bin/relaxc" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
((${#needed[@]} > 3)) || fail "readelf names no libraries"
for library in "${needed[@]}"; do
  owners=$(dpkg -S "*/$library" | cut -d: -f1 | sort -u)  # cross compilers bring libraries of the same name
  grep -qwFf - <(tr ',' '\n' <<<"$depends") <<<"$owners" || fail "$library is in none of Depends: $depends"
done

for file in man/man1/relaxc.1.gz bash-completion/completions/relaxc zsh/vendor-completions/_relaxc \
            fish/vendor_completions.d/relaxc.fish relaxc/python/relax_rt.py relaxc/javascript/relax_rt.mjs \
            relaxc/javascript/relax_rt_threads.mjs relaxc/javascript/relax_rt_worker.mjs \
            relaxc/runtime-lite/core/run.c relaxc/rust/relax-rt/src/lib.rs doc/relaxc/copyright doc/librelax-rt-dev/copyright; do
  [[ -s $root/usr/share/$file ]] || fail "there is no usr/share/$file"
done
library=$(echo "$root"/usr/lib/librelaxc.so.*.*)
[[ -s $library && -s $root/usr/include/relaxc.h && -s $root/usr/lib/pkgconfig/relaxc.pc ]] || fail "there is no librelaxc"
bash -n "$root/usr/share/bash-completion/completions/relaxc" || fail "bash cannot read its completion"

cp -r "$repository/examples" "$folder/examples"
cd "$folder/examples/digits"
make -s clean
make -s --no-print-directory RELAXC="$root/usr/bin/relaxc" RLX_INCLUDE="$root/usr/include" RLX_LIB="$root/usr/lib" build/digits
build/digits | grep -qx "12 of 12 right" || fail "the digits, by make"
make -s clean
cmake -S . -B by_cmake -DCMAKE_PREFIX_PATH="$root/usr" >"$folder/configure.log"
cmake --build by_cmake >"$folder/build.log" || { cat "$folder/build.log"; fail "the digits, by CMake"; }
by_cmake/digits | grep -qx "12 of 12 right" || fail "the digits, by CMake"
"$root/usr/bin/relaxc" digits.onnx --dim n=1..12 -o program || fail "a program, linked with the installed runtime"
./program --help | grep -q "Runs the model" || fail "the program does not run"
# Each file is in one of the two, and what links a program needs the runtime alone.
grep -q "librelax_rt.a" <<<"$(dpkg-deb -c "$runtime")" || fail "librelax-rt-dev has no librelax_rt.a"
[[ $depends == *"librelax-rt-dev (= "* ]] || fail "relaxc does not depend on librelax-rt-dev: $depends"
"${into_root[@]}" -r relaxc librelax-rt-dev >"$folder/dpkg.log" 2>&1 || fail "removing"
[[ ! -e $root/usr/bin/relaxc && ! -e $root/usr/share/relaxc ]] || fail "something is left behind"
