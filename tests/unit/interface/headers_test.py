"""Headers and Rust declarations compile in every dialect, whatever the names in a model are.

The names: all keywords, what compilers define by themselves and the standard headers for them (the compilers are asked),
types, the macros and types of the header itself, a few characters of every category of Unicode, long and empty names,
and names that coincide once they are identifiers. Each is input, output, dim, entry point, public prim func, parameter.
Behind all headers of the C library (system_headers.txt), the names are the macros that these define without parameters.

Usage: headers_test.py WRITE_HEADERS [--all]"""

import functools
import re
import shutil
import subprocess
import sys
import tempfile
import unicodedata
import unittest
from pathlib import Path

WRITE_HEADERS = str(Path(sys.argv[1]).resolve())
INCLUDE = Path(__file__).resolve().parents[3] / "runtime-lite/include"
SYSTEM_HEADERS = Path(__file__).with_name("system_headers.txt").read_text().split()
SHARE = 24
CAPITALS_STEP = 24  # of macros in capitals alone, which a rule covers: the distance of two that are tried

DIALECTS = [("gcc", "c", std) for std in ("c99", "gnu99", "c11", "gnu11", "gnu17", "c2x", "gnu2x")]
DIALECTS += [("g++", "c++", std) for std in ("c++11", "gnu++11", "c++14", "c++17", "c++20", "gnu++20", "c++23")]
DIALECTS += [("clang-22", "c", std) for std in ("c99", "gnu11", "c23", "gnu23")]
DIALECTS += [("clang++-22", "c++", std) for std in ("c++11", "c++14", "c++17", "c++20", "c++23", "c++2c")]
# The oldest, the newest and one between of each compiler, and what single tests ask for; all of them with --all.
ORDINARY = {"gcc": ("c99", "gnu11", "gnu2x"), "g++": ("c++11", "c++17", "c++20", "c++23"), "clang-22": ("c99", "gnu11", "gnu23"),
            "clang++-22": ("c++11", "c++17", "c++20", "c++2c")}
ALL = "--all" in sys.argv
if ALL:
    sys.argv.remove("--all")
else:
    DIALECTS = [dialect for dialect in DIALECTS if dialect[2] in ORDINARY[dialect[0]]]
DIALECTS = [dialect for dialect in DIALECTS if shutil.which(dialect[0])]
WARNINGS = "-Wall -Wextra -pedantic -Wundef -Werror".split()

STANDARD = """assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdbool
stddef stdint stdio stdlib stdnoreturn string time wchar wctype""".split()

KEYWORDS = """auto break case char const continue default do double else enum extern float for goto if inline int long register
restrict return short signed sizeof static struct switch typedef union unsigned void volatile while _Alignas _Alignof _Atomic
_Bool _Complex _Generic _Imaginary _Noreturn _Static_assert _Thread_local _BitInt _Decimal32 _Decimal64 _Decimal128 alignas
alignof bool constexpr false nullptr static_assert thread_local true typeof typeof_unqual asm typeof __asm__ __typeof__
__attribute__ __inline __restrict __func__ __FILE__ and and_eq bitand bitor catch char16_t char32_t char8_t class co_await
co_return co_yield compl concept const_cast consteval constinit contract_assert decltype delete dynamic_cast explicit export
final friend import module mutable namespace new noexcept not not_eq operator or or_eq override private protected public
reinterpret_cast requires static_cast template this throw try typeid typename using virtual wchar_t xor xor_eq abstract as async
await become box crate dyn fn gen impl in let loop macro match mod move mut priv pub raw ref safe self Self super trait type unsafe
unsized use where yield macro_rules union main self_ Self_ crate_ super_""".split()

TYPES = """size_t ptrdiff_t max_align_t nullptr_t intptr_t uintptr_t intmax_t uintmax_t rlx_context rlx_error rlx_model rlx_tensor
RLX_OK RLX_ABI_VERSION RLX_CONTEXT_INIT rlx_status""".split()
TYPES += [f"{sign}int{kind}{width}_t" for sign in ("", "u") for kind in ("", "_least", "_fast") for width in (8, 16, 32, 64)]

# What a header calls its own: {m} stands for the object's name.
OWN = ["{m}_args", "{m}_run", "{m}_arena", "{m}_arena_bytes", "{m}_model", "{m}_selftest", "{m}_pool_pool", "{M}_ARENA_MAX",
       "{M}_STACK_MAX", "{M}_RUN_STACK_MAX", "{M}_INPUT_X", "{M}_POOL_FAST_BYTES", "{M}_X_ELEMENTS", "RELAXC_{m}_H", "{m}_x_run", "{m}_", "{m}"]
