"""ages.py: a program that TVM prints today, in the spelling of each earlier release.

`CHANGES` lists, from the newest to the oldest, what of the spelling changed: the last release with the older form, the
function that gives a tree this form, and the change of TVM that ended it (a number is a pull request of apache/tvm). The
program of a release is today's after all changes whose last release is not before it. Releases were compared by their
printers (src/printer, src/script/printer, src/tirx/script, src/relax/script at the tags) and by the attributes of their
operators (include/tvm/relax/attrs); the texts of 0.25 and 0.26 were compared with what these packages print.

Relax is in TVM since 0.16. Before, it was developed beside it: its programs are spelled as on the branch "unity" at the
time of 0.12 to 0.15, and as its documentation of 2021 and 2022 has them.
"""

import ast

import older_relax as relax
import older_tir as tir
from respelling import Absent, name_of, parse, unparse

RELEASES = [f"0.{minor}" for minor in range(27, 7, -1)]
BEFORE_RELEASES = {"relax 2022": "0.10", "relax 2021": "0.8"}  # and the release whose TIR they have

CHANGES = [
    ("0.26", relax.take_type_variables, "20107: n = TypeVar(\"n\")"),
    ("0.26", tir.symbols_of_types, "20107"),
    ("0.26", relax.symbols_of_signatures, "20107"),
    ("0.26", tir.bits_by_calls, "20110: << for T.shift_left"),
    ("0.25", relax.struct_info, "19853: out_ty for out_sinfo, R.Any for R.Object"),
    ("0.25", relax.prim_values, "19891, 19910: numbers without R.prim_value, T.int64 for R.Prim"),
    ("0.25", relax.affine_grid_aligned, "19864: align_corners of affine_grid"),
    ("0.25", tir.attributes_before_symbols, "19910"),
    ("0.25", tir.symbols_of_handles, "19910, 20079: symbolic buffers as parameters"),
    ("0.24", tir.no_s_tir, "19581: @T.prim_func(s_tir=True)"),
    ("0.24", tir.lets_without_a_word, "19581: T.let[T.int32], T.alloc_local"),
    ("0.23", tir.attributes_of_tir, "18913: tirx for tir"),
    ("0.23", tir.plain_assertions, "18874: kind and parts of an assertion's message"),
    ("0.23", tir.allocations_declared, "18865: T.alloc_buffer for T.decl_buffer of memory of its own"),
    ("0.23", tir.blocks, "18689: sblock for block"),
    ("0.21", relax.take_without_mode, "18061: the mode of take"),
    ("0.19", relax.batch_norm_without_training, "17752: the training of batch_norm"),
    ("0.19", relax.pads_by_argument, "17657: pad_value is an attribute"),
    ("0.17", tir.boxed_truths, "16183: True for T.bool(True)"),
    ("0.16", relax.slices_by_attributes, "16826: bounds of strided_slice are arguments"),
    ("0.15", relax.void_results_named, "16658: calls without a result are statements"),
    ("0.13", tir.global_symbols, "15214: private functions of TIR"),
    ("0.12", relax.no_privacy, "15140: private functions of Relax"),
    ("0.12", relax.no_purity, "14394: purity"),
    ("0.11", tir.plain_truths, "13795: the printer of IRDocsifier, with T.bool(True)"),
    ("0.11", tir.loops_by_kind, "13795: range(n) for T.serial(n), T.float32(0.0) for T.float32(0)"),
    ("0.11", tir.shapes_in_lists, "13795: T.alloc_buffer((4, 8)) for T.alloc_buffer([4, 8], dtype=…)"),
    ("0.11", tir.symbols_before_all, "13795: n = T.int64() for T.var(\"int64\")"),
    ("0.11", tir.memory_by_parts, "13795: T.decl_buffer for T.allocate and T.buffer_decl"),
    ("0.11", tir.dtypes_of_calls, "14111: calls without dtype="),
    ("0.11", tir.buffers_in_brackets, "13795: T.Buffer((4, 8), \"float32\") for brackets"),
    ("0.11", tir.pointers_in_brackets, "13795: T.handle(\"float32\") for T.Ptr[T.float32], T.Let"),
    ("0.10", tir.casts_last, "13358: T.Cast(\"float32\", x) for T.cast(x, \"float32\"), T.Div of literals"),
    ("0.10", tir.nothing_returned, "13358: signatures without -> None"),
    ("0.9", tir.memory_is_a_buffer, "12412: T.allocate gives a pointer"),
    ("0.8", tir.all_by_handles, "9680: T.Buffer[…] of parameters, T.reads without a list, T.serial(n)"),
    ("0.8", tir.loads_and_stores, "9727: memory is a buffer, without T.load and T.store"),
]
CHANGES_OF_2022 = [relax.names_without_module, relax.calls_of_2022, relax.tensors_in_brackets]
CHANGES_OF_2021 = [relax.names_of_2021]

