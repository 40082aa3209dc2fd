"""Models whose C has to be right on machines of either byte order: constants of every dtype, packed layouts, strings."""

import math

from programs import PROGRAMS, REPOSITORY, npy, numbers

SELFTEST = """#include "m.h"
static struct { _Alignas(64) unsigned char bytes[M_SELFTEST_ARENA_BYTES]; } arena;
int main(void) {
  rlx_context context = RLX_CONTEXT_INIT;
  context.arena = &arena;
  context.arena_bytes = M_SELFTEST_ARENA_BYTES;
  return (int)m_selftest(&context);
}
"""
STYLES = [["--c-vectors=none"], ["--c-vectors=gnu"], ["--c-split=2K"], ["-O0"]]
DTYPES = ["float16", "bfloat16", "float32", "float64", "float8_e4m3fn", "float8_e5m2", "int4", "uint4", "int8", "uint8",
          "int16", "uint16", "int32", "uint32", "int64", "uint64", "bool"]


class Case:
    def __init__(self, name, source, content, inputs, flags=(), styles=STYLES, selftest=True):
        self.name, self.source, self.content, self.inputs = name, source, content, inputs
        self.flags, self.styles, self.selftest = list(flags), styles, selftest

    def write(self, folder):
        if self.content is not None:
            (folder / self.source).write_bytes(
                self.content.encode() if isinstance(self.content, str) else self.content)
        files = []
        for index, given in enumerate(self.inputs):
            files.append(f"x{index}.npy")
            (folder / files[-1]).write_bytes(given if isinstance(given, bytes) else npy(*given))
        return self.source, self.flags, files


def constants():
    """Each dtype as a constant that meets an input, a constant that is an output, and one that comes back in parts."""
    lines, outputs = [], []
    for i, dtype in enumerate(DTYPES):
        low = 0 if dtype.startswith(("u", "b")) else -3
        values = [(k % (2 if dtype == "bool" else 5)) + (0 if dtype == "bool" else low + 2 if low else 1)
                  for k in range(11)]
        if dtype == "bool":
            values = [bool(value) for value in values]
        lines.append(f"        c{i} = R.const({values!r}, \"{dtype}\")")
        lines.append(f"        d{i} = R.astype(R.astype(c{i}, dtype=\"float32\") * x, dtype=\"float32\")")
        lines.append(f"        e{i} = R.take(c{i}, at, axis=0)")
        outputs += [(f"d{i}", "(11,)", "float32"), (f"e{i}", "(3,)", dtype)]
    sinfo = ", ".join(f'R.Tensor({shape}, "{dtype}")' for _, shape, dtype in outputs)
    names = ", ".join(name for name, _, _ in outputs)
    return f"""@R.function
def main(x: R.Tensor((11,), "float32"), at: R.Tensor((3,), "int64")) -> R.Tuple({sinfo}):
    with R.dataflow():
""" + "\n".join(lines) + f"\n        R.output({names})\n    return ({names})\n"


def product(dtype, inner=24, columns=19):
    """A product with a constant that is packed in panels."""
    values = [[int(v * 30) for v in numbers(columns, 3 * k + 1)] for k in range(inner)]
    if dtype.startswith("float"):
        values = [[v / 8 for v in row] for row in values]
    return f"""@R.function
def main(x: R.Tensor((7, {inner}), "float32")) -> R.Tensor((7, {columns}), "float32"):
    with R.dataflow():
        w = R.astype(R.const({values!r}, "{dtype}"), dtype="float32")
        y = R.nn.softmax(R.matmul(x, w), axis=-1)
        R.output(y)
    return y
"""


def cases(models):
    for name in ("bytes", "digits", "dynamic", "layers", "lstm", "nonzero"):
        source, content, inputs, flags = PROGRAMS[name]
        yield Case(name, source, content, inputs, flags, STYLES[:2], selftest=False)
    yield Case("constants", "constants.relax", constants(), [((11,), numbers(11, 5), "f4"), ((3,), [10, 0, 4], "i8")])
    for dtype in ("float16", "float32", "float64", "int8", "int16"):
        yield Case(f"product_{dtype}", "product.relax", product(dtype), [((7, 24), numbers(168, 8), "f4")],
                   styles=STYLES[:2])
    pixels = [int(64 * (v + 2)) - 128 for v in numbers(64, 12)]
    yield Case("digits8", REPOSITORY / "examples/digits-int8/digits8.onnx", None,
               [((1, 1, 8, 8), [p / 16 for p in pixels], "f4")])
    for name, shape, kind in (("mnist-8", (1, 1, 28, 28), "f4"), ("mlperf-tiny-ic", (1, 32, 32, 3), "i1")):
        path = models / name / "model.onnx"
        values = [value if kind == "f4" else int(value * 60) for value in numbers(math.prod(shape), 21)]
        if path.exists():
            styles = STYLES[:2] + ([["--target=cortex-m4"]] if kind == "i1" else [])  # as plain C of products of pairs
            yield Case(name, path, None, [(shape, values, kind)], styles=styles, selftest=kind == "f4")
