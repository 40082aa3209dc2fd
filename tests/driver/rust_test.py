"""--rust: declarations that rustc takes, and a program that calls by them. Where there is no rustc, their text alone.

Usage: rust_test.py RELAXC RUNTIME [unittest's own]"""

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

    @unittest.skipIf(LINK_FLAGS or not shutil.which("rustc"), "there is no rustc, or the runtime wants flags of its own")
    def test_a_program_calls_by_them(self):
        self.compiles("relu.relax", "--dim", "n=1..4", "-o", "m.o", "--rust", "m.rs")
        (self.path / "main.rs").write_text(MAIN)
        subprocess.run(["rustc", "--edition=2021", "main.rs", "-C", "link-arg=m.o", "-C", f"link-arg={RUNTIME}"], cwd=self.path, check=True)
        done = subprocess.run(["./main"], cwd=self.path, capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "0 [1.0, 0.0, 3.0, 0.0]\n")

    def test_the_file_may_not_be_another_one(self):
        self.refuses(2, "declarations for Rust", "relu.relax", "-o", "m.o", "--rust", "m.h")


if __name__ == "__main__":
    program.main()