# The release that first had an operator of Relax, of those that came after 0.12 (src/relax/op at the tags).
FIRST = {
    "0.13": "bitwise_and bitwise_not bitwise_or bitwise_xor logical_and logical_not logical_or logical_xor nn.gelu_tanh call_pure_packed",
    "0.14": "dequantize erf nn.conv1d_transpose nn.leakyrelu nn.pad nn.rms_norm quantize",
    "0.15": "argsort cumprod nn.conv3d sort topk call_tir_inplace",
    "0.16": "nn.adaptive_avg_pool1d nn.adaptive_avg_pool3d nn.avg_pool1d nn.avg_pool3d nn.max_pool1d nn.max_pool3d",
    "0.17": "multinomial_from_uniform",
    "0.18": "left_shift right_shift scatter_nd",
    "0.19": "eye eye_like floor_mod gather_elements gather_nd mod one_hot",
    "0.20": "nn.selu nn.softplus",
    "0.21": "bucketize hamming_window index_tensor log_add_exp meshgrid nn.instance_norm nn.prelu outer slice_scatter stack trunc",
    "0.23": "image.grid_sample median size",
    "0.24": "atan2 image.affine_grid image.resize3d nn.batch_flatten nn.conv3d_transpose vision.multibox_transform_loc "
            "vision.non_max_suppression vision.roi_align vision.roi_pool",
    "0.26": "reverse_sequence",
}
FIRST_OF = {f"R.{name}": release for release, names in FIRST.items() for name in names.split()}
# Before the operators of 0.12 the programs of Relax were calls of prim funcs and of packed functions.
LOWERED = {"R.Tensor", "R.Tuple", "R.Shape", "R.Object", "R.dataflow", "R.output", "R.function", "R.call_tir", "R.call_packed", "R.tuple",
           "R.call_dps_packed", "R.const", "R.shape", "R.func_attr", "R.match_cast", "R.Prim", "R.prim_value"}
HEADERS = [  # the first release with these lines above a module
    ("0.24", "# from tvm.script import ir as I\n# from tvm.script import tirx as T\n# from tvm.script import relax as R\n"),
    ("0.12", "# from tvm.script import ir as I\n# from tvm.script import tir as T\n# from tvm.script import relax as R\n"),
    ("0.8", "# from tvm.script import tir as T"),
]


def number(release):
    return int(release.split(".")[1])


def check_operators(tree, release):
    for node in ast.walk(tree):
        name = name_of(node) if isinstance(node, ast.Call) else ""
        if not name.startswith("R."):
            continue
        if number(FIRST_OF.get(name, "0.0")) > number(release) or (number(release) < 12 and name not in LOWERED):
            raise Absent(f"{name} came later")


def spelled(text, release):
    """The program as `release` printed it; fails with Absent where that had no form of it."""
    if release == RELEASES[0]:
        return text
    base = BEFORE_RELEASES.get(release, release)
    tree = parse(text)
    check_operators(tree, base)
    is_relax = any(isinstance(node, ast.FunctionDef) and not tir.is_prim_func(node) for node in ast.walk(tree))
    if is_relax and number(release if release in RELEASES else "0.12") < 12:
        raise Absent("there was no Relax beside it, or it was spelled as before")
    for last, change, _ in CHANGES:
        if number(last) >= number(base):
            tree = change(tree)
    if release in BEFORE_RELEASES:
        for change in CHANGES_OF_2022 + (CHANGES_OF_2021 if release.endswith("2021") else []):
            tree = change(tree)
    if number(base) < 12:
        tree = tir.renamed({"I.ir_module": "tvm.script.ir_module"})(tree)
    header = next(lines for first, lines in HEADERS if number(first) <= number(base))
    return unparse(tree, header)
