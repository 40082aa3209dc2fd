#!/usr/bin/env python3
"""write.py: models as they are met, each with data, in the folders of ONNX's backend tests.

Usage: write.py FOLDER [SUBSTRING]      FOLDER is emptied first

A family yields (name, Model, feeds) or (name, Model, feeds, expected): `feeds` is a list of dicts, one a data set, so that
a model with open dims is run at several sizes. What is expected comes from ONNX Runtime without optimization, unless the
family brings it because ONNX Runtime has no kernel.
"""

import importlib
import shutil
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

FAMILIES = ("legacy", "control", "detection", "transformers", "images", "kinds", "shapes", "names")


def session(model):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def save(folder, model, feeds, expected):
    """Writes one test; the reason if ONNX Runtime has none to compare with."""
    proto = model.model()
    try:
        if expected is None:
            run = session(proto)
            expected = [run.run(None, feed) for feed in feeds]
    except Exception as error:
        return f"no reference: {error}"
    for info, array in zip(proto.graph.output, expected[0], strict=True):
        if isinstance(array, list):
            element = helper.make_tensor_type_proto(helper.np_dtype_to_tensor_dtype(array[0].dtype), None)
            info.type.CopyFrom(helper.make_sequence_type_proto(element))
        else:
            info.type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(np.asarray(array).dtype)
    folder.mkdir(parents=True)
    onnx.save(proto, folder / "model.onnx")
    for k, (feed, results) in enumerate(zip(feeds, expected)):
        data = folder / f"test_data_set_{k}"
        data.mkdir()
        for kind, arrays in (("input", [feed[i.name] for i in proto.graph.input if i.name in feed]), ("output", results)):
            for i, array in enumerate(arrays):
                stored = numpy_helper.from_list(array) if isinstance(array, list) else numpy_helper.from_array(np.asarray(array))
                (data / f"{kind}_{i}.pb").write_bytes(stored.SerializeToString())
    return ""


def main():
    root, only = Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    shutil.rmtree(root, ignore_errors=True)
    count, faults = 0, 0
    for family in FAMILIES:
        for name, model, feeds, *expected in importlib.import_module(family).cases():
            if only not in f"{family}_{name}":
                continue
            fault = save(root / f"{family}_{name}", model, feeds, expected[0] if expected else None)
            count, faults = count + 1, faults + bool(fault)
            if fault:
                print(f"{family}_{name}: {fault}")
    print(f"{count} models, {faults} without reference")
    return 1 if faults or not count else 0


if __name__ == "__main__":
    sys.exit(main())
