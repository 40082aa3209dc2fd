"""Operators with a memory, normalizations, transposed convolutions, branches, loops and variables."""

import numpy as np
from operator_cases import Case, Family
from family_windows import RELU, zero_of
from model import Graph, Op, T


def normalizations(f):
    f.add("L2_NORMALIZATION", [T([3, 7])], T([3, 7]), "L2NormOptions")
    for scale, zero, size in ((0.05, 3, 7), (0.02, -128, 64), (0.1, 0, 3)):
        x, y = T([40, size], "int8", scale=scale, zero=zero), T([40, size], "int8", scale=1 / 128, zero=0)
        f.add("L2_NORMALIZATION", [x], y, "L2NormOptions", version=2, title=f"zero {zero}")
    zeros = np.zeros((2, 5), np.int8) + 3
    zeros[1, 2] = 4
    x, y = T([2, 5], "int8", scale=0.1, zero=3), T([2, 5], "int8", scale=1 / 128, zero=0)
    f.add("L2_NORMALIZATION", [x], y, "L2NormOptions", version=2, title="nothing", values=[[zeros]])
    f.add("LOCAL_RESPONSE_NORMALIZATION", [T([2, 3, 4, 9])], T([2, 3, 4, 9]), "LocalResponseNormalizationOptions", radius=2,
          bias=1.0, alpha=0.1, beta=0.75, how={"rtol": 1e-4})


def transposed(f, dtype, *, stride, padding, size, result, bias=True, window=(3, 3), **fields):
    inputs, outputs, rng = 4, 5, f.rng
    shape = (outputs, *window, inputs)
    if dtype == "float32":
        x, w = T([2, *size, inputs]), T(data=rng.uniform(-1, 1, shape).astype(np.float32))
        b, y = T(data=rng.uniform(-1, 1, outputs).astype(np.float32)), T([2, *result, outputs])
    else:
        kind = "uint8" if dtype == "uint8" else "int8"
        small = 1 / 256 if dtype == "int16" else 1
        scale = rng.uniform(0.002, 0.02, 1 if dtype == "uint8" else outputs)
        low, high = (0, 256) if kind == "uint8" else (-127, 128)
        w = T(data=rng.integers(low, high, shape).astype(kind), scale=scale, zero=117 if kind == "uint8" else 0, axis=0)
        x = T([2, *size, inputs], dtype, scale=0.0471 * small, zero=zero_of(dtype, -11))
        b = T(data=rng.integers(-5000, 5000, outputs).astype(np.int64 if dtype == "int16" else np.int32), scale=scale * 0.0471 * small)
        y = T([2, *result, outputs], dtype, scale=0.0713 * small, zero=zero_of(dtype, 7))
    sizes = T(data=np.array([2, *result, outputs], np.int32))
    f.add("TRANSPOSE_CONV", [sizes, w, x] + ([b] if bias else []), y, "TransposeConvOptions", typed=2, version=3 if bias else 1,
          padding=padding, strideH=stride, strideW=stride, **fields)


def svdf(f, dtype, rank, activation=0):
    batch, inputs, units, memory, rng = 2, 6, 4, 5, f.rng
    filters = units * rank
    if dtype == "float32":
        x, y = T([batch, inputs]), T([batch, units])
        features = T(data=rng.uniform(-1, 1, (filters, inputs)).astype(np.float32))
        times = T(data=rng.uniform(-1, 1, (filters, memory)).astype(np.float32))
        bias = T(data=rng.uniform(-1, 1, units).astype(np.float32))
        state = T([batch, filters * memory], variable=True)
    else:
        x, y = T([batch, inputs], "int8", scale=0.03, zero=-7), T([batch, units], "int8", scale=0.05, zero=4)
        features = T(data=rng.integers(-127, 128, (filters, inputs)).astype(np.int8), scale=0.01, zero=0)
        times = T(data=rng.integers(-9000, 9000, (filters, memory)).astype(np.int16), scale=1 / 9000, zero=0)
        bias = T(data=rng.integers(-900, 900, units).astype(np.int32), scale=0.0004 / 9000, zero=0)
        state = T([batch, filters * memory], "int16", scale=0.0004, zero=0, variable=True)
    f.add("SVDF", [x, features, times, bias, state], y, "SVDFOptions", rank=rank, fusedActivationFunction=activation, calls=7,
          version=3 if dtype == "int8" else 1, how={"states": [(state.shape, state.dtype)]})


