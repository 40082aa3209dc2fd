"""blocks.py: weights of few bits with a scale for each block."""

import itertools

import numpy as np
from harness import Const, node

rng = np.random.default_rng(5)


def f32(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def matmuls():
    n = 6
    for bits, k, block in itertools.product((2, 4, 8), (32, 40), (16, 32)):
        count = -(-k // block)
        b = rng.integers(0, 256, (n, count, block * bits // 8), np.uint8)
        scales = np.abs(f32(n, count)) * 0.1
        packed = rng.integers(0, 256, (n, (count * bits + 7) // 8), np.uint8)
        attrs = {"K": k, "N": n, "bits": bits, "block_size": block}
        how = {"rtol": 1e-4, "atol": 1e-5}
        yield node("MatMulNBits", [f32(2, 3, k), Const(b), Const(scales)], attrs, **how)
        yield node("MatMulNBits", [f32(3, k), Const(b), Const(scales), Const(packed)], attrs, **how,
                   name=f"MatMulNBits zero points {attrs}")
    yield node("MatMulNBits", [f32(3, k), Const(b), Const(scales), Const(packed), None, Const(f32(n))], attrs, **how,
               name="MatMulNBits with a bias", symbolic=True)
    b4 = rng.integers(0, 256, (n, 2, 8), np.uint8)
    zeros = rng.integers(0, 16, (n, 2)).astype(np.float32)
    attrs = {"K": 32, "N": n, "bits": 4, "block_size": 16}
    yield node("MatMulNBits", [f32(3, 32), Const(b4), Const(np.abs(f32(n, 2))), Const(zeros)], attrs, **how,
               name="MatMulNBits, zero points in float")
    for kind, block in itertools.product((0, 1), (16, 32)):
        size = n * 32
        yield node("MatMulBnb4", [f32(3, 32), Const(rng.integers(0, 256, size // 2, np.uint8)),
                                  Const(np.abs(f32(size // block)))],
                   {"K": 32, "N": n, "block_size": block, "quant_type": kind, "transB": 1}, **how)


def gathers():
    for bits, zero in itertools.product((4, 8), (False, True)):
        data = rng.integers(0, 256, (10, 48 * bits // 8), np.uint8)
        scales = np.abs(f32(10, 3))
        points = [Const(rng.integers(0, 256, (10, (3 * bits + 7) // 8), np.uint8))] if zero else []
        for ids in (np.array([3, 0, 9], np.int64), np.array([[1, 2], [5, 5]], np.int32)):
            yield node("GatherBlockQuantized", [Const(data), ids, Const(scales), *points],
                       {"gather_axis": 0, "quantize_axis": 1, "block_size": 16, "bits": bits},
                       name=f"GatherBlockQuantized {bits} bits, zero points {zero}, {ids.ndim} dims")


def cases():
    yield from matmuls()
    yield from gathers()
