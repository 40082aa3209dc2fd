"""compiled.py: compiles a model under some settings and runs it, in a process of its own, since it may crash or hang."""

import multiprocessing
import subprocess
import sys
from pathlib import Path

import onnx

from case import opened

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "runtime-lite/python"))
import relax_rt  # noqa: E402

SECONDS = 120  # of a compilation, a C compiler's run and a call, each


class Refused(Exception):
    """relaxc says why it does not compile a model."""


class Fault(Exception):
    """Something ended badly."""


def run(command, what):
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise Fault(f"{what} takes more than {SECONDS} s") from None
    if done.returncode == 1 and what == "relaxc":
        raise Refused(done.stderr.strip())
    if done.returncode:
        raise Fault(f"{what} exits with {done.returncode}: {done.stderr.strip()[-2000:]}")


def library(relaxc, model, settings, backend, folder):
    """The shared library of this model by this backend."""
    path = folder / f"{settings.dims}.onnx"
    onnx.save(opened(model) if settings.dims == "open" else model, path)
    command, output = [relaxc, path, "--name", "m", *settings.flags()], folder / f"{backend}.so"
    if backend == "llvm":
        run([*command, "-o", output], "relaxc")
        return output
    run([*command, "-o", folder / "m.c", "--c-weights", "array"], "relaxc")
    run([backend, "-O1", f"-march={settings.cpu}", "-std=c99", "-ffp-contract=off", "-fPIC", "-shared", "-w",
         f"-I{REPOSITORY}/runtime-lite/include", folder / "m.c", relaxc.parents[1] / "lib/librelax_rt.a", "-lm", "-o", output],
        backend)
    return output


def call(path, inputs, threads, pipe):
    try:
        results = relax_rt.Model(path, "m", threads=threads)(**inputs)
        pipe.send([array.copy() for array in results])
    except (relax_rt.RlxError, ValueError) as error:
        pipe.send(str(error))


def outputs(path, inputs, threads):
    """What a library gives for these inputs."""
    mine, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=call, args=(path, inputs, threads, theirs))
    process.start()
    theirs.close()
    try:
        if not mine.poll(SECONDS):
            raise Fault(f"a call takes more than {SECONDS} s")
        found = mine.recv()
    except EOFError:
        process.join()
        raise Fault(f"a call ends by signal {-process.exitcode}") from None
    finally:
        process.kill()
        process.join()
    if isinstance(found, str):
        raise Fault(f"a call fails: {found}")
    return found