OWN += ["args", "arena", "run", "model", "bytes", "context", "dims", "arena_bytes", "selftest", "weights", "pool_pool", "unused",
        "main", "k_x", "x_dims", "x", "dim_x", "x_2"]

COINCIDING = ["a.b", "a_b", "a:b", "a/b", "a__b", "a-b", "A_B", "class", "class_", "class.", "1", "input_1", "0x", ":", "_", "__",
              "_a", "__a", "a_", "a__", ".a", "linux", "linux_", "NULL", "NULL_", "x ", " x", "x\t", "x\n", "input_0", "output_0"]

HOSTILE = ["", "*/ int broken; /*", "\\", "a\\", "??/", "a??/\nb", "\n#error x", "//", "/* /*", "\"", "'", "x\"); system(\"", "%s%n",
           "\x1b[31mred", "\x00".replace("\x00", "\x01"), "\x7f", "a" * 63, "a" * 300, "b." * 3000, "\u202e" * 50, "../../x", "$x",
           "\ufeffbom", "\u2028line", "a\u200bb", "\U000e0041tag", "e\u0301", "入力", "größe", "vйx", "🙂", "١٢", "x²"]


def of_every_category():
    """Three characters of each category and of each bidirectional class, alone and inside of a name."""
    found = {}
    for code in range(0x20, 0x20000):
        if 0xD800 <= code < 0xE000:
            continue
        for key in (unicodedata.category(chr(code)), unicodedata.bidirectional(chr(code))):
            if len(found.setdefault(key, [])) < 3:
                found[key].append(chr(code))
    characters = sorted({c for some in found.values() for c in some} | set(map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A)))))
    return [f"a{c}b" for c in characters] + characters


@functools.lru_cache
def macros(compiler, language, std, headers):
    text = "".join(f"#include <{header}.h>\n" for header in headers)
    done = subprocess.run([compiler, f"-std={std}", "-dM", "-E", "-x", language, "-"], input=text, capture_output=True, text=True,
                          check=True)
    return set(re.findall(r"^#define (\w+)", done.stdout, re.M))


def of_the_runtime():
    """What relax_rt.h and the like define and declare, their guards as well."""
    words = set()
    for header in INCLUDE.glob("*.h"):
        words.update(re.findall(r"\b(?:rlx_|RLX_|RELAX_)\w*", header.read_text()))
    return sorted(words)


def include_system_headers():
    """Those of the C library that are there."""
    includes = "".join(f"#if __has_include(<{header}>)\n#include <{header}>\n#endif\n" for header in SYSTEM_HEADERS)
    return f"#ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n#endif\n{includes}"


def system_macros():
    """Macros without parameters that stand for something else than themselves."""
    found = set()
    for compiler, language, std in (("gcc", "c", "gnu11"), ("g++", "c++", "gnu++17")):
        done = subprocess.run([compiler, f"-std={std}", "-dM", "-E", "-x", language, "-"], input=include_system_headers(),
                              capture_output=True, text=True, check=True)
        found.update(name for name, text in re.findall(r"^#define (\w+) (.*)", done.stdout, re.M) if name != text)
    capitals = sorted(name for name in found if re.fullmatch("([0-9_]*[A-Z]){2}[A-Z0-9_]*", name))
    return sorted(found.difference(capitals)) + capitals[::CAPITALS_STEP]


def write_headers(folder, names):
    """The objects of all names, in order."""
    text = b"".join(name.encode("utf-8", "surrogateescape") + b"\0" for name in names) + b"\xff\xfe\0a\x80b\0"
    subprocess.run([WRITE_HEADERS, folder, str(SHARE)], input=text, check=True)
    return sorted((path.stem for path in folder.glob("*.h")), key=lambda name: int(name[1:]))


def uses_of(folder, models):
    """A program that includes all headers and names every field."""
    text = ""
    for model in models:
        text += f'#include "{model}.h"\nint use_{model}({model}_args *a);\nint use_{model}({model}_args *a) {{\n  return '
        fields = (folder / f"{model}.fields").read_text().split()
        text += " + ".join(f"(a->{field} != 0)" for field in fields) + ";\n}\n"
    return text


def all_names():
    names = [*KEYWORDS, *TYPES, *OWN, *COINCIDING, *of_the_runtime(), *HOSTILE, *of_every_category()]
    for dialect in DIALECTS:
        names += sorted(macros(*dialect, ()))
        if dialect[1] == "c":
            names += sorted(macros(*dialect, tuple(STANDARD)))
    return list(dict.fromkeys(names))


