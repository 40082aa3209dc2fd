"""Every form of output, with every flag that writes a file, where every kind of call fails in turn: an error and exit
code 1, and each file as it was before. faults.c makes the calls fail.

Usage: faults_test.py RELAXC RUNTIME [unittest's own]"""

import errno
import itertools
import os
import re
import resource
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

import program
import wire
from program import RELAXC, RUNTIME, ProgramTest

# What is written, and the flags of it.
FORMS = {
    "m.o": ["-MD", "-MP", "--rust", "m.rs", "--manifest", "m.json", "--report", "m.html", "--write-schedules", "m.txt"],
    "weights": ["-o", "m.o", "--weights", "m.weights", "--report", "r.json"],
    "m.c": ["--c-weights=incbin", "--c-split=1K", "-MD"],
    "m.s": [], "m.ll": [], "m.bc": [], "m.a": ["-MD"], "m.so": ["--runtime", RUNTIME, "-MD"],
    "m": ["--runtime", RUNTIME], "m.relax": ["-MD"], "m.dot": ["-MD"],
}
FAULTS = {"open": (errno.EACCES, errno.EMFILE), "write": (errno.ENOSPC, errno.EIO), "link": (errno.EPERM,),
          "rename": (errno.EIO, errno.EINVAL), "truncate": (errno.EIO,), "map": (errno.ENOMEM,), "read": (errno.EIO,),
          "folder": (errno.ENOSPC,)}
PLACES = (1, 2, 4, 9)
ANONYMOUS = ({}, {"NO_TMPFILE": "1"})


