"""--rust: declarations that rustc takes, and a program that calls by them. Where there is no rustc, their text alone.

Editions of Rust differ in how foreign functions are declared; each is compiled where a rustc is there that knows it.

Usage: rust_test.py RELAXC RUNTIME [unittest's own]"""

import os
import shutil
import subprocess
import unittest

import program
from program import LINK_FLAGS, RUNTIME, ProgramTest

MAIN = """mod m;
fn main() {
    let mut arena = m::m_arena(unsafe { core::mem::zeroed() });
    let mut context = m::rlx_context::new();
    context.arena = &mut arena as *mut _ as *mut core::ffi::c_void;
    context.arena_bytes = m::M_ARENA_MAX as u64;
    let x = [1.0f32, -2.0, 3.0, -4.0];
    let mut y = [0f32; 4];
    let args = m::m_args { x: x.as_ptr(), y: y.as_mut_ptr(), n: 1 };
    let status = unsafe { m::m_run(&mut context, &args) };
    println!("{} {:?}", status, y);
}
"""


def compilers(edition):
    """The rustc of this machine that know the edition: the usual one, Debian's, and that of RELAXC_RUSTC (Debian's rustc-web cannot be beside its rustc)."""
    places = [os.environ.get("RELAXC_RUSTC"), shutil.which("rustc"), "/usr/bin/rustc"]
    found = []
    for place in dict.fromkeys(filter(None, places)):
        tried = subprocess.run([place, "--edition", edition, "--print", "cfg"], capture_output=True, check=False) \
            if shutil.which(place) else None
        if tried is not None and tried.returncode == 0:
            found.append(place)
    return found


class Rust(ProgramTest):
    def test_declares_the_typed_call(self):
        self.compiles("relu.relax", "--dim", "n=1..4", "-o", "m.o", "--rust", "m.rs")
        text = (self.path / "m.rs").read_text()
        for line in ("pub struct m_args {", "    pub x: *const f32,", "    pub y: *mut f32,", "    pub n: i64,",
                     "    pub error: *mut rlx_error,", "    pub fn m_run("):
            self.assertIn(line, text)
        name = text.split('link_name = "')[1].split('"')[0]
        symbols = subprocess.run(["nm", "m.o"], cwd=self.path, capture_output=True, text=True, check=True).stdout
        self.assertIn(f" T {name}\n", symbols)

    def calls(self, edition, *flags):
        found = compilers(edition)
        if LINK_FLAGS or not found:
            self.skipTest(f"there is no rustc that knows edition {edition}, or the runtime wants flags of its own")
        self.compiles("relu.relax", "--dim", "n=1..4", "-o", "m.o", "--rust", "m.rs", *flags)
        (self.path / "main.rs").write_text(MAIN)
        for rustc in found:
            subprocess.run([rustc, f"--edition={edition}", "-D", "warnings", "main.rs", "-C", "link-arg=m.o", "-C",
                            f"link-arg={RUNTIME}"], cwd=self.path, check=True)
            done = subprocess.run(["./main"], cwd=self.path, capture_output=True, text=True, check=True)
            self.assertEqual(done.stdout, "0 [1.0, 0.0, 3.0, 0.0]\n")

    def test_a_program_calls_by_them(self):
        self.calls("2021")
        self.calls("2018", "--rust-edition=2021")

    def test_a_program_of_edition_2024_calls_by_them(self):
        self.calls("2024", "--rust-edition=2024")

    def test_editions_differ_in_the_foreign_block_alone(self):
        texts = []
        for edition in ("2021", "2024"):
            self.compiles("relu.relax", "-o", "m.o", "--rust", "m.rs", "--rust-edition", edition)
            texts.append((self.path / "m.rs").read_text())
        self.assertIn('\nunsafe extern "C" {\n', texts[1])
        self.assertEqual(texts[0], texts[1].replace("unsafe extern", "extern").replace("pub unsafe fn", "pub fn"))
        self.refuses(2, "--rust-edition", "relu.relax", "-o", "m.o", "--rust", "m.rs", "--rust-edition", "2015")
        self.refuses(2, "--rust", "relu.relax", "-o", "m.o", "--rust-edition", "2024")

    def test_an_entry_that_needs_pools_has_no_safe_call(self):
        for flags, safe in (((), True), (("--pool", "fast=64K"), False)):
            self.compiles("relu.onnx", "-o", "s.o", "--rust", "s.rs", "--rust-api", "safe", *flags)
            text = (self.path / "s.rs").read_text()
            self.assertEqual("pub fn run" in text, safe)
            self.assertEqual("There are no safe calls" in text, not safe)

    def test_the_file_may_not_be_another_one(self):
        self.refuses(2, "declarations for Rust", "relu.relax", "-o", "m.o", "--rust", "m.h")


if __name__ == "__main__":
    program.main()
