"""Casts between all element types against ml_dtypes and the reference of the onnx package.

One model a source type casts to every other type, float8 with and without saturation, float8e8m0 with its three ways to
round. Sources of up to 16 bits are every pattern there is; wider ones are the edges of all other types, their
neighbours, and bits at random. Where ONNX leaves the result open (floats beyond the integer type, NaN to an integer) the
meaning is our own and is held here too: integers of a byte or more saturate and NaN gives 0, narrower ones wrap.

Usage: conversions_test.py RELAXC SOURCE_DIR
"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper
from onnx.reference.ops.op_cast import cast_to

RELAXC, SOURCE = sys.argv[1:3]
sys.path.insert(0, str(Path(SOURCE) / "bench"))
import rlx  # noqa: E402

# ONNX's name: DLPack's code and bits.
TYPES = {"FLOAT": (2, 32), "DOUBLE": (2, 64), "FLOAT16": (2, 16), "BFLOAT16": (4, 16), "FLOAT8E4M3FN": (10, 8),
         "FLOAT8E4M3FNUZ": (11, 8), "FLOAT8E5M2": (12, 8), "FLOAT8E5M2FNUZ": (13, 8), "FLOAT8E8M0": (14, 8),
         "FLOAT4E2M1": (17, 4), "BOOL": (6, 8), "INT8": (0, 8), "INT16": (0, 16), "INT32": (0, 32), "INT64": (0, 64),
         "UINT8": (1, 8), "UINT16": (1, 16), "UINT32": (1, 32), "UINT64": (1, 64), "INT4": (0, 4), "UINT4": (1, 4),
         "INT2": (0, 2), "UINT2": (1, 2)}
FLOAT8 = ("FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ")


def numpy_type(name):
    return np.dtype(helper.tensor_dtype_to_np_dtype(getattr(TensorProto, name)))


def is_float(name):
    return "FLOAT" in name or name == "DOUBLE"


for type_name, dlpack in TYPES.items():
    rlx.DTYPES[dlpack] = numpy_type(type_name)
    rlx.CODES[numpy_type(type_name)] = dlpack


def values(name):
    """Every value of a narrow type, a selection of a wide one."""
    dtype, bits = numpy_type(name), TYPES[name][1]
    if name == "BOOL":
        return np.array([False, True])
    if bits < 8 and not is_float(name):
        low = -(1 << bits - 1) if name.startswith("INT") else 0
        return np.arange(low, low + (1 << bits)).astype(np.int8).astype(dtype)
    if bits <= 8:
        return np.arange(1 << bits, dtype=np.uint8).view(dtype)
    if bits == 16:
        return np.arange(1 << 16, dtype=np.uint16).view(dtype)
    raw = np.random.default_rng(5).integers(0, 1 << 63, 4000, dtype=np.uint64) * 2 + 1
    random_bits = (raw >> np.uint64(64 - bits)).astype(f"u{bits // 8}").view(dtype)
    if not is_float(name):
        info = np.iinfo(dtype)
        edges = [e + d for e in [0, info.min, info.max] + [1 << k for k in range(64)] + [-(1 << k) for k in range(64)]
                 for d in (-1, 0, 1)]
        return np.concatenate([np.array([e for e in edges if info.min <= e <= info.max], dtype), random_bits])
    edges = [np.array([0.0, -0.0, np.inf, -np.inf, np.nan], dtype)]
    for other in TYPES:
        if is_float(other) and TYPES[other][1] <= 16:
            own = values(other)[:: 1 if TYPES[other][1] < 16 else 37].astype(np.float32).astype(np.float64)
            own = np.sort(own[np.isfinite(own)])
            middle = (own[1:] + own[:-1]) / 2
            edges.append(np.concatenate([own, middle, own * 1.0000002]).astype(dtype))
    powers = np.ldexp(1.0, np.arange(-160, 127)).astype(dtype)
    edges += [sign * factor * powers for sign in (1, -1) for factor in (np.array(1, dtype), np.array(1.5, dtype),
                                                                     np.array(1.7, dtype))]
    edges.append(np.arange(-300, 300).astype(dtype) / np.array(4, dtype))
    return np.concatenate([np.concatenate(edges).astype(dtype), random_bits])


def casts(source):
    """Each cast from `source`: target, attributes."""
    for target in TYPES:
        if target == source:
            continue
        if target in FLOAT8:
            yield target, {"saturate": 1}
            yield target, {"saturate": 0}
        elif target == "FLOAT8E8M0":
            for mode in ("up", "down", "nearest"):
                for saturate in (0, 1):
                    yield target, {"saturate": saturate, "round_mode": mode}
        else:
            yield target, {}


def saturated(x, target):
    """A float as an integer, where ONNX leaves it open included."""
    bits, signed = TYPES[target][1], target.startswith("INT")
    if bits < 8:
        wide = saturated(x, "INT32").astype(np.int64) & ((1 << bits) - 1)
        return (np.where(wide >> (bits - 1), wide - (1 << bits), wide) if signed else wide).astype(np.int8)
    info, whole = np.iinfo(numpy_type(target)), np.trunc(np.nan_to_num(x.astype(np.float64), nan=0.0))
    inside = (whole >= float(info.min)) & (whole < float(info.max) + (bits < 54))
    limit = np.where(whole < 0, info.min, info.max).astype(info.dtype)
    return np.where(inside, np.where(inside, whole, 0).astype(info.dtype), limit)


def expected(x, source, target, attributes):
    if is_float(source) and not is_float(target) and target != "BOOL":
        return saturated(x, target)
    if target == "BOOL" and is_float(source):
        return x.astype(np.float64) != 0  # NaN is true
    if is_float(source) and TYPES[source][1] <= 8:  # not every pair of narrow floats has a cast there
        x = x.astype(np.float32)
    if source == "BOOL":
        x = x.astype(np.uint8)
    if is_float(target) and not is_float(source) and TYPES[target][1] < 16:
        x = x.astype(np.float32)
    if TYPES[source][1] < 8 and not is_float(target):
        x = x.astype(np.int8)
    return cast_to(x, getattr(TensorProto, target), attributes.get("saturate", 1), attributes.get("round_mode", "up"))


def plain(x):
    """As numbers that can be compared: NaN and the sign of zero stay what they are."""
    if x.dtype.itemsize == 1 and x.dtype.kind not in "biu" or x.dtype == ml_dtypes.bfloat16:
        narrow_integer = x.dtype in (np.dtype(t) for t in (ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.int2, ml_dtypes.uint2))
        return x.astype(np.int8) if narrow_integer else x.astype(np.float32)
    return x


class Conversions(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="relaxc-conversions-")
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)

    def compile(self, source, count, wanted):
        nodes = [helper.make_node("Cast", ["x"], [f"y{i}"], to=getattr(TensorProto, target), **attributes)
                 for i, (target, attributes) in enumerate(wanted)]
        outputs = [helper.make_tensor_value_info(f"y{i}", getattr(TensorProto, target), [count])
                   for i, (target, _) in enumerate(wanted)]
        graph = helper.make_graph(nodes, "casts", [helper.make_tensor_value_info("x", getattr(TensorProto, source),
                                                                                 [count])], outputs)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)], ir_version=12)
        onnx.save(model, self.path / "casts.onnx")
        library = self.path / "casts.so"
        done = subprocess.run([RELAXC, self.path / "casts.onnx", "-O1", "-o", library], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return rlx.Model(library).functions["main"]

    def check(self, source):
        x, wanted = values(source), list(casts(source))
        results = self.compile(source, len(x), wanted)(x)
        with np.errstate(all="ignore"):
            for (target, attributes), found in zip(wanted, results):
                right, found = plain(expected(x, source, target, attributes)), plain(found)
                same = (right == found) | ((right != right) & (found != found))
                if is_float(target):
                    same &= (right != 0) | (np.signbit(right) == np.signbit(found)) | (x != x)
                where = np.flatnonzero(~same)
                if len(where):
                    at = where[0]
                    self.fail(f"{source} {x[at]!r} to {target} {attributes}: {found[at]!r}, expected {right[at]!r}; "
                              f"{len(where)} of {len(x)} differ")


for type_name in TYPES:
    setattr(Conversions, f"test_from_{type_name}", lambda self, name=type_name: self.check(name))

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
