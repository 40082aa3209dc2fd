"""NNSmith's search for a graph of a seed, without its command line.

It inserts random operators before and after those that a graph has, and asks Z3 for sizes and attributes that fit. Here
a search ends after a number of attempts and of Z3's steps, not after a time, so that a busy machine finds the same
graph; operators take the dtypes that ONNX gives them; windows, whose weights NNSmith lets fill the memory, have limits.
"""

import importlib.util
import random
from pathlib import Path

import nnsmith
import nnsmith.error
import z3
from nnsmith.abstract.dtype import DType
from nnsmith.abstract.extension import activate_ext, patch_requires
from nnsmith.abstract.op import FULL_OPERATOR_SETS
from nnsmith.graph_gen import ConcolicGen, SymbolicGen
from nnsmith_nodes import ALL, NODES

MAX_OPERATORS = 20
ATTEMPTS = 12  # per operator; of 20 graphs, 15 were full after 3, and one had no place for any
Z3_STEPS = 1_000_000  # of one question: about a second
LEAST_SIZES = [2, 3, 4, 5, 7, 8, 9, 16, 17]
# What ONNX Runtime has kernels for, as it has not for most functions of float64. The other graphs it often refuses.
COMMON = {DType.float32, DType.int32, DType.int64, DType.bool}
# Operators that rarely find a place (rank, dtype and weights must fit), and are most of what real models compute.
WEIGHTED = {"Conv1d", "NCHWConv2d", "MaxPool2d", "AvgPool2d", "BatchNorm2d", "Linear", "PTMatMul", "Softmax"}
WINDOWS = {
    "MaxPool2d": {"kernel_h_size": 5, "kernel_w_size": 5, "stride": 3},
    "AvgPool2d": {"kernel_h_size": 5, "kernel_w_size": 5, "stride": 3},
    "Conv1d": {"kernel_size": 5, "stride": 3, "padding": 3, "dilation": 3, "out_channels": 33},
    "NCHWConv2d": {
        "kernel_h_size": 5,
        "kernel_w_size": 5,
        "stride": 3,
        "padding": 3,
        "dilation_h": 3,
        "dilation_w": 3,
        "out_channels": 33,
    },
}


def find(seed):
    """NNSmith's graph of this seed, with all sizes; None if there is no operator that fits."""
    choose = random.Random(seed)
    size = choose.randint(1, MAX_OPERATORS)
    operators = usable_operators(ALL if choose.random() < 0.3 else COMMON)
    limit_windows(operators)
    search = choose.choice([Concolic, Symbolic, Symbolic])(
        operators, seed=seed, concr_ph_dim_rng=(1, 17), max_elem_per_tensor=choose.choice([512, 4096])
    )
    z3.set_param("rlimit", Z3_STEPS)
    try:
        search.abstract_gen(max_node_size=size, max_gen_millisec=3_600_000)
        return search.make_concrete() if search.num_op() else None
    except nnsmith.error.SanityCheck:
        return None


def usable_operators(dtypes):
    """NNSmith's operators that have nodes, with those of the dtypes that these nodes take."""
    load_torch_dialect()
    usable = []
    for operator in FULL_OPERATOR_SETS["core"] + FULL_OPERATOR_SETS["torch"]:
        if operator.__name__ not in NODES:
            continue
        taken = NODES[operator.__name__].dtypes & dtypes
        operator.in_dtypes = [c for c in operator.in_dtypes if taken.issuperset(c)]
        given = taken | {DType.bool, DType.int64} & dtypes  # of comparisons and of ArgMax
        operator.out_dtypes = [c for c in operator.out_dtypes if given.issuperset(c)]
        if not operator.in_dtypes or not operator.out_dtypes:
            continue
        usable += [operator] * (4 if operator.__name__ in WEIGHTED else 1)
    return usable


def load_torch_dialect():
    """Declares the operators of the folder materialize/torch, whose other files import PyTorch."""
    path = Path(nnsmith.__file__).parent / "materialize/torch/dialect.py"
    spec = importlib.util.spec_from_file_location("nnsmith_torch_dialect", path)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


def limit_windows(operators):
    for name, limits in WINDOWS.items():
        patch_requires("global", f"core.{name}")(
            lambda op, _, limits=limits: [getattr(op, attribute) <= most for attribute, most in limits.items()]
        )
    activate_ext(dict.fromkeys(operators))


class Attempts:
    """Ends a search after a number of attempts."""

    made = 0

    def extra_exit_check(self, max_node_size):
        self.made += 1
        return self.made > ATTEMPTS * max_node_size


class Symbolic(Attempts, SymbolicGen):
    def tensor_type_constraints(self, atensor):
        """Half of the sizes that Z3 may choose get a lower bound: left to itself, it takes 1 most often."""
        free = [dim for dim in atensor.shape if z3.is_const(dim) and dim.decl().kind() == z3.Z3_OP_UNINTERPRETED]
        bounds = [dim >= random.choice(LEAST_SIZES) for dim in free if random.random() < 0.5]
        return super().tensor_type_constraints(atensor) + bounds


class Concolic(Attempts, ConcolicGen):
    pass
