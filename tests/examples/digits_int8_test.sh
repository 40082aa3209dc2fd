#!/bin/bash
# The example in bytes fits its board, reads its digits, and links nothing that a typed call can do without.
# Usage: digits_int8_test.sh REPOSITORY BUILD. Exits with 77, and says why, where there is no cross compiler or no QEMU.
set -euo pipefail
repository=$1 build=$2
for tool in arm-none-eabi-gcc qemu-system-arm; do
  command -v $tool >/dev/null || { echo "skipped: there is no $tool"; exit 77; }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -r "$repository/examples/bare-metal" "$repository/examples/digits-int8" "$folder"
cd "$folder/digits-int8"

fail() { echo "digits_int8_test: $*" >&2; exit 1; }

make=(timeout 60 make --no-print-directory -s RELAXC="$build/bin/relaxc" RUNTIME="$repository/runtime-lite")
"${make[@]}" clean
"${make[@]}" build/digits8.elf  # tiny.ld fails where it does not fit
"${make[@]}" run >printed.txt 2>&1 || fail "the program says that it failed: $(cat printed.txt)"
sed -n '/^\$ make/,/^```/p' README.md | sed '1d;$d' | diff - printed.txt || fail "the README promises another output"
read -r text data bss _ < <(arm-none-eabi-size build/digits8.elf | tail -1)
stack=$(sed -n 's/.*arena, \([0-9]*\) bytes of stack/\1/p' printed.txt)
echo "$((text + data)) bytes of flash, $((data + bss + stack)) bytes of RAM with the stack"
((text + data <= 8192)) || fail "more than 8 KB of flash"
((data + bss + stack <= 4096)) || fail "more than 4 KB of RAM"

# The map names the sections that were linked: those before "Discarded" are not among them.
sed -n '/^Linker script and memory map/,$p' build/digits8.map >linked.txt
grep -q "digits8_run_" linked.txt || fail "the map does not show the typed call"
for part in digits8_model digits8.functions digits8.main.inputs digits8.main.name digits8.producer digits8.hash \
            rlx_generic rlx_status_name rlx_guard divdi3 _aeabi_ldivmod _aeabi_uldivmod bpabi.o; do
  ! awk '$2 != "0x0" || NF == 1' linked.txt | grep -qF "$part" || fail "the program holds $part"
done
! arm-none-eabi-objdump -s -j .rodata build/digits8.elf | grep -q "thumbv6m" || fail "the program holds strings of the descriptor"