class Faults(ProgramTest):
    def setUp(self):
        super().setUp()
        weights = wire.tensor("w", (300,), bytes(range(120)) * 10)
        for name, op in (("new.onnx", "Add"), ("old.onnx", "Mul")):
            self.write(name, wire.model([wire.node(op, ["x", "w"], ["y"])], [wire.value_info("x", (300,))],
                                        [wire.value_info("y", (300,))], [weights]))

    def arguments(self, form):
        flags = FORMS[form]
        return flags if "-o" in flags else ["-o", form, *flags]

    def contents(self):
        """Without the times of passes, which reports have."""
        return {name: re.sub(rb'"milliseconds": ?[0-9.e-]+', b"", (self.path / name).read_bytes())
                for name in self.files() if (self.path / name).is_file()}

    def write_long_model(self, layers):
        names = ["x"] + [f"t{i}" for i in range(layers)] + ["y"]
        self.write("long.onnx", wire.model(
            [wire.node(("Softmax", "Exp", "Tanh")[i % 3], [names[i]], [names[i + 1]]) for i in range(layers + 1)],
            [wire.value_info("x", (6, 7))], [wire.value_info("y", (6, 7))]))

    def test_every_fault_in_every_form(self):
        tools = tempfile.TemporaryDirectory(prefix="relaxc-faults-")
        self.addCleanup(tools.cleanup)
        library, mark = f"{tools.name}/faults.so", Path(tools.name) / "mark"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, Path(__file__).with_name("faults.c"), "-ldl"], check=True)
        if "asan" in os.environ.get("RELAXC_LINK_FLAGS", "") or "address" in os.environ.get("RELAXC_LINK_FLAGS", ""):
            self.skipTest("a sanitizer wants to be loaded first")
        cases = refused = 0
        for form in FORMS:
            flags = self.arguments(form)
            self.compiles("new.onnx", "-O0", *flags)
            new = self.contents()
            self.compiles("old.onnx", "-O0", *flags)
            old = self.contents()
            self.assertNotEqual(old, new)
            for fault, numbers in FAULTS.items():
                for place in PLACES:
                    number = numbers[place % len(numbers)]
                    environment = {"LD_PRELOAD": library, "FAULT": f"{fault}:{place}:{number}", "FAULT_MARK": str(mark),
                                   **ANONYMOUS[place % 2 if form in ("m.o", "m.c") else 0]}
                    mark.unlink(missing_ok=True)
                    with self.subTest(form=form, fault=fault, place=place, number=number):
                        for name in self.files():
                            if name not in ("new.onnx", "old.onnx"):
                                (self.path / name).unlink()
                        for name, content in old.items():
                            (self.path / name).write_bytes(content)
                        done = self.relaxc("new.onnx", "-O0", *flags, environment=environment)
                        found = self.contents()
                        cases += 1
                        refused += done.code != 0
                        self.assertIn(done.code, (0, 1), done.err)
                        if done.code == 1:
                            self.assertIn("error: ", done.err)
                        # 0: nothing failed, or there was another way
                        different = [name for name in {*found, *new} if found.get(name) != (old if done.code else new).get(name)]
                        self.assertEqual(different, [])
                    if not mark.is_symlink():
                        break
            for name in self.files():
                if name not in ("new.onnx", "old.onnx"):
                    (self.path / name).unlink()
        print(f"{cases} faults in {len(FORMS)} forms, {refused} of them refused")
        self.assertGreater(refused, 60)

    def test_names_as_long_as_a_file_system_has_them(self):
        for extension in (".o", ".a", ".s", ".c", ".so", ".dot", ""):
            for length in (250, 255):
                with self.subTest(extension=extension, length=length):
                    name = "n" * (length - len(extension)) + extension
                    self.compiles("new.onnx", "-O0", "-o", name, "--name", "m", "--runtime", RUNTIME,
                                  "--cc", self.linker(), *(["-MD"] if extension else []))
                    self.assertTrue((self.path / name).exists())
        self.refuses(1, "File name too long", "new.onnx", "-o", "n" * 254 + ".o", "--name", "m")

    def test_temporary_names_cannot_be_guessed(self):
        library, names = self.preloaded(), set()
        before = self.files()
        for environment, place in zip(ANONYMOUS, ("link:1", "rename:1")):
            # It is stopped where all is written and nothing has its name yet.
            running = subprocess.Popen([RELAXC, "relu.onnx", "-o", "m.o"], cwd=self.path, env={
                **os.environ, **environment, "LD_PRELOAD": library, "FAULT": f"{place}:{-signal.SIGSTOP}"})
            self.assertTrue(os.WIFSTOPPED(os.waitpid(running.pid, os.WUNTRACED)[1]))
            seen = set(self.files()) - set(before)
            running.send_signal(signal.SIGCONT)
            self.assertEqual(running.wait(60), 0)
            self.assertEqual(len(seen), 2 if environment else 0)
            names |= seen
            for name in ("m.o", "m.h"):
                (self.path / name).unlink()
        for name in names:
            self.assertRegex(name, r"^\.relaxc-[0-9a-f]{16}\.tmp$")

    def preloaded(self):
        if "address" in os.environ.get("RELAXC_LINK_FLAGS", ""):
            self.skipTest("a sanitizer wants to be loaded first")
        folder = tempfile.TemporaryDirectory(prefix="relaxc-faults-")
        self.addCleanup(folder.cleanup)
        library = f"{folder.name}/faults.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, Path(__file__).with_name("faults.c"), "-ldl"], check=True)
        return library

    def temporaries(self):
        folder = tempfile.TemporaryDirectory(prefix="relaxc-temporary-")
        self.addCleanup(folder.cleanup)
        return Path(folder.name)

    def linker_after(self, command):
        """A C compiler that runs `command` first; relaxc is its parent."""
        path = self.write("linker", f'#!/bin/sh\n{command}\nexec cc {" ".join(program.LINK_FLAGS)} "$@"\n')
        path.chmod(0o755)
        return path

    def ended_by(self, number, place, output, *, ignored=False, environment=None):
        """Compiles, and sends the signal at `place`: "linker", or "write:2", the second write. Gives the exit code."""
        flags = []
        if output.endswith(".so"):
            command = f"kill -{int(number)} $PPID" if place == "linker" else ":"
            flags = ["--runtime", RUNTIME, "--cc", str(self.linker_after(command))]
        fault = {} if place == "linker" else {"FAULT": f"{place}:{-number}"}
        handler = signal.SIG_IGN if ignored else signal.SIG_DFL
        return subprocess.run([RELAXC, "relu.onnx", "-o", output, *flags], cwd=self.path, stderr=subprocess.DEVNULL, check=False,
                              timeout=60, env={**os.environ, **fault, **environment},
                              preexec_fn=lambda: number != signal.SIGKILL and signal.signal(number, handler)).returncode

    def folders_of_relaxc(self, temporary):
        """The signal is for relaxc alone: the linker's own files are there until it has ended, too."""
        return list(temporary.glob("relaxc-tmp.*"))

    def test_signals(self):
        """Those that the parent ignores are ignored, with all files written; others end it, with none."""
        library, temporary = self.preloaded(), self.temporaries()
        self.linker_after(":")
        before = self.files()
        for output, number, ignored, place in itertools.product(
                ("m.o", "m.so"), (signal.SIGHUP, signal.SIGINT, signal.SIGTERM), (False, True),
                ("open:1", "write:1", "link:1", "link:2", "rename:1", "rename:2", "linker")):
            if place == "linker" and output == "m.o":
                continue
            # Named temporaries are renamed, anonymous ones linked.
            environments = ANONYMOUS[1:] if "rename" in place else ANONYMOUS[:1] if "link:" in place else ANONYMOUS
            for environment in environments:
                with self.subTest(output=output, number=number, ignored=ignored, place=place, environment=environment):
                    code = self.ended_by(number, place, output, ignored=ignored, environment={
                        **environment, "LD_PRELOAD": library, "TMPDIR": str(temporary)})
                    complete = sorted([*before, output, "m.h"])
                    if ignored:
                        self.assertEqual((code, self.files()), (0, complete))
                    else:
                        # While files are put in place signals wait until all are there.
                        placing = place.startswith(("link:", "rename:"))
                        self.assertEqual((code, self.files()), (-number, complete if placing else before))
                    self.assertEqual(self.folders_of_relaxc(temporary), [])
                    for name in (output, "m.h"):
                        (self.path / name).unlink(missing_ok=True)

    def test_a_process_that_is_killed_leaves_nothing(self):
        library, temporary = self.preloaded(), self.temporaries()
        environment = {"LD_PRELOAD": library, "TMPDIR": str(temporary)}
        self.linker_after(":")
        before = self.files()
        for output, place in itertools.product(("m.o", "m.so"), ("open:1", "write:1", "write:2", "link:1", "linker")):
            if place == "linker" and output == "m.o":
                continue
            with self.subTest(output=output, place=place):
                self.assertEqual(self.ended_by(signal.SIGKILL, place, output, environment=environment), -signal.SIGKILL)
                self.assertEqual(self.files(), before)
        self.compiles("relu.onnx", "-o", "k.so", "--runtime", RUNTIME, environment={"TMPDIR": str(temporary)})
        self.assertEqual(self.folders_of_relaxc(temporary), [])  # what the killed ones left was removed

    def test_too_little_memory(self):
        """Whatever allocation fails, in whatever thread: exit code 1, no file, no abort."""
        self.write_long_model(60)
        if "address" in os.environ.get("RELAXC_LINK_FLAGS", ""):
            self.skipTest("a sanitizer reserves all memory there is")
        before, refused, cases = self.files(), 0, 0
        for limit in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
            for output in ("m.o", "m.c", "m.so"):
                for megabytes in (4, 8, 16, 32, 64, 96, 160):
                    amount = megabytes << 20
                    loads = subprocess.run([RELAXC, "--version"], capture_output=True, check=False,
                                           preexec_fn=lambda: resource.setrlimit(limit, (amount, amount)))
                    if loads.returncode < 0 or loads.returncode == 127:
                        continue  # too little for the system to load the program
                    done = self.relaxc("long.onnx", "-o", output, "--runtime", RUNTIME, "-j4",
                                       preexec=lambda: resource.setrlimit(limit, (amount, amount)))
                    cases += 1
                    with self.subTest(limit=limit, output=output, megabytes=megabytes):
                        self.assertIn(done.code, (0, 1), done.err)
                        if done.code == 1:
                            refused += 1
                            self.assertIn("error: ", done.err)
                            self.assertEqual(self.files(), before)
                    for name in (output, "m.h"):
                        (self.path / name).unlink(missing_ok=True)
        print(f"{cases} limits of memory, {refused} too small")
        self.assertGreater(refused, 5)

    def test_a_stderr_that_takes_nothing(self):
        commands = {("new.onnx", "-o", "m.o", "-v"): 0, ("none.onnx", "-o", "m.o"): 1, ("--unknown",): 2,
                    ("new.onnx", "-o", "m.o", "--time-passes", "--pass-statistics"): 0,
                    ("run", "new.onnx"): 2, ("new.onnx", "-o", "m.o", "--print-after", "all"): 0}
        for command, code in commands.items():
            words = " ".join((RELAXC, *command))
            for where in ("2>&-", "2>/dev/full", "2>&- <&- >&-"):
                with self.subTest(command=command, where=where):
                    (self.path / "m.o").unlink(missing_ok=True)
                    done = subprocess.run(f"{words} {where}", shell=True, cwd=self.path, check=False, stdout=subprocess.DEVNULL)
                    self.assertEqual(done.returncode, code)
                    if "m.o" in command and code == 0:
                        self.assertEqual((self.path / "m.o").read_bytes()[:4], b"\x7fELF")

    def test_a_stdout_that_takes_nothing(self):
        self.compiles("new.onnx", "-o", "program", "--runtime", RUNTIME, "--cc", self.linker())
        program_help = f"./program --help"
        commands = [f"{RELAXC} {flags}" for flags in (
            "--help", "--version", "--man", "--completion bash", "--completion zsh", "--completion fish",
            "--print-targets", "--print-target", "run --help", "new.onnx --check", "new.onnx --check=json",
            "new.onnx --stop-after infer", "inspect new.onnx", f"run new.onnx --random --runtime {RUNTIME}",
            f"verify new.onnx --runtime {RUNTIME}", f"bench new.onnx --repeat 2 --runtime {RUNTIME}")] + [program_help]
        for command in commands:
            for where in (">/dev/full", ">&-"):
                with self.subTest(command=command, where=where):
                    done = subprocess.run(f"{command} {where}", shell=True, cwd=self.path, check=False,
                                          stderr=subprocess.DEVNULL)
                    self.assertEqual(done.returncode, 1)

    def test_an_input_that_changes_while_it_is_compiled(self):
        for how in ("printf x >> {0}", "cp {0} {0}.2; mv {0}.2 {0}", "rm {0}"):
            self.write("model.onnx", wire.with_external_data("w.bin"))
            self.write("w.bin", bytes(8))
            for name in ("model.onnx", "w.bin"):
                with self.subTest(how=how, name=name):
                    self.write("model.onnx", wire.with_external_data("w.bin"))
                    self.write("w.bin", bytes(8))
                    linker = self.write("linker", f'#!/bin/sh\n{how.format(name)}\nexec cc {" ".join(program.LINK_FLAGS)} "$@"\n')
                    linker.chmod(0o755)
                    done = self.relaxc("model.onnx", "-o", "m.so", "--runtime", RUNTIME, "--cc", str(linker))
                    self.assertEqual(done.code, 1)
                    self.assertIn(f"{name} has changed since it was read", done.err)
                    self.assertFalse((self.path / "m.so").exists() or (self.path / "m.h").exists())

    def test_external_data_that_becomes_a_link_when_it_is_opened(self):
        """What was looked at is in the model's folder; what is opened then is not."""
        library = self.preloaded()
        (self.path / "secret.bin").write_bytes(bytes(8))
        for to in ("../secret.bin", str(self.path / "secret.bin"), "/etc/passwd"):
            with self.subTest(to):
                self.write("sub/model.onnx", wire.with_external_data("w.bin"))
                (self.path / "sub/w.bin").unlink(missing_ok=True)
                self.write("sub/w.bin", bytes(8))
                done = self.relaxc("sub/model.onnx", "-o", "m.o", environment={
                    **os.environ, "LD_PRELOAD": library, "SWAP": "w.bin", "SWAP_TO": to})
                self.assertTrue((self.path / "sub/w.bin").is_symlink(), "nothing was swapped")
                self.assertEqual(done.code, 1, done.err)
                self.assertIn("'w.bin': it is a symbolic link", done.err)
                self.assertFalse((self.path / "m.o").exists())

    def test_an_output_that_is_an_input(self):
        self.write("model.onnx", wire.with_external_data("m.h"))
        self.write("m.h", bytes(8))
        self.refuses(2, "'m.h' is an input of this compilation", "model.onnx", "-o", "m.o")
        self.assertEqual((self.path / "m.h").read_bytes(), bytes(8))

    def test_outputs_of_run_appear_whole(self):
        def small():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        self.write("wide.onnx", wire.relu((1 << 20,)))
        self.compiles("wide.onnx", "-o", "wide", "--runtime", RUNTIME, "--cc", self.linker())
        self.write("out/y.npy", "old")
        self.compiles("run", "wide.onnx", "--random", "-o", "inputs", "--runtime", RUNTIME)
        done = subprocess.run(["./wide", "inputs/y.npy", "-o", "out"], cwd=self.path, preexec_fn=small,
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, 1 if done.stderr else -signal.SIGXFSZ)
        self.assertEqual((self.path / "out/y.npy").read_text(), "old")


if __name__ == "__main__":
    program.main()
