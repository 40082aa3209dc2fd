"""contenders.py: how each contender loads a model and runs it. A function here gives two: one run, and its outputs.

relaxc and ONNX Runtime are in every race. OpenVINO, IREE and TVM take part where their packages are installed
(`pip install openvino iree-base-compiler iree-base-runtime apache-tvm`) and where they take the model; what they refuse
is said and left out. Every contender has its own optimizations on, compiles for this CPU, uses as many threads as it is
told, and gets the shapes of its inputs in advance where it has a use for them (TVM compiles for them). IREE and TVM are
not tuned: what is measured is what a user gets by default.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import rlx


def relaxc(path, inputs, threads, pool_path):
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


def onnxruntime(path, inputs, threads, _):
    """Outputs are bound in advance, so that nothing is copied; threads spin during a run, and are asked to stop
    spinning between runs, because then it is another contender's turn. Sums of bytes are exact: without asking, they
    saturate on CPUs without dot products of bytes, and then it computes something else."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.force_spinning_stop", "1")
    options.add_session_config_entry("session.x64quantprecision", "1")
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for value in session.get_inputs():
        binding.bind_cpu_input(value.name, inputs[value.name])
    for value in session.get_outputs():
        binding.bind_output(value.name, "cpu")
    return lambda: session.run_with_iobinding(binding), binding.copy_outputs_to_cpu


def openvino(path, inputs, threads, _):
    import openvino as ov

    settings = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32"}
    compiled = ov.Core().compile_model(path, "CPU", settings)
    request = compiled.create_infer_request()
    for name, array in inputs.items():
        request.set_tensor(name, ov.Tensor(array, shared_memory=True))
    return request.infer, lambda: [request.get_output_tensor(i).data for i in range(len(compiled.outputs))]


def iree(path, inputs, threads, _):
    import numpy as np
    from iree import compiler, runtime

    with tempfile.TemporaryDirectory(prefix="relaxc-bench-") as folder:
        text = Path(folder) / "model.mlir"
        tool = [sys.executable, "-m", "iree.compiler.tools.import_onnx", path, "--opset-version", "17", "-o", text]
        subprocess.run(tool, check=True, stdout=subprocess.DEVNULL)
        module = compiler.compile_file(str(text), target_backends=["llvm-cpu"], input_type="onnx",
                                       extra_args=["--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3"])
    config = runtime.Config("local-sync" if threads == 1 else "local-task")
    context = runtime.SystemContext(config=config)
    loaded = runtime.VmModule.copy_buffer(context.instance, module)
    context.add_vm_module(loaded)
    entries = [name for name in loaded.function_names if "$" not in name and not name.startswith("__")]
    run = context.modules[loaded.name][entries[0]]
    device = [runtime.asdevicearray(config.device, array) for array in inputs.values()]
    result = []

    def once():
        result[:] = [run(*device)]

    def outputs():
        given = result[0] if isinstance(result[0], (tuple, list)) else result
        return [np.asarray(value) for value in given]

    return once, outputs


def tvm(path, inputs, threads, _):
    os.environ["TVM_NUM_THREADS"] = str(threads)
    import onnx
    import tvm
    from tvm import relax
    from tvm.relax.frontend.onnx import from_onnx

    shapes = {name: list(array.shape) for name, array in inputs.items()}
    module = from_onnx(onnx.load(path), shape_dict=shapes, keep_params_in_input=False)
    target = tvm.target.Target({"kind": "llvm", "mcpu": tvm.target.codegen.llvm_get_system_cpu()})
    machine = relax.VirtualMachine(tvm.compile(module, target=target), tvm.cpu())
    machine.set_input("main", *(tvm.runtime.tensor(array) for array in inputs.values()))

    def outputs():
        given = machine.get_outputs("main")
        return [value.numpy() for value in (given if hasattr(given, "__len__") else [given])]

    return lambda: machine.invoke_stateful("main"), outputs


RUNNERS = {"relaxc": relaxc, "onnxruntime": onnxruntime, "openvino": openvino, "iree": iree, "tvm": tvm}
