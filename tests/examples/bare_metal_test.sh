#!/bin/bash
# The bare-metal example runs on every Cortex-M and RISC-V that its Makefile knows, and links nothing that a typed call can do without.
# Usage: bare_metal_test.sh REPOSITORY BUILD. Exits with 77 where there is no cross compiler or no QEMU.
set -euo pipefail
repository=$1 build=$2
unset COMPILER_RT
for tool in arm-none-eabi-gcc qemu-system-arm riscv64-unknown-elf-gcc qemu-system-riscv32 qemu-system-riscv64; do
  command -v $tool >/dev/null || { echo "skipped: there is no $tool"; exit 77; }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/examples"
cp -r "$repository/examples/bare-metal" "$repository/examples/digits" "$folder/examples"
cd "$folder/examples/bare-metal"

fail() { echo "bare_metal_test: $*" >&2; exit 1; }

rm -rf build
for cpu in cortex-m0plus cortex-m3 cortex-m4 cortex-m7 cortex-m33 cortex-m55 riscv32imac riscv64gc; do
  cross=arm-none-eabi-
  [[ $cpu == riscv* ]] && cross=riscv64-unknown-elf-
  make=(timeout 60 make --no-print-directory -s CPU=$cpu RELAXC="$build/bin/relaxc" RUNTIME="$repository/runtime-lite")
  elf=build/$cpu/digits.elf
  "${make[@]}" $elf
  "${make[@]}" run >printed.txt 2>&1 || fail "$cpu: the program says that it failed: $(cat printed.txt)"
  echo "$cpu: $(tail -1 printed.txt), $(${cross}size $elf | tail -1 | cut -f1) bytes of flash"
  grep -q "^12 of 12 right, " printed.txt || fail "$cpu: the network reads these twelve digits right"
  stack=$(sed -n 's/.*arena, \([0-9]*\) bytes of stack/\1/p' printed.txt)
  ((stack < 1024)) || fail "$cpu: $stack bytes of stack"
  ${cross}nm $elf >symbols.txt
  ! grep -E "digits_model|rlx_generic|rlx_status_name|_aeabi_u?ldivmod|__u?(div|mod|divmod)di" symbols.txt ||
    fail "$cpu: the typed call needs no table, no generic call and no division of 64 bits"
  code=$(${cross}nm -S -t d $elf | awk '$3 ~ /[tT]/ && $4 ~ /^digits/ { n += $2 } END { print n }')
  runtime=$(${cross}nm -S -t d $elf | awk '$4 ~ /^(rlx_|mem)/ { n += $2 } END { print n + 0 }')
  ((runtime < 2048)) || fail "$cpu: $runtime bytes of the runtime"
  ((code < 12288)) || fail "$cpu: $code bytes of code"
  if [[ $cpu == cortex-m4 ]]; then
    sed -n '/^\$ make/,/^```/p' README.md | sed '1d;$d' | diff - printed.txt || fail "the README promises another output"
  fi
done

# With LLVM's compiler-rt in libgcc's place, from its sources: below RELAXC_COMPILER_RT, or as tests/requirements.txt brings them.
python=$build/venv/bin/python
[[ -x $python ]] || python=$repository/build/venv/bin/python
sources=${RELAXC_COMPILER_RT:-$("$python" -c "import pythondata_software_compiler_rt as p; print(p.data_location)" 2>/dev/null || true)/lib/builtins}
if [[ ! -e $sources/addsf3.c ]]; then
  echo "not linked with compiler-rt: there are no sources of it (RELAXC_COMPILER_RT, or tests/requirements.txt in build/venv)"
  exit 0
fi
for cpu in cortex-m3 cortex-m4 riscv32imac; do
  make=(timeout 300 make --no-print-directory -s CPU=$cpu RELAXC="$build/bin/relaxc" RUNTIME="$repository/runtime-lite")
  "${make[@]}" clean
  timeout 300 make CPU=$cpu RELAXC="$build/bin/relaxc" RUNTIME="$repository/runtime-lite" COMPILER_RT="$sources" >commands.txt 2>&1 ||
    fail "$cpu with compiler-rt: $(cat commands.txt)"
  "${make[@]}" COMPILER_RT="$sources" run >printed.txt 2>&1 || fail "$cpu with compiler-rt: $(cat printed.txt)"
  grep -q "^12 of 12 right, " printed.txt || fail "$cpu with compiler-rt: $(cat printed.txt)"
  grep -q " -o .*digits.elf .*libclang_rt.builtins.a" commands.txt || fail "$cpu: compiler-rt is not linked"
  ! grep -q lgcc commands.txt || fail "$cpu: libgcc is linked as well"
  echo "$cpu with compiler-rt alone: $(tail -1 printed.txt)"
done
