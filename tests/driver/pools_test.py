"""Memories beside the arena (--pool): what lies there, what the caller must lend, and that the answer is the same.

Usage: pools_test.py RELAXC RUNTIME [unittest's own]"""

import json
import re
import subprocess
from pathlib import Path

import program
from program import LINK_FLAGS, RUNTIME, ProgramTest

REPOSITORY = Path(__file__).resolve().parents[2]
DIGITS = REPOSITORY / "examples/digits/digits.onnx"
INCLUDE = REPOSITORY / "runtime-lite/include"
PLAIN = ("--dim", "n=1", "--threads", "1", "--name", "m")
POOLS = ("--pool", "fast=4K", "--pool", "near=8K", "--pool", "slow")

# argv[1]: which pool is wrong; argv[2]: 'short', 'odd', 'null', 'missing' or 'shared'. Prints both calls' status, axis and
# two numbers, then the outputs' bits.
MAIN = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "m.h"
static m_arena arena;
static unsigned char guard[64];
#ifdef M_POOL_FAST
static struct { m_pool_fast memory; unsigned char behind[64]; } fast;
static m_pool_near near;
#endif
extern const rlx_model m_model;
static float image[64], logits[10];
static void report(int status, const rlx_error* error) {
  printf("%s %d %lld %lld\\n", rlx_status_name(status), error->axis, (long long)error->expected, (long long)error->actual);
}
int main(int count, char** arguments) {
  (void)count, (void)arguments, (void)guard;
  for (int i = 0; i < 64; i++) image[i] = (float)((i * 37 + 11) % 17);
  rlx_error error = {0, -1, -1, -1, -1, 0, 0};
  rlx_context context = RLX_CONTEXT_INIT;
  context.arena = &arena;
  context.arena_bytes = sizeof arena;
  context.error = &error;
#ifdef M_POOL_FAST
  rlx_memory_pool pools[] = {[M_POOL_FAST] = {&fast, sizeof fast.memory}, [M_POOL_NEAR] = {&near, sizeof near}};
  memset(fast.behind, 0x5a, sizeof fast.behind);
  context.pools = pools;
  context.num_pools = 2;
  if (count > 1) {
    rlx_memory_pool* pool = &pools[atoi(arguments[1])];
    if (strcmp(arguments[2], "short") == 0) pool->bytes -= 1;
    if (strcmp(arguments[2], "odd") == 0) pool->data = (char*)pool->data + 4;
    if (strcmp(arguments[2], "null") == 0) pool->data = NULL;
    if (strcmp(arguments[2], "missing") == 0) context.num_pools = (unsigned)atoi(arguments[1]);
    if (strcmp(arguments[2], "shared") == 0) pool->data = pools[0].data;
  }
#endif
  const m_args args = {image, logits};
  if (count <= 1 || strcmp(arguments[2], "shared") != 0) report(m_run(&context, &args), &error);
  int64_t in_shape[] = {1, 1, 8, 8}, out_shape[] = {1, 10};
  const rlx_tensor in = {image, 1, 0, 4, RLX_DTYPE_FLOAT, 32, 1, in_shape, NULL, 0};
  rlx_tensor out = {logits, 1, 0, 2, RLX_DTYPE_FLOAT, 32, 1, out_shape, NULL, 0};
  report(m_model.functions[0].run(&context, &in, 1, &out, 1), &error);
  for (int i = 0; i < 10; i++) {
    unsigned bits;
    memcpy(&bits, &logits[i], 4);
    printf("%08x ", bits);
  }
#ifdef M_POOL_FAST
  for (int i = 0; i < 64; i++)
    if (fast.behind[i] != 0x5a) return 3;
#endif
  return 0;
}
"""


class Pools(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("main.c", MAIN)

    def build(self, form, *flags):
        self.compiles(DIGITS, *PLAIN, *flags, "-o", f"m.{form}", "--manifest=m.json" if form == "o" else "-v")
        subprocess.run(["cc", *LINK_FLAGS, "-ffp-contract=off", "main.c", f"m.{form}", RUNTIME, "-I", INCLUDE, "-lm", "-o",
                        "main"], cwd=self.path, check=True)
        return dict(re.findall(r"#define M_(\w+) (\d+)", (self.path / "m.h").read_text()))

    def answer(self, *arguments):
        done = subprocess.run(["./main", *arguments], cwd=self.path, capture_output=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 0)
        return done.stdout.decode().splitlines()

    def test_the_answer_is_that_without_pools_and_the_arena_shrinks(self):
        for form in ("o", "c"):
            without = self.build(form)
            *_, expected = self.answer()
            sizes = self.build(form, *POOLS)
            typed, generic, bits = self.answer()
            self.assertEqual([typed, generic], ["OK -1 0 0"] * 2)
            self.assertEqual(bits, expected)
            self.assertLess(int(sizes["ARENA_BYTES"]), int(without["ARENA_BYTES"]))
            self.assertTrue(0 < int(sizes["POOL_FAST_BYTES"]) <= 4096 and 0 < int(sizes["POOL_NEAR_BYTES"]) <= 8192, sizes)
            self.assertEqual(sizes["POOL_SLOW_BYTES"], sizes["ARENA_BYTES"])

    def test_a_pool_that_is_not_what_the_header_says_is_refused_by_both_calls(self):
        sizes = self.build("o", *POOLS)
        for index, name in enumerate(("FAST", "NEAR")):
            wants = int(sizes[f"POOL_{name}_BYTES"])
            for wrong, status in (("short", f"POOL_SIZE {index} {wants} {wants - 1}"), ("null", f"POOL_SIZE {index} {wants} 0"),
                                  ("missing", f"POOL_SIZE {index} {wants} 0"), ("odd", f"POOL_ALIGNMENT {index} 64 4")):
                typed, generic, bits = self.answer(str(index), wrong)
                self.assertEqual([typed, generic], [status] * 2)
                self.assertEqual(bits.split(), ["00000000"] * 10)

    def test_pools_that_share_bytes_are_refused(self):
        self.build("o", *POOLS)
        self.assertEqual(self.answer("1", "shared")[0], "OVERLAP -1 0 -4")

    def test_the_manifest_and_the_budget_count_pools(self):
        sizes = self.build("o", *POOLS)
        function, = json.loads((self.path / "m.json").read_text())["functions"]
        self.assertEqual(function["pools"], [{"name": n, "bytes": int(sizes[f"POOL_{n.upper()}_BYTES"])}
                                             for n in ("fast", "near")])
        self.compiles(DIGITS, *PLAIN, *POOLS, "--ram-budget=min", "-o", "m.o")
        least = sum(map(int, re.findall(r"POOL_\w+_BYTES (\d+)", (self.path / "m.h").read_text())))
        self.assertLess(least, sum(int(sizes[f"POOL_{n}_BYTES"]) for n in ("FAST", "NEAR", "SLOW")))
        self.compiles(DIGITS, *PLAIN, *POOLS, "--ram-budget", least, "-o", "m.o")
        self.refuses(1, f"takes {least} bytes of RAM, 1 more", DIGITS, *PLAIN, *POOLS, "--ram-budget", least - 1, "-o", "n.o")

    def test_the_report_draws_each_pool(self):
        self.compiles(DIGITS, *PLAIN, *POOLS, "-o", "m.o", "--report=m.json")
        profile, = json.loads((self.path / "m.json").read_text())["profiles"]
        room = {"": profile["arena_bytes"], **{pool["name"]: pool["bytes"] for pool in profile["pools"]}}
        self.assertEqual(list(room), ["", "fast", "near"])
        for name, bytes_ in room.items():
            pieces = [piece for piece in profile["memory"] if piece["pool"] == name]
            self.assertEqual(max(piece["offset"] + piece["bytes"] for piece in pieces), bytes_, name)

    def test_the_tools_provide_pools(self):
        self.compiles("verify", DIGITS, "--random", "--dim", "n=3", *POOLS)

    def test_a_dim_that_changes_is_in_a_pool_by_its_bound(self):
        self.compiles(DIGITS, "--dim", "n=1..4", "--name", "m", "--pool", "fast=64K", "-o", "m.o")
        fast = int(re.search(r"M_POOL_FAST_BYTES (\d+)", (self.path / "m.h").read_text())[1])
        self.assertTrue(0 < fast <= 65536)
        self.compiles("verify", DIGITS, "--random", "--dim", "n=1..4", "--pool", "fast=64K")

    def test_a_pool_for_which_nothing_is_small_enough_is_reported(self):
        done = self.compiles(DIGITS, *PLAIN, "--pool", "tiny=1", "-o", "m.o")
        self.assertIn("nothing of 'main' is in pool 'tiny'", done.err)

    def test_pools_that_make_no_sense_are_refused(self):
        for flags, why in ((["slow", "fast=1K"], "must be the last"), (["fast=1K", "fast=2K"], "two pools are named 'fast'"),
                           (["Fast=1K"], "in lower case"), (["fast=much"], "NAME=BYTES"), (["fast=0"], "NAME=BYTES")):
            words = [word for flag in flags for word in ("--pool", flag)]
            self.refuses(2, why, DIGITS, *PLAIN, *words, "-o", "m.o")


if __name__ == "__main__":
    program.main()
