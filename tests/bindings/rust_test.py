"""The crates relax-rt and relaxc-build, and the safe calls that relaxc writes for them: the example, dims, states, outputs
that data size, entries, refusals, offsets of the records against a C compiler's. No registry is asked.

Usage: rust_test.py RELAXC REPOSITORY [unittest's own]"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

RELAXC, ROOT = Path(sys.argv.pop(1)).resolve(), Path(sys.argv.pop(1)).resolve()
CRATES = ROOT / "runtime-lite/rust"
if missing := [tool for tool in ("cargo", "rustc", "cc") if shutil.which(tool) is None]:
    print(f"skipped: there is no {', '.join(missing)}")
    sys.exit(77)

MODEL = """@R.function
def main(x: R.Tensor(("n", 4), "float32"), h: R.Tensor(("n", 4), "float32")):
    with R.dataflow():
        y = R.add(x, h)
        z = R.multiply(y, y)
        R.output(y, z)
    return (y, z)
"""

SIZES = """@R.function
def ones(mask: R.Tensor(("m",), "bool"), type: R.Tensor((2,), "int64")):
    places = R.nonzero(mask)
    twice = R.add(type, type)
    return (places, twice)

@R.function
def wide(x: R.Tensor(("k", 3), "uint8")):
    flat = R.reshape(x, (k * 3,))
    return flat
"""

PROGRAM = """mod m { relax_rt::include_model!("m"); }
mod s { relax_rt::include_model!("s"); }

