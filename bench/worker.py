"""worker.py: one contender in a process of its own, so that its peak of memory is its own; run.py talks to it in JSON
lines.

worker.py KIND MODEL INPUTS.npz OUTPUTS.npz THREADS [POOL]       KIND: relaxc or onnxruntime

It loads the model, runs it once, writes the outputs, and reports {"load", "first", ...}. Then each line N on its input
means "run N times and report the nanoseconds of all, by the clock on the wall and of the processor", until the input
ends, when it reports the peak of memory.

ONNX Runtime gets what it has: all optimizations, outputs bound in advance so that nothing is copied, and threads that
spin during a run. They are told to stop spinning between runs, because then it is the other contender's turn.
"""

import json
import resource
import sys
import time

import numpy as np

import rlx


def relaxc_runner(path, inputs, threads, pool_path):
    """Loads a library of relaxc; returns a function that runs it, and one that gives its outputs."""
    model = rlx.Model(path)
    entry = next(iter(model.functions.values()))
    attach = None
    if threads > 1:
        pool = rlx.c.CDLL(pool_path)
        pool.rlx_pool_create.restype = rlx.c.c_void_p
        handle = rlx.c.c_void_p(pool.rlx_pool_create(threads))
        attach = lambda context: pool.rlx_pool_attach(handle, rlx.c.byref(context))
    call = entry.prepare([inputs[spec.name.decode()] for spec in entry.inputs], attach)
    return call.run, call.results


def onnxruntime_runner(path, inputs, threads, _):
    """Makes an InferenceSession; returns a function that runs it, and one that gives its outputs."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.force_spinning_stop", "1")
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for value in session.get_inputs():
        binding.bind_cpu_input(value.name, inputs[value.name])
    for value in session.get_outputs():
        binding.bind_output(value.name, "cpu")
    return lambda: session.run_with_iobinding(binding), binding.copy_outputs_to_cpu


def peak_kib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def report(record):
    print(json.dumps(record), flush=True)


def main(kind, path, inputs_path, outputs_path, threads, pool_path=None):
    inputs = dict(np.load(inputs_path))
    before = peak_kib()
    start = time.perf_counter_ns()
    runner = {"relaxc": relaxc_runner, "onnxruntime": onnxruntime_runner}[kind]
    run, results = runner(path, inputs, int(threads), pool_path)
    loaded = time.perf_counter_ns()
    run()
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