class Headers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="relaxc-headers-")
        cls.addClassCleanup(folder.cleanup)
        cls.path = Path(folder.name)
        cls.names = all_names()
        cls.models = write_headers(cls.path, cls.names)

    def fields(self, model):
        return (self.path / f"{model}.fields").read_text().split()

    def compiles(self, compiler, language, std, text, flags=(), folder=None):
        done = subprocess.run([compiler, f"-std={std}", *WARNINGS, *flags, "-I", INCLUDE, "-I", folder or self.path, "-fsyntax-only",
                               "-x", language, "-"], input=text, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr[:2000]), (0, ""), (compiler, std))

    def test_there_are_many_names(self):
        self.assertGreater(len(self.names), 1500)
        self.assertEqual(len(self.models), -(-(len(self.names) + 2) // SHARE))

    def test_every_header_compiles_in_every_dialect(self):
        """Behind all standard headers, and every field can be named."""
        for compiler, language, std in DIALECTS:
            text = "".join(f"#include <{header}.h>\n" for header in STANDARD if (language, header) not in
                           (("c++", "complex"), ("c++", "stdnoreturn"), ("c++", "stdalign")))
            with self.subTest(compiler=compiler, std=std):
                self.compiles(compiler, language, std, text + uses_of(self.path, self.models))

    def test_every_header_compiles_after_the_headers_of_the_system(self):
        names = system_macros()
        self.assertGreater(len(names), 500)
        with tempfile.TemporaryDirectory(prefix="relaxc-headers-") as folder:
            models = write_headers(Path(folder), names)
            text = include_system_headers() + uses_of(Path(folder), models)
            for compiler, language, std in DIALECTS:
                if std in ("gnu11", "c++17"):
                    with self.subTest(compiler=compiler, std=std):
                        self.compiles(compiler, language, std, text, folder=Path(folder))

    def test_a_header_needs_no_other(self):
        text = "".join(f'#include "{model}.h"\n' for model in self.models)
        for compiler, language, std in DIALECTS:
            if std in ("c99", "gnu11", "c++11", "c++20"):
                with self.subTest(compiler=compiler, std=std):
                    self.compiles(compiler, language, std, text, ["-Wtrigraphs", "-Wcomment"])

    def test_fields_are_readable(self):
        first = {}
        for model, k in zip(self.models, range(0, len(self.names), SHARE)):
            first.update(zip(self.names[k:k + SHARE], self.fields(model)))
        for name, field in {"unix": "unix_", "int": "int_", "x": "x", "_Bool": "Bool", "typeof": "typeof_", "size_t": "size_t_",
                            "INT32_MAX": "INT32_MAX_", "": "input_0"}.items():
            with self.subTest(name=name):
                self.assertRegex(first[name], rf"^{re.sub('0$', '[0-9]+', field) if name == '' else field}$")

    def test_nothing_invisible_is_written(self):
        for path in [*self.path.glob("*.h"), *self.path.glob("*.rs")]:
            text = path.read_text(encoding="utf-8")
            bad = {c for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")}
            self.assertEqual(bad, set(), path.name)

    def test_rust_declarations_compile(self):
        if not shutil.which("rustc"):
            self.skipTest("there is no rustc")
        text = "".join(f'#[path = "{model}.rs"]\npub mod {model};\n' for model in self.models)
        self.rust_compiles(text)

    def test_safe_rust_compiles(self):
        if not shutil.which("rustc"):
            self.skipTest("there is no rustc")
        runtime = INCLUDE.parent / "rust/relax-rt/src/lib.rs"
        subprocess.run(["rustc", "--edition=2021", "--crate-type=lib", "--crate-name=relax_rt", "--emit=metadata", "-D", "warnings",
                        runtime], cwd=self.path, check=True)
        # A quarter of them: rustc takes 40 s of the processor for all.
        models = self.models if ALL else self.models[::4]
        text = "".join(f'#[path = "{model}_safe.rs"]\npub mod {model};\n' for model in models)
        self.rust_compiles(text, "--extern", "relax_rt=librelax_rt.rmeta")

    def rust_compiles(self, text, *flags):
        (self.path / "lib.rs").write_text(text)
        done = subprocess.run(["rustc", "--edition=2021", "--crate-type=lib", "--emit=metadata", "-D", "warnings", "-A",
                               "clashing_extern_declarations", "lib.rs", *flags], cwd=self.path, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr[:2000]), (0, ""))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