fn main() {
    let dims = m::Dims { n: 2 };
    let mut arena = vec![0u8; m::arena_bytes(&dims).unwrap()];
    let (mut h, mut z) = ([0.0f32; 8], [0.0f32; 8]);
    for _ in 0..3 {
        m::run(&mut arena, &dims, &m::Inputs { x: &[1.0; 8] }, &mut m::States { h: &mut h }, &mut m::Outputs { z: &mut z }).unwrap();
    }
    println!("{:?} {:?}", h[7], z[7]);
    let short = m::run(&mut arena, &dims, &m::Inputs { x: &[1.0; 7] }, &mut m::States { h: &mut h }, &mut m::Outputs { z: &mut z });
    println!("{}", short.unwrap_err());
    let small = m::run(&mut arena, &dims, &m::Inputs { x: &[1.0; 8] }, &mut m::States { h: &mut h }, &mut m::Outputs { z: &mut z[..7] });
    println!("{}", small.unwrap_err());

    let (mut places, mut twice) = ([0i64; 4], [0i64; 2]);
    let mut arena = vec![0u8; 1 << 16];
    let mut call = |mask: &[u8], room: usize| {
        s::ones::run(&mut arena, &s::ones::Dims { m: mask.len() as i64 }, &s::ones::Inputs { mask, r#type: &[5, -6] },
            &mut s::ones::Outputs { PLACES: &mut places[..room], TWICE: &mut twice }).map(|shapes| shapes.PLACES)
    };
    println!("{:?}", call(&[0, 1, 0, 1, 1], 4).unwrap());
    println!("{}", call(&[0, 1, 0, 1, 1], 2).unwrap_err());
    println!("{:?} {:?}", &places[..3], twice);

    let mut flat = [0u8; 9];
    let shapes = s::wide::run(&mut [0; 4096], &s::wide::Dims { k: 2 }, &s::wide::Inputs { x: &[1, 2, 3, 4, 5, 6] },
        &mut s::wide::Outputs { FLAT: &mut flat }).unwrap();
    println!("{:?} {:?}", shapes.FLAT, &flat[..7]);
}
"""


class Rust(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def cargo(self, folder, *arguments, **environment):
        return subprocess.run(["cargo", *arguments, "--offline", "-q"], cwd=folder, capture_output=True, text=True, check=False,
                              env={**os.environ, "CARGO_TARGET_DIR": str(self.folder / "target"), "RUSTFLAGS": "-D warnings", **environment})

    def test_the_example_by_relaxc_and_by_path(self):
        lock = ROOT / "examples/rust/Cargo.lock"  # an older cargo does not read what a newer one wrote
        lock.unlink(missing_ok=True)
        self.addCleanup(lock.unlink, missing_ok=True)
        for environment in ({"RELAXC": str(RELAXC)}, {"PATH": f"{RELAXC.parent}:{os.environ['PATH']}"}):
            done = self.cargo(ROOT / "examples/rust", "run", **environment)
            self.assertEqual((done.stdout, done.stderr), ("12 of 12 right\n", ""))

    def crate(self, main, **files):
        (self.folder / "src").mkdir()
        (self.folder / "Cargo.toml").write_text(f"""[package]
name = "app"
version = "0.1.0"
edition = "2021"
[dependencies]
relax-rt = {{ path = "{CRATES}/relax-rt" }}
[build-dependencies]
relaxc-build = {{ path = "{CRATES}/relaxc-build" }}
""", encoding="utf-8")
        (self.folder / "src/main.rs").write_text(main, encoding="utf-8")
        for name, text in files.items():
            (self.folder / name.replace("_", ".")).write_text(text, encoding="utf-8")

    def test_dims_states_sizes_of_data_and_refusals(self):
        self.crate("", m_relax=MODEL, s_relax=SIZES)
        outputs = {}
        for model, *flags in (("m", "--state", "h:y"), ("s",)):
            subprocess.run([RELAXC, f"{model}.relax", "-o", f"{model}.o", *flags, "--rust", f"{model}.rs", "--rust-api", "safe"],
                           cwd=self.folder, check=True, capture_output=True)
            for part in (self.folder / f"{model}.rs").read_text(encoding="utf-8").split("pub mod ")[1:]:
                outputs[part.split(" {")[0]] = re.findall(r"    pub (\S+): \[i64", part)
        program = PROGRAM.replace("PLACES", outputs["ones"][0]).replace("TWICE", outputs["ones"][1]).replace("FLAT", outputs["wide"][0])
        (self.folder / "src/main.rs").write_text(program.replace("z: &mut z", f"{outputs['main'][0]}: &mut z"), encoding="utf-8")
        (self.folder / "build.rs").write_text('fn main() { relaxc_build::Model::new("m.relax").state("h:y").compile(); relaxc_build::Model::new("s.relax").compile(); }\n')
        done = self.cargo(self.folder, "run", RELAXC=str(RELAXC))
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0], "3.0 9.0")
        self.assertEqual(lines[1], "CAPACITY: found 7, expected 8")
        self.assertEqual(lines[2], "CAPACITY: found 7, expected 8")
        self.assertEqual(lines[3], "[1, 3]")
        self.assertTrue(lines[4].startswith("DATA_CAPACITY"), lines[4])
        self.assertEqual(lines[5:], ["[1, 3, 4] [10, -12]", "[6] [1, 2, 3, 4, 5, 6, 0]"])

    def test_a_crate_of_edition_2024(self):
        known = subprocess.run(["rustc", "--edition", "2024", "--print", "cfg"], capture_output=True, check=False)
        if known.returncode != 0:
            self.skipTest("this rustc does not know edition 2024")
        self.crate('mod m { relax_rt::include_model!("m"); }\nfn main() { println!("{}", m::arena_bytes(&m::Dims { n: 1 }).unwrap() > 0); }\n',
                   m_relax=MODEL, build_rs='fn main() { relaxc_build::Model::new("m.relax").edition("2024").compile(); }\n')
        manifest = self.folder / "Cargo.toml"
        manifest.write_text(manifest.read_text(encoding="utf-8").replace("2021", "2024"), encoding="utf-8")
        done = self.cargo(self.folder, "run", RELAXC=str(RELAXC))
        self.assertEqual((done.stdout, done.stderr), ("true\n", ""))

    def test_messages_of_the_build(self):
        self.crate("fn main() {}\n", m_relax="nonsense")
        (self.folder / "build.rs").write_text('fn main() { relaxc_build::Model::new("m.relax").compile(); }\n')
        for relaxc, said in ((str(RELAXC), "relaxc could not compile m.relax"), ("/nowhere/relaxc", "set RELAXC to the path of relaxc")):
            done = self.cargo(self.folder, "build", RELAXC=relaxc)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(said, done.stderr)

    def test_prim_funcs_are_declared(self):
        (self.folder / "m.relax").write_text("""@T.prim_func
def twice(a: T.handle, s: T.float32, b: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n,), "float32")
    B = T.match_buffer(b, (n,), "float32")
    for i in range(n):
        B[i] = A[i] * s
