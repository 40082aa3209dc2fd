"""sin, cos and tan of all arguments: every float16 and bfloat16, COUNT float32 and float64 over all exponents, and those
that come nearest to a multiple of pi/2.

A compiled object gives values that a C program compares with long double's functions, whose reduction is exact; of those
functions the hardest arguments are checked here first, in whole numbers of Python's. Whatever else relaxc makes of the
model (scalar code, C99 with and without vectors, C99 on other machines, folded constants, the interpreter) gives the same
bits.

Usage: angles_test.py RELAXC C-COMPILER COUNT"""

import math
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from fractions import Fraction
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RELAXC, CC = Path(sys.argv[1]).resolve(), sys.argv[2]
HERE = Path(__file__).resolve().parent
INCLUDE = ROOT / "runtime-lite/include"
CORE = [file for file in sorted((ROOT / "runtime-lite/core").glob("*.c")) if file.name != "memory.c"]
COUNT = int(sys.argv[3])
KNOWN = float.fromhex("0x1.6ac5b262ca1ffp+849")  # the double that comes nearest of all
BOUNDS = {"float16": 1, "bfloat16": 1, "float32": 2, "float64": 4}
PRECISION = {"float16": (11, 16), "bfloat16": (8, 128), "float32": (24, 128), "float64": (53, 1024)}
CODES = {"float16": "e", "float32": "f", "float64": "d"}
ELSEWHERE = {"arm-linux-gnueabihf-gcc": "qemu-arm", "mips-linux-gnu-gcc": "qemu-mips"}  # of 32 bits

MODEL = """@R.function
def main(x: R.Tensor(("n",), "{0}")) -> R.Tuple(R.Tensor(("n",), "{0}"), R.Tensor(("n",), "{0}"), R.Tensor(("n",), "{0}")):
    with R.dataflow():
        a = R.sin(x)
        b = R.cos(x)
        c = R.tan(x)
        R.output(a, b, c)
    return (a, b, c)
"""


def pi(bits):
    """pi * 2^bits, by Machin's formula."""
    one = 1 << (bits + 64)

    def arctangent(n):
        term, total, k = one // n, one // n, 1
        while term:
            term //= -n * n
            k += 2
            total += term // k
        return total
    return 4 * (4 * arctangent(5) - arctangent(239)) >> 64


BITS = 1400
HALF_PI = pi(BITS) >> 1


def exact(x):
    """sin, cos and tan of a float, as Fractions that are right to 300 bits."""
    n, d = x.as_integer_ratio()
    angle = (n << BITS) // d
    quadrant = (2 * angle + HALF_PI) // (2 * HALF_PI)
    rest = (angle - quadrant * HALF_PI) >> (BITS - 400)
    square = rest * rest >> 400

    def series(term, k):
        total = 0
        while abs(term) > 1:
            total += term
            term = -(term * square >> 400) // ((k + 1) * (k + 2))
            k += 2
        return Fraction(total, 1 << 400)
    sine, cosine = series(rest, 1), series(1 << 400, 0)
    sine, cosine = [(sine, cosine), (cosine, -sine), (-sine, -cosine), (-cosine, sine)][quadrant % 4]
    return sine, cosine, sine / cosine


def hardest(dtype):
    """For each exponent the mantissa whose float comes nearest to a multiple of pi/2: a denominator of the continued
    fraction of 2^exponent * 2/pi."""
    precision, top = PRECISION[dtype]
    found = {KNOWN} if dtype == "float64" else set()
    for exponent in range(-precision, top - precision + 1):
        ratio = Fraction(HALF_PI << max(0, -exponent), 1 << BITS + max(0, exponent))
        before, mantissa, a, b = 1, 0, ratio.denominator, ratio.numerator
        while b and a // b * mantissa + before < 1 << precision:
            before, mantissa, a, b = mantissa, a // b * mantissa + before, b, a % b
        found |= {math.ldexp(sign * mantissa, exponent) for sign in (1, -1)}
    return sorted(found)


def arguments(dtype):
    if dtype in ("float16", "bfloat16"):
        return struct.pack("<65536H", *range(1 << 16))
    draw = random.Random(17)
    precision, top = PRECISION[dtype]
    lowest = {"float32": -148, "float64": -1073}[dtype]
    values = hardest(dtype) + [0.0, -0.0, math.inf, -math.inf, math.nan, 2.0 ** 32, -2.0 ** 32, 2.0 ** 32 - 1]
    while len(values) < COUNT:
        mantissa = draw.getrandbits(precision - 1) | 1 << precision - 1
        x = math.ldexp(mantissa, draw.randrange(lowest, top) - precision + 1)
        values.append(draw.uniform(-100, 100) if len(values) % 4 == 0 else x if draw.getrandbits(1) else -x)
    return struct.pack(f"<{COUNT}{CODES[dtype]}", *values)


class AnglesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="relaxc-angles-")
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)

    def call(self, *command):
        done = subprocess.run([str(part) for part in command], cwd=self.path, capture_output=True, text=True,
                              timeout=300, check=False)
        self.assertEqual(done.returncode, 0, f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}")
        return done.stdout

    def compile(self, dtype, output, *flags):
        (self.path / "m.relax").write_text(MODEL.format(dtype))
        self.call(RELAXC, "m.relax", "--name=m", "-o", output, *flags)

    def values(self, source, compiler=CC, emulator=(), flags=("-O2",)):
        """What a program of the object or C file makes of the arguments."""
        static = ["-static"] if emulator else []
        command = [compiler, "-std=c99", "-ffp-contract=off", *flags, *static, f"-I{INCLUDE}", "-I."]
        self.call(*command, HERE / "angles_main.c", source, *self.core(command), "-lm", "-o", "program")
        self.call(*emulator, "./program", "x", "y")
        return (self.path / "y").read_bytes()

    def core(self, command):
        """The runtime's objects by a compiler and its flags, compiled once."""
        folder = self.path / re.sub(r"\W+", "_", " ".join(map(str, command[:-2])))
        if not folder.exists():
            folder.mkdir()
            for source in CORE:
                self.call(*command, "-c", source, "-o", folder / f"{source.stem}.o")
        return sorted(folder.glob("*.o"))

    def check(self, dtype):
        x = arguments(dtype)
        (self.path / "x").write_bytes(x)
        self.compile(dtype, "m.o")
        y = self.values("m.o")
        self.call(CC, "-O2", "-std=gnu11", HERE / "angles_reference.c", "-lm", "-o", "reference")
        print(self.call("./reference", dtype, "x", "y", BOUNDS[dtype]).strip())
        return x, y

    def test_the_reference(self):
        """long double's functions at the hardest arguments, in units of double's last place."""
        self.call(CC, "-O2", "-std=gnu11", HERE / "angles_reference.c", "-lm", "-o", "reference")
        values = hardest("float64")[::7] + [KNOWN, 1e16, 1e22, 1e300, 0.5, 100.0]
        (self.path / "x").write_bytes(struct.pack(f"<{len(values)}d", *values))
        rows = self.call("./reference", "print", "x").splitlines()
        for x, row in zip(values, rows, strict=True):
            for right, found in zip(exact(x), map(float.fromhex, row.split())):
                unit = Fraction(2) ** (math.frexp(found)[1] - 53)
                self.assertLess(abs(right - Fraction(found)), unit * Fraction(51, 100), x)

    def test_float64(self):
        x, y = self.check("float64")
        self.backends("float64", x, y)

    def test_float32(self):
        x, y = self.check("float32")
        self.backends("float32", x, y)

    def test_float16(self):
        self.check("float16")

    def test_bfloat16(self):
        x, y = self.check("bfloat16")
        self.backends("bfloat16", x, y)

    def backends(self, dtype, x, y):
        """Everything else gives the same bits, with NaN for NaN."""
        for flags in (["-O0"], ["-O2", "--mcpu=x86-64"], ["-Os"]):
            self.compile(dtype, "m.o", *flags)
            self.same(y, self.values("m.o"), flags)
        for flags in (["--c-vectors=gnu"], ["--c-vectors=none"]):
            self.compile(dtype, "m.c", *flags)
            self.same(y, self.values("m.c"), flags)
        size = {"float64": 8, "float32": 4}.get(dtype, 2)
        few = 4000 * size
        count = len(x) // size
        short = b"".join(y[i * count * size:i * count * size + few] for i in range(3))
        (self.path / "x").write_bytes(x[:few])
        for compiler, emulator in ELSEWHERE.items():
            if shutil.which(compiler) is None or shutil.which(emulator) is None:
                print(f"skipped: there is no {compiler} or {emulator}")
                continue
            self.compile(dtype, "m.c", "--c-vectors=none", "--target=armv7-a")
            self.same(self.swapped(short, size, compiler), self.other(x[:few], size, compiler, emulator), compiler)
        self.folded(dtype, x[:few], short, size)

    def swapped(self, data, size, compiler):
        if not compiler.startswith("mips"):
            return data
        return b"".join(data[i:i + size][::-1] for i in range(0, len(data), size))

    def other(self, x, size, compiler, emulator):
        (self.path / "x").write_bytes(self.swapped(x, size, compiler))
        return self.values("m.c", compiler, [emulator])

    def folded(self, dtype, x, y, size):
        """The constants that relaxc folds, and its interpreter."""
        if dtype == "bfloat16":
            return
        letter, count = CODES[dtype], 400
        values = [v for v in struct.unpack(f"<{len(x) // size}{letter}", x)[:count] if math.isfinite(v)]
        text = MODEL.format(dtype).replace('("n",)', f"({len(values)},)").replace("x: R.Tensor", "z: R.Tensor")
        constant = f"        x = R.const({values!r}, \"{dtype}\")\n"
        (self.path / "folded.relax").write_text(text.replace("        a =", constant + "        a ="))
        self.call(RELAXC, "folded.relax", "--name=m", "-o", "m.o")
        (self.path / "x").write_bytes(struct.pack(f"<{len(values)}{letter}", *values))
        whole = struct.unpack(f"<{len(y) // size}{letter}", y)
        total = len(x) // size
        kept = [i for i, v in enumerate(struct.unpack(f"<{total}{letter}", x)[:count]) if math.isfinite(v)]
        expected = struct.pack(f"<{3 * len(kept)}{letter}", *(whole[k * total + i] for k in range(3) for i in kept))
        self.same(expected, self.values("m.o"), "folded")

    def same(self, expected, found, what):
        self.assertEqual(len(expected), len(found), what)
        if expected != found:
            place = next(i for i, (a, b) in enumerate(zip(expected, found)) if a != b)
            self.fail(f"{what} differs at byte {place} of {len(expected)}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
