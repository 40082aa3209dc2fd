"""One model, the same bytes in every file, whatever relaxc is surrounded by: folder, user, address space, locale, time zone,
umask, environment, descriptors.

Usage: surroundings_test.py RELAXC RUNTIME [unittest's own]"""

import os
import resource
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import program
from program import RELAXC, RUNTIME, TEXT, ProgramTest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "embedded"))
from programs import layers  # noqa: E402

OUTPUTS = ("m.o", "m.so", "m.a", "m.c", "m.ll", "m")
BESIDE = ("--manifest", "manifest.json", "--rust", "m.rs", "-MD")
NOBODY = 65534


class Surroundings(ProgramTest):
    usual = None  # what a compilation gives in the surroundings of this test

    def setUp(self):
        super().setUp()
        self.path.chmod(0o755)
        if Surroundings.usual is None:
            Surroundings.usual = self.files_of("usual")

    def files_of(self, folder, *, before=(), environment=None, preexec=None, flags=()):
        """The contents of all files that a compilation to each kind of output leaves in `folder`."""
        folder = self.path / folder
        folder.mkdir(parents=True)
        folder.chmod(0o777)
        contents = {}
        for output in OUTPUTS:
            (folder / "m.relax").write_text(layers() if output == "m.o" else TEXT)  # an object may be made in parts
            (folder / "m.relax").chmod(0o644)
            beside = BESIDE if output == "m.o" else ("--runtime", RUNTIME) if output in ("m.so", "m") else ()
            done = subprocess.run([*before, RELAXC, "m.relax", "-o", output, *beside, *flags], cwd=folder,
                                  env={**os.environ, **(environment or {})}, preexec_fn=preexec, capture_output=True,
                                  text=True, timeout=300, check=False)
            self.assertEqual(done.returncode, 0, f"{output}: {done.stderr}")
            for file in sorted(folder.iterdir()):
                contents[f"{file.name} beside {output}"] = file.read_bytes()
                if file.name != "m.relax":
                    file.unlink()
        return contents

    def assert_usual(self, contents):
        self.assertEqual(sorted(contents), sorted(self.usual))
        self.assertEqual([name for name in contents if contents[name] != self.usual[name]], [])

    def test_all_kinds_of_files_are_there(self):
        names = {name.split()[0] for name in self.usual}
        self.assertTrue({"m.o", "m.so", "m.a", "m.c", "m.ll", "m.h", "m.d", "m.rs", "manifest.json"} <= names)

    def test_another_time(self):
        self.assert_usual(self.files_of("later"))

    def test_another_folder(self):
        self.assert_usual(self.files_of("a folder/with 'quotes'/ünd mehr/" + "long" * 40))

    def test_another_user(self):
        if os.geteuid() != 0 or shutil.which("setpriv") is None:
            self.skipTest("only root can run relaxc as another user")
        before = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
        if subprocess.run([*before, RELAXC, "--version"], capture_output=True, check=False).returncode != 0:
            self.skipTest("another user may not run this build of relaxc")
        self.assert_usual(self.files_of("nobody", before=before, environment={"HOME": "/nonexistent", "USER": "nobody"}))

    def test_other_numbers_of_threads(self):
        for jobs in ("1", "7"):
            with self.subTest(jobs=jobs):
                self.assert_usual(self.files_of(f"jobs {jobs}", flags=("-j", jobs)))

    def test_addresses_without_randomness(self):
        if shutil.which("setarch") is None:
            self.skipTest("setarch of util-linux is not installed")
        if subprocess.run(["setarch", "-R", "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("this system does not let a program fix its addresses")
        self.assert_usual(self.files_of("fixed", before=("setarch", "-R")))

    def test_other_locales(self):
        """Turkish has another capital i, German another decimal point."""
        locales = self.path / "locales"
        locales.mkdir()
        for name in ("tr_TR", "de_DE"):
            made = subprocess.run(["localedef", "-i", name, "-f", "UTF-8", str(locales / f"{name}.UTF-8")],
                                  capture_output=True, check=False)
            if made.returncode != 0:
                self.skipTest(f"localedef cannot make {name}: {made.stderr.decode()}")
            with self.subTest(locale=name):
                environment = {"LOCPATH": str(locales), "LC_ALL": f"{name}.UTF-8", "LANG": f"{name}.UTF-8"}
                self.assert_usual(self.files_of(name, environment=environment))

    def test_another_time_zone(self):
        self.assert_usual(self.files_of("zone", environment={"TZ": "Pacific/Kiritimati", "SOURCE_DATE_EPOCH": "1"}))

    def test_another_umask(self):
        self.assert_usual(self.files_of("private", preexec=lambda: os.umask(0o077)))

    def test_another_environment(self):
        noise = {f"NOISE_{i}": "x" * 997 for i in range(40)}
        noise |= {"TERM": "dumb", "NO_COLOR": "1", "COLUMNS": "40", "PWD": "/", "OLDPWD": "/usr"}
        self.assert_usual(self.files_of("noise", environment=noise))

    def test_other_limits_and_descriptors(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
            resource.setrlimit(resource.RLIMIT_STACK, (64 << 20, resource.RLIM_INFINITY))
            for _ in range(9):
                os.dup(0)

        self.assert_usual(self.files_of("limits", preexec=limit))


if __name__ == "__main__":
    program.main()