""", encoding="utf-8")
        subprocess.run([RELAXC, "m.relax", "-o", "m.o", "--rust", "m.rs"], cwd=self.folder, check=True, capture_output=True)
        (self.folder / "main.rs").write_text("""mod m;
fn main() {
    let (mut a, mut b) = ([1.0f32, -2.5], [0.0f32; 2]);
    let status = unsafe { m::m_twice(core::ptr::null_mut(), a.as_mut_ptr(), 3.0, b.as_mut_ptr(), 2) };
    println!("{} {:?}", status, b);
}
""", encoding="utf-8")
        subprocess.run(["rustc", "--edition=2021", "-D", "warnings", "main.rs", "-C", "link-arg=m.o", "-C",
                        f"link-arg={RELAXC.parent.parent}/lib/librelax_rt.a"], cwd=self.folder, check=True)
        done = subprocess.run(["./main"], cwd=self.folder, capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "0 [3.0, -7.5]\n")

    def test_records_have_the_layout_of_a_c_compiler(self):
        text = (CRATES / "relax-rt/src/abi.rs").read_text(encoding="utf-8")
        structs = {name: re.findall(r"pub (\w+):", body) for name, body in re.findall(r"pub struct (\w+) {\n(.*?)\n}", text, re.S)}
        self.assertEqual(set(structs), {"rlx_tensor", "rlx_error", "rlx_memory_pool", "rlx_context", "rlx_function", "rlx_model"})
        rust = [f'#[path = "{CRATES}/relax-rt/src/abi.rs"]\n#[allow(dead_code)]\nmod abi;\nuse core::mem::{{size_of, MaybeUninit}};\nfn main() {{\n']
        c = ['#include <stddef.h>\n#include <stdio.h>\n#include "relax_rt.h"\nint main(void) {\n']
        for name, fields in structs.items():
            rust.append(f'    println!("{name} {{}}", size_of::<abi::{name}>());\n    let one = MaybeUninit::<abi::{name}>::uninit();\n'
                        "    let base = one.as_ptr();\n")
            c.append(f'printf("{name} %d\\n", (int)sizeof({name}));\n')
            for field in fields:
                rust.append(f'    println!("{field} {{}}", unsafe {{ core::ptr::addr_of!((*base).{field}) as usize - base as usize }});\n')
                c.append(f'printf("{field} %d\\n", (int)offsetof({name}, {field}));\n')
        (self.folder / "main.rs").write_text("".join(rust) + "}\n", encoding="utf-8")
        (self.folder / "main.c").write_text("".join(c) + "return 0; }\n", encoding="utf-8")
        subprocess.run(["rustc", "--edition=2021", "main.rs", "-o", "by_rust"], cwd=self.folder, check=True, capture_output=True)
        subprocess.run(["cc", "main.c", f"-I{ROOT}/runtime-lite/include", "-o", "by_c"], cwd=self.folder, check=True)
        by_rust, by_c = (subprocess.run([self.folder / one], capture_output=True, text=True, check=True).stdout for one in ("by_rust", "by_c"))
        self.assertEqual(by_rust, by_c)

    def test_statuses_are_those_of_the_header(self):
        header = (ROOT / "runtime-lite/include/relax_rt.h").read_text(encoding="utf-8")
        listed = re.findall(r'\((\d+), "([A-Z_]+)"\)', (CRATES / "relax-rt/src/error.rs").read_text(encoding="utf-8"))
        self.assertEqual([(name, number) for number, name in listed], re.findall(r"^ *RLX_(\w+) += (\d+),?", header, re.M))


if __name__ == "__main__":
    unittest.main()