def variables(f):
    """A window over the last four frames, kept in a variable that begins with `start`."""
    for title, start in (("zeros", np.zeros((1, 4, 3), np.float32)), ("ones", np.ones((1, 4, 3), np.float32))):
        x, y = T([1, 1, 3]), T([1, 3])
        handle, old, kept, new = T([], "resource"), T([1, 4, 3]), T([1, 3, 3]), T([1, 4, 3])
        ints = [T(data=np.array(v, np.int32)) for v in ((0, 1, 0), (1, 3, 3), (1,))]
        initial, name = T([], "resource"), {"sharedName": "window", "container": ""}
        init = Graph([], [], [Op("VAR_HANDLE", [], [initial], "VarHandleOptions", **name),
                              Op("ASSIGN_VARIABLE", [initial, T(data=start)], [], "AssignVariableOptions")], "init")
        main = Graph([x], [y], [
            Op("CALL_ONCE", [], [], "CallOnceOptions", initSubgraphIndex=1),
            Op("VAR_HANDLE", [], [handle], "VarHandleOptions", **name),
            Op("READ_VARIABLE", [handle], [old], "ReadVariableOptions"),
            Op("SLICE", [old, ints[0], ints[1]], [kept], "SliceOptions"),
            Op("CONCATENATION", [kept, x], [new], "ConcatenationOptions", axis=1),
            Op("ASSIGN_VARIABLE", [handle, new], [], "AssignVariableOptions"),
            Op("SUM", [new, ints[2]], [y], "ReducerOptions")])
        calls = [[f.rng.uniform(-1, 1, (1, 1, 3)).astype(np.float32)] for _ in range(6)]
        states = [((1, 4, 3), "float32")] + ([((), "bool")] if title == "ones" else [])
        for code in ("VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE", "CALL_ONCE"):
            f.cases.append(Case(f"{code} begins as {title}", f.name, code, "float32", [main, init], calls, states=states))


def branches(f):
    def branch(code, options, name):
        a, b, c = T([2, 3]), T([2, 3]), T([2, 3])
        return Graph([a, b], [c], [Op(code, [a, b], [c], options)], name)

    condition, x, y, z = T([1], "bool"), T([2, 3]), T([2, 3]), T([2, 3])
    main = Graph([condition, x, y], [z], [Op("IF", [condition, x, y], [z], "IfOptions", thenSubgraphIndex=1, elseSubgraphIndex=2)])
    calls = [[np.array([flag]), *(f.rng.uniform(-1, 1, (2, 3)).astype(np.float32) for _ in range(2))] for flag in (True, False)]
    graphs = [main, branch("ADD", "AddOptions", "then"), branch("MUL", "MulOptions", "else")]
    f.cases.append(Case("IF", f.name, "IF", "float32", graphs, calls))


def loops(f):
    """x and n become x + x and n - 1 while n > 0."""
    n, x, m, y = T([], "int32"), T([2, 3]), T([], "int32"), T([2, 3])
    main = Graph([n, x], [m, y], [Op("WHILE", [n, x], [m, y], "WhileOptions", condSubgraphIndex=1, bodySubgraphIndex=2)])
    cn, cx, go = T([], "int32"), T([2, 3]), T([], "bool")
    zero, one = T(data=np.array(0, np.int32)), T(data=np.array(1, np.int32))
    condition = Graph([cn, cx], [go], [Op("GREATER", [cn, zero], [go], "GreaterOptions")], "condition")
    bn, bx, less, twice = T([], "int32"), T([2, 3]), T([], "int32"), T([2, 3])
    body = Graph([bn, bx], [less, twice], [Op("SUB", [bn, one], [less], "SubOptions"), Op("ADD", [bx, bx], [twice], "AddOptions")], "body")
    calls = [[np.array(count, np.int32), f.rng.uniform(-1, 1, (2, 3)).astype(np.float32)] for count in (0, 1, 5)]
    f.cases.append(Case("WHILE", f.name, "WHILE", "float32", [main, condition, body], calls))


def cases():
    f = Family("networks")
    normalizations(f)
    for dtype in ("float32", "int8", "uint8", "int16"):
        transposed(f, dtype, stride=2, padding=0, size=(3, 4), result=(6, 8))
        transposed(f, dtype, stride=2, padding=1, size=(3, 4), result=(7, 9), bias=False)
        transposed(f, dtype, stride=1, padding=0, size=(4, 4), result=(4, 4))
    for dtype in ("float32", "int8"):
        svdf(f, dtype, 1, 0 if dtype == "float32" else RELU)
        svdf(f, dtype, 2, RELU)
    variables(f)
    branches(f)
    loops(f)
    return f.cases
