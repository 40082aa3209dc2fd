#!/bin/bash
# All tests: installs what is missing, builds a release and runs every test in it, then builds again under the address and
# undefined-behaviour sanitizers and runs the tests there. Sources are compiled several in one unit, which takes half the
# time; a second run builds only what changed. "run.sh release" and "run.sh asan-ubsan" do one of the two.
set -euo pipefail
cd "$(dirname "$0")/.."

cmake/install_packages.sh test

# What tests in Python import, kept away from the system's packages; the copy of the lists inside tells whether it is current.
wanted=(tests/requirements.txt tests/tvm/requirements.txt)
if ! cat "${wanted[@]}" | cmp -s - build/venv/requirements.txt; then
  python3 -m venv --clear build/venv
  build/venv/bin/pip install --quiet --disable-pip-version-check -r tests/requirements.txt
  # A large package that one test compares with; without it that test is skipped.
  build/venv/bin/pip install --quiet --disable-pip-version-check -r tests/tvm/requirements.txt ||
    echo "apache-tvm cannot be installed: its test will be skipped" >&2
  cat "${wanted[@]}" >build/venv/requirements.txt
fi

for preset in ${1:-release asan-ubsan}; do
  cmake --preset "$preset" -D CMAKE_UNITY_BUILD=ON
  cmake --build --preset "$preset"
  ctest --preset "$preset" -j "$(nproc)"
done
