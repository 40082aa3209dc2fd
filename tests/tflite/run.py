"""run.py: every builtin operator through relaxc and through TFLite's reference kernels.

Usage: run.py RELAXC [--family NAME] [--only TEXT] [--sample N] [--flags=...] [--list FILE [--update]]. Integers must agree to the
bit, floats to a few units of the largest term. `--sample N` takes each Nth case. `--list` checks that FILE names the operators and types that have a case, which
docs/tflite-support.md is made from.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from subprocess import run

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "compare"))
import operator_cases as cases  # noqa: E402
import rlx  # noqa: E402
from arrays import difference  # noqa: E402
from model import interpret  # noqa: E402

BATCH = 24  # models in one object


def compiled(batch, relaxc, folder, flags):
    """The functions of one object for all models of the batch, or what relaxc says."""
    files = []
    for number, (content, _) in enumerate(batch):
        files.append(folder / f"case{number}.tflite")
        files[-1].write_bytes(content)
    library = folder / "libcases.so"
    done = run([relaxc, *files, "-o", library, "--name", "cases", *flags], capture_output=True, text=True, check=False)
    if done.returncode:
        return None, f"relaxc exits with {done.returncode}: {done.stderr.strip()}"
    functions = rlx.Model(library).functions
    if len(batch) == 1:
        return [next(iter(functions.values()))], ""
    return [functions[f"case{number}"] for number in range(len(batch))], ""


def run_case(entry, case):
    """What the compiled model gives for each call; states go from one call to the next."""
    results, states = [], [np.zeros(shape, dtype) for shape, dtype in case.states]
    for arrays in case.calls:
        given = entry(*arrays, *states)
        count = len(given) - len(states)
        results.append(given[:count])
        states = given[count:]
    return results


def check(entry, case, expected):
    try:
        actual = run_case(entry, case)
    except (rlx.RlxError, ValueError) as error:
        return str(error)
    for call, (got, wanted) in enumerate(zip(actual, expected, strict=True)):
        if len(got) != len(wanted):
            return f"{len(got)} outputs, expected {len(wanted)}"
        for i, (a, e) in enumerate(zip(got, wanted, strict=True)):
            if fault := difference(a, e, rtol=case.rtol, atol=case.atol):
                return f"call {call}, output {i}: {fault}"
    return ""


def run_batch(chosen, relaxc, flags):
    """Faults of the cases, by name."""
    faults, ready = {}, []
    for case in chosen:
        content = case.model()
        try:
            ready.append((case, content, case.expected or interpret(content, case.calls)))
        except Exception as error:  # the case itself is wrong, which must be seen and not stop the others
            faults[case.name] = f"no reference: {error}"
    if not ready:
        return faults
    with tempfile.TemporaryDirectory() as folder:
        entries, fault = compiled([(content, case) for case, content, _ in ready], relaxc, Path(folder), flags)
        if entries is None and len(ready) == 1:
            return faults | {ready[0][0].name: fault}
        for number, (case, _, expected) in enumerate(ready if entries else []):
            if fault := check(entries[number], case, expected):
                faults[case.name] = fault
    if entries is None:
        for case, _, _ in ready:
            faults |= run_batch([case], relaxc, flags)
    return faults


def tested(all_cases):
    """One line an operator: the types that its cases have."""
    types = {}
    for case in all_cases:
        types.setdefault(case.code, set()).add(case.dtype)
    return "".join(f"{code}: {' '.join(sorted(types[code]))}\n" for code in sorted(types))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("relaxc")
    parser.add_argument("--family")
    parser.add_argument("--only")
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("--list", type=Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--flags", type=str.split, default=[])
    args = parser.parse_args()
    if args.list:
        text = tested(cases.all_cases())
        if args.update:
            args.list.write_text(text)
        if args.list.read_text() != text:
            sys.exit(f"{args.list} is not what run.py {args.relaxc} --list {args.list} --update writes")
        return
    chosen = [case for case in cases.all_cases()
              if (not args.family or case.family == args.family) and (not args.only or args.only in case.name)]
    chosen = chosen[::args.sample]
    if not chosen:
        sys.exit("no such case")
    faults = {}
    for at in range(0, len(chosen), BATCH):
        faults |= run_batch(chosen[at:at + BATCH], args.relaxc, args.flags)
    for name, fault in faults.items():
        print(f"{name}: {fault}")
    print(f"{len(chosen) - len(faults)} of {len(chosen)} cases agree")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
