"""worker.py: one contender in a process of its own, so that its peak of memory is its own; run.py talks to it in JSON
lines.

worker.py KIND MODEL INPUTS.npz OUTPUTS.npz THREADS [POOL]       KIND: a name of contenders.py

It loads the model, runs it once, writes the outputs, and reports {"load", "first", ...}, or {"refused"} with the reason
where a contender does not take the model. Then each line N on its input means "run N times and report the nanoseconds of
all, by the clock on the wall and of the processor", until the input ends, when it reports the peak of memory.
"""

import json
import os
import resource
import sys
import time

import numpy as np

import contenders


def peak_kib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main(kind, path, inputs_path, outputs_path, threads, pool_path=None):
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer

    def report(record):
        print(json.dumps(record), file=answers, flush=True)

    inputs = dict(np.load(inputs_path))
    before = peak_kib()
    start = time.perf_counter_ns()
    try:
        run, results = contenders.RUNNERS[kind](path, inputs, int(threads), pool_path)
        loaded = time.perf_counter_ns()
        run()
    except Exception as fault:  # of whatever kind: each library has its own
        report({"refused": (str(fault) or type(fault).__name__).strip().splitlines()[0][:200]})
        return
    first = time.perf_counter_ns()
    np.savez(outputs_path, *results())
    report({"load_ns": loaded - start, "first_ns": first - loaded})
    for line in sys.stdin:
        times = range(int(line))
        start, busy = time.perf_counter_ns(), time.process_time_ns()
        for _ in times:
            run()
        report({"wall": time.perf_counter_ns() - start, "cpu": time.process_time_ns() - busy})
    report({"peak_kib": peak_kib(), "peak_above_start_kib": peak_kib() - before})


if __name__ == "__main__":
    main(*sys.argv[1:])
