"""ages.py: a module that TVM prints today, in the spellings of earlier releases.

The forms come from the documentation of each release (TVMScript and TensorIR pages of its docs, the Relax wiki of 2021
and 2022), not from its tests. A function of this file changes one spelling; `SPELLINGS` says which a release had.
"""

import re


def before_tirx(text):
    """0.11 to 0.24: T is tir, a block is T.block, what a block allocates is T.alloc_buffer."""
    text = text.replace("tirx as T", "tir as T").replace('"tirx.', '"tir.').replace("(private=True, s_tir=True)", "(private=True)")
    text = text.replace("@T.prim_func(s_tir=True)", "@T.prim_func").replace("T.sblock_alloc_buffer", "T.alloc_buffer")
    return text.replace("T.sblock_attr", "T.block_attr").replace("T.sblock(", "T.block(")


def struct_info(text):
    """Up to 0.21: the type of a value is its struct info."""
    text = text.replace("out_ty=", "out_sinfo=").replace("ty_args=", "sinfo_args=").replace("R.Any", "R.Object")
    return re.sub(r'R\.Prim\("(\w+)"\)', r'R.Prim("\1")', text)


def buffers_in_brackets(text):
    """0.8 to 0.10: T.Buffer[(4, 8), "float32"]."""
    return re.sub(r"T\.Buffer\((\([^()]*\)), (\"\w+\")\)", r"T.Buffer[\1, \2]", text)


def privates_by_attribute(text):
    """Before 0.13: a private function has no global_symbol, and its decorator no arguments."""
    return text.replace("@T.prim_func(private=True)", "@T.prim_func").replace("@R.function(private=True)", "@R.function")


def handles(text):
    """0.8 and 0.9: parameters are handles that T.match_buffer makes buffers."""
    out = []
    for line in text.split("\n"):
        head = re.match(r"(\s*)def (\w+)\((.*)\):$", line)
        params = re.findall(r"(\w+): T\.Buffer\[(\([^()]*\)), (\"\w+\")\]", head[3]) if head else []
        if not params or len(params) != head[3].count(":"):
            out.append(line)
            continue
        out.append(f"{head[1]}def {head[2]}({', '.join(f'v_{name}: T.handle' for name, _, _ in params)}) -> None:")
        for name, shape, dtype in params:
            out.append(f"{head[1]}    {name} = T.match_buffer(v_{name}, [{shape.strip('(),')}], dtype={dtype})")
    return "\n".join(out)


def axes_one_by_one(text):
    """0.8: vi = T.axis.spatial(8, i) beside remap; T.serial(0, n) for range(n)."""
    text = re.sub(r"in range\((\w+)\):", r"in T.serial(0, \1):", text)
    return text.replace("T.axis.spatial(", "T.axis.S(").replace("T.axis.reduce(", "T.axis.R(")


def call_tir_of_2022(text):
    """2022: R.call_tir(f, (x,), (4, 8), dtype="float32")."""
    return re.sub(r"out_sinfo=R\.Tensor\((\([^()]*\)), dtype=(\"\w+\")\)", r"\1, dtype=\2", text)


def relax_of_2022(text):
    """2022: R.Tensor[(4, 8), "float32"], R.outputs, @R.func."""
    text = re.sub(r"R\.Tensor\((\([^()]*\)), dtype=(\"\w+\")\)", r"R.Tensor[\1, \2]", text)
    return text.replace("R.output(", "R.outputs(")


def tvm_of_2021(text):
    """2021: @tvm.script.tir, tir.match_buffer, tir.block; relax.call_tir, @relax.function."""
    text = text.replace("@T.prim_func", "@tvm.script.tir").replace("T.handle", "ty.handle").replace("T.", "tir.").replace("@R.function", "@relax.function")
    text = re.sub(r"\bR\.(call_tir|dataflow|outputs|Tensor|Tuple)", r"relax.\1", text)
    return text.replace("# from tvm.script", "# from tvm").replace("@I.ir_module", "@tvm.script.ir_module")


TIR_OLD = [before_tirx, struct_info, buffers_in_brackets, privates_by_attribute]
SPELLINGS = {
    "0.27": [],
    "0.22": [before_tirx],
    "0.16": [before_tirx, struct_info],
    "0.12": [before_tirx, struct_info, privates_by_attribute],
    "0.10": TIR_OLD,
    "0.8": TIR_OLD + [handles, axes_one_by_one],
    "relax 2022": TIR_OLD + [call_tir_of_2022, relax_of_2022],
    "relax 2021": TIR_OLD + [handles, call_tir_of_2022, relax_of_2022, tvm_of_2021],
}


def spelled(text, release):
    for change in SPELLINGS[release]:
        text = change(text)
    return text
