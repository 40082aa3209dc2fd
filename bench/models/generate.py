#!/usr/bin/env python3
"""generate.py: writes models with random weights and true architecture, with inputs, in the layout of ONNX's tests.

    build/venv/bin/python bench/models/generate.py FOLDER [NAME …] [--operators] [--list]

makes FOLDER/NAME/model.onnx and FOLDER/NAME/test_data_set_K/input_J.pb for the named models, else for all: 1.5 minutes
and 5 GB. NAME.FORM is a quantized form (quantize.py). --operators makes models of one operator each (operators.py), or
those of them that are named. What a network computes depends on its weights, how long it takes
does not, as long as no value overflows or vanishes.
"""

import argparse
import logging
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

import detectors
import images
import operators
import quantize
import sequences
import tiny

TOKENS = [{"batch": 1, "sequence": length} for length in (128, 16)]
STEPS = [{"batch": 1, "length": length} for length in (1, 100)]
ROWS = [{"batch": rows} for rows in (1, 64)]
FACES = [{"batch": 1, "height": height, "width": width} for height, width in ((640, 640), (256, 320))]
PAGES = [{"batch": 1, "height": height, "width": width} for height, width in ((640, 480), (320, 320))]
LINES = [{"batch": 1, "width": width} for width in (100, 320)]

# Name -> network, the open dims of each data set, forms beside float.
MODELS = {
    "resnet50": (images.resnet50, [{}], ["qdq"]),
    "vgg19": (images.vgg19, [{}], []),
    "squeezenet": (images.squeezenet, [{}], ["qdq"]),
    "densenet121": (images.densenet121, [{}], []),
    "inception_v1": (images.inception_v1, [{}], []),
    "shufflenet": (images.shufflenet, [{}], []),
    "mobilenetv2": (images.mobilenetv2, [{}], ["qdq", "dynamic"]),
    "yunet": (detectors.yunet, FACES, []),
    "scrfd": (detectors.scrfd, FACES, []),
    "text_detector": (detectors.text_detector, PAGES, []),
    "crnn": (detectors.crnn, LINES, []),
    "bert_base": (sequences.bert_base, TOKENS, ["qdq", "dynamic"]),
    "minilm_l6": (sequences.minilm_l6, TOKENS, ["qdq", "dynamic", "int8", "int4"]),
    "gpt2": (sequences.gpt2, [{"batch": 1, "sequence": 1, "past": 128}, {"batch": 1, "sequence": 128, "past": 0}],
             ["dynamic", "int8", "int4"]),
    "vit_b16": (sequences.vit_b16, [{"batch": 1}], []),
    "lstm": (sequences.lstm, STEPS, []),
    "gru": (sequences.gru, STEPS, []),
    "bilstm": (sequences.bilstm, STEPS, []),
    "mlp": (tiny.mlp, ROWS, ["qdq"]),
    "mlp_1024": (tiny.mlp_1024, ROWS, ["qdq"]),
    "kws": (tiny.kws, [{}], ["qdq"]),
    "vww": (tiny.vww, [{}], ["qdq"]),
    "resnet8": (tiny.resnet8, [{}], ["qdq"]),
    "ae": (tiny.ae, [{}], ["qdq"]),
    **{f"chain_{length}": (lambda length=length: tiny.chain(length), [{"batch": 1}], []) for length in (10, 100, 500)},
}


def inputs_for(model, dims, rng):
    """Arrays in the order of the model's inputs; indices are words that every vocabulary has, masks keep all."""
    arrays = []
    for value in model.graph.input:
        tensor = value.type.tensor_type
        shape = [dims[d.dim_param] if d.dim_param else d.dim_value for d in tensor.shape.dim]
        if tensor.elem_type == onnx.TensorProto.FLOAT:
            arrays.append(rng.standard_normal(shape, np.float32))
        elif value.name == "input_ids":
            arrays.append(rng.integers(0, 30000, shape))
        else:
            arrays.append(np.full(shape, value.name == "attention_mask", np.int64))
    return arrays


def write(folder, model, data_sets):
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(model, folder / "model.onnx")
    for k, arrays in enumerate(data_sets):
        data = folder / f"test_data_set_{k}"
        data.mkdir(exist_ok=True)
        for j, (value, array) in enumerate(zip(model.graph.input, arrays)):
            onnx.save_tensor(numpy_helper.from_array(array, value.name), data / f"input_{j}.pb")
    print(f"{folder.name}: {len(model.graph.node)} nodes, {(folder / 'model.onnx').stat().st_size / 1e6:.1f} MB", flush=True)


def generate(folder, name, forms):
    """`forms`: the quantized ones that are wanted; None stands for float."""
    make, dims, _ = MODELS[name]
    model, rng = make(), np.random.default_rng(1)
    data_sets = [inputs_for(model, sizes, rng) for sizes in dims]
    names = [value.name for value in model.graph.input]
    for form in forms:
        if form is None:
            write(folder / name, model, data_sets)
            continue
        samples = [dict(zip(names, inputs_for(model, sizes, rng))) for sizes in dims for _ in range(3)]
        write(folder / f"{name}.{form}", quantize.FORMS[form](model, samples), data_sets)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--list", action="store_true", help="print the names")
    parser.add_argument("--operators", action="store_true", help="models of one operator each")
    given = parser.parse_intermixed_args()
    every = {name if form is None else f"{name}.{form}": (name, form)
             for name, (_, _, forms) in MODELS.items() for form in (None, *forms)}
    if given.operators:
        every = dict.fromkeys(operators.OPERATORS)
    if given.list or given.folder is None:
        print("\n".join(every))
        return 0
    if unknown := set(given.names) - set(every):
        parser.error(f"there is no model {', '.join(sorted(unknown))}; --list says which there are")
    logging.disable(logging.WARNING)
    if given.operators:
        for name in given.names or every:
            model, arrays = operators.model(name)
            write(given.folder / name, model, [arrays])
        return 0
    wanted = {}
    for full in given.names or every:
        name, form = every[full]
        wanted.setdefault(name, []).append(form)
    for name, forms in wanted.items():
        generate(given.folder, name, forms)
    return 0


if __name__ == "__main__":
    sys.exit(main())
