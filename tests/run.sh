#!/bin/bash
# Installs what is missing, builds, and runs the tests. Sources are compiled several in one unit, which takes half the
# time; a second run builds only what changed.
#
#   run.sh              the tests in a release, then those that sanitizers can see under the address and
#                       undefined-behaviour sanitizers; programs of unit tests that these run in full are not built twice
#   run.sh release      all tests in a release
#   run.sh asan-ubsan   what sanitizers can see, under them
#   run.sh all          both, and the long run: whole sweeps, from which the ordinary run takes a sample by seed, and the
#                       tests of a relaxc whose C++ Clang compiles
#
# Without a network, packages must be there already; what needs Python packages that pip cannot fetch is left out, and
# CMake says which tests that are. With CI set, that is an error.
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
  "" | release | asan-ubsan | all) ;;
  *) echo "usage: $0 [release|asan-ubsan|all]" >&2; exit 2 ;;
esac

cmake/install_packages.sh "$([[ ${1:-} == all ]] && echo long || echo test)"

# What tests in Python import, kept away from the system's packages; the copy of the lists inside shows whether it is
# current.
wanted=(tests/requirements.txt tests/tvm/requirements.txt)
pip_install() { build/venv/bin/pip install --quiet --disable-pip-version-check -r "$1"; }
if ! cat "${wanted[@]}" | cmp -s - build/venv/requirements.txt; then
  python3 -m venv --clear build/venv
  if pip_install "${wanted[0]}"; then
    # A large package that one test compares with; without it that test is skipped.
    pip_install "${wanted[1]}" || echo "apache-tvm cannot be installed: its test will be skipped" >&2
    cat "${wanted[@]}" >build/venv/requirements.txt
  else
    echo "${wanted[0]} cannot be installed: the tests that import NumPy or ONNX are left out" >&2
    rm -r build/venv
    [[ -z ${CI:-} ]] || exit 1
  fi
fi

long=OFF presets=(release asan-ubsan) follow=OFF follows=""
case "${1:-}" in
  "") follow=ON follows=$PWD/build ;;  # the second build has the tests that the first leaves out
  all) long=ON presets+=(clang) ;;
  ?*) presets=("$1") ;;
esac
failed=0  # a test that fails in one does not hide what the other finds
[[ -d build/lib ]] || echo "the first build of each preset takes about $((26 / $(nproc) + 1)) minutes with $(nproc) jobs"
for preset in "${presets[@]}"; do
  [[ $preset != clang ]] || long=OFF  # the sweeps have run
  shared=RELAXC_SANITIZERS_FOLLOW=$follow
  [[ $preset != asan-ubsan ]] || shared=RELAXC_FOLLOWS=$follows
  cmake --preset "$preset" -D CMAKE_UNITY_BUILD=ON -D RELAXC_LONG_TESTS=$long -D "$shared"
  cmake --build --preset "$preset"
  # One more at once than there are processors: a test waits for its files and for what it starts in a sixth of its time.
  ctest --preset "$preset" -j "$(($(nproc) + 1))" || failed=1
done
exit $failed
