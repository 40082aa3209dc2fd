"""operator_cases.py: what the cases of all families are made of, and the list of families."""

import importlib
from dataclasses import dataclass, field

import numpy as np
from model import Graph, Op, T, model

FAMILIES = ["windows", "arithmetic", "unary", "products", "reductions", "shapes", "pieces", "conversions", "softmaxes", "lists", "networks"]
QUANTIZED = ("int8", "uint8", "int16")
NP = {"bool": np.bool_}


@dataclass
class Case:
    name: str
    family: str
    code: str
    dtype: str
    graphs: list
    calls: list
    rtol: float = 1e-5
    atol: float = 2e-6
    states: list = field(default_factory=list)  # shape and dtype of each variable
    expected: list | None = None  # the outputs of each call, where the interpreter is not the reference

    def model(self):
        return model(*self.graphs)


def random_array(tensor, rng, low=None, high=None):
    """Contents for an input: all of an integer type's range if it is quantized, else small numbers."""
    dtype = NP.get(tensor.dtype, np.dtype(tensor.dtype))
    if tensor.dtype == "bool":
        return rng.integers(0, 2, tensor.shape).astype(bool)
    if np.issubdtype(dtype, np.floating):
        return rng.uniform(-4 if low is None else low, 4 if high is None else high, tensor.shape).astype(dtype)
    limits = np.iinfo(dtype)
    if tensor.scale is None and tensor.dtype not in ("int8", "uint8"):
        limits = np.iinfo(np.int8)
    least, most = (limits.min if low is None else low), (limits.max if high is None else high)
    array = rng.integers(least, most + 1, tensor.shape).astype(dtype)
    flat = array.reshape(-1)
    if flat.size > 2:
        flat[0], flat[-1] = least, most
    return array


class Family:
    """Collects cases; `add` makes one of a single operator."""

    def __init__(self, name):
        self.name, self.cases, self.rng = name, [], np.random.default_rng(7)

    def add(self, code, inputs, outputs, options=None, *, low=None, high=None, title="", calls=1, values=None, how=None,
            typed=0, version=1, custom=None, **fields):
        outputs = outputs if isinstance(outputs, list) else [outputs]
        given = [t for t in inputs if t is not None and t.data is None and not t.variable]
        arrays = values or [[random_array(t, self.rng, low, high) for t in given] for _ in range(calls)]
        dtype = inputs[typed].dtype if inputs else outputs[0].dtype
        text = " ".join(str(t.shape) if t else "-" for t in inputs)
        extra = " ".join(f"{k}={v}" for k, v in fields.items())
        name = f"{code} {dtype} {text} {extra} {title}".strip()
        graph = Graph(given, outputs, [Op(code, inputs, outputs, options, version=version, **fields)])
        self.cases.append(Case(name, self.name, code, dtype, [graph], arrays, **(how or {})))


def all_cases():
    """In order of the families."""
    return [case for name in FAMILIES for case in importlib.import_module(f"family_{name}").cases()]
