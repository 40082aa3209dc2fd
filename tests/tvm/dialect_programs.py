"""dialect_programs.py: programs with loops, branches and sizes that data decides, for dialect_test.py.

Each is a text, the inputs of some runs, and a function of NumPy that gives what a run has to give.
"""

import numpy as np

COUNTED = """@R.function
def main(trips: R.Tensor((), "int64"), x: R.Tensor(("n",), "float32"), w: R.Tensor(("n",), "float32")):
    n = T.int64()
    one = R.const(1.0, "float32")
    big = R.const(100.0, "float32")
    with R.loop(trips, carried=(x,)) as (i, a):
        c = R.less(R.sum(a), big)
        with R.loop(n, condition=c, carried=(a, one)) as (j, b, s):
            b1 = R.add(b, w)
            s1 = R.add(s, R.sum(R.multiply(b1, R.sum(R.astype(R.shape_to_tensor(R.shape([i + j])), "float32")))))
            d = R.less(R.sum(b1), big)
            a1, s2, rows = R.carry(b1, s1, condition=d, scan=(b1,))
        last, sums = R.carry(a1, scan=(R.add(R.sum(rows), s2),))
    return last, sums
"""


def counted(trips, x, w):
    a, sums = x, []
    for i in range(int(trips)):
        s, rows, go, j = np.float32(1), [], a.sum() < 100, 0
        while j < len(x) and go:
            a = a + w
            s = s + (a * np.float32(i + j)).sum()
            rows.append(a)
            go, j = a.sum() < 100, j + 1
        sums.append(np.sum(rows, dtype=np.float32) + s)
    return a, np.array(sums, "float32")


TUPLES = """@R.function
def main(trips: R.Tensor((), "int64"), x: R.Tensor(("n",), "float32"), k: R.Prim("int64")):
    n = T.int64()
    pair = (x, R.prim_value(k))
    with R.loop(trips, condition=R.const(True, "bool"), carried=(pair, x),
                ty_args=(R.Tuple(R.Tensor((n,), "float32"), R.Prim(value=q)), R.Tensor((m,), "float32"))) as (i, t, g):
        a = R.add(t[0], x)
        longer = R.concat((g, R.full(R.shape([q]), R.const(2.0, "float32"))), axis=0)
        go = R.less(R.sum(a), R.const(60.0, "float32"))
        t1, g1 = R.carry((a, R.prim_value(q + i)), longer, condition=go,
                         out_ty=(R.Tuple(R.Tensor((n,), "float32"), R.Prim(value=q1)), R.Tensor((m1,), "float32")))
    return t1[0], t1[1], g1
"""


def tuples(trips, x, k):
    a, g, q, go, i = x, x, int(k), True, 0
    while i < trips and go:
        a, g, q, i = a + x, np.concatenate([g, np.full(q, 2, "float32")]), q + i, i + 1
        go = a.sum() < 60
    return a, np.array(q), g


SELECTED = """@R.function
def main(trips: R.Tensor((), "int64"), x: R.Tensor(("n",), "float32")):
    n = T.int64()
    bound = R.const(1.0, "float32")
    with R.loop(trips, carried=(x,), ty_args=(R.Tensor((m,), "float32"),)) as (i, a):
        large = R.masked_select(a, R.greater(a, bound))
        places = R.nonzero(R.greater(x, bound))
        e, rows = R.carry(R.multiply(R.concat((large, large), axis=0), R.const(0.75, "float32")), scan=(places,),
                          out_ty=(R.Tensor((m1,), "float32"), R.Tensor((h, 1, c), "int64")))
    return e, rows
"""


def selected(trips, x):
    a, places = x, np.stack(np.nonzero(x > 1)).astype("int64")
    for _ in range(int(trips)):
        a = np.tile(a[a > 1], 2) * np.float32(0.75)
    return a, np.stack([places] * int(trips)) if trips > 0 else np.zeros((0, 1, 0), "int64")


UNTIL = """@R.function
def main(x: R.Tensor(("n",), "float32"), limit: R.Tensor((), "float32")):
    n = T.int64()
    with R.loop(None, condition=R.less(R.sum(x), limit), carried=(x,)) as (i, a):
        if n > 2:
            b = R.add(a, a)
            d = R.concat((a, a), axis=0)
        else:
            b = R.add(a, R.const(1.0, "float32"))
            d = a
        e, sums = R.carry(b, condition=R.less(R.sum(b), limit), scan=(R.sum(d),))
    return e, sums
"""


def until(x, limit):
    sums = []
    while x.sum() < limit:
        sums.append((np.tile(x, 2) if len(x) > 2 else x).sum())
        x = x + x if len(x) > 2 else x + np.float32(1)
    return x, np.array(sums, "float32")


CHOSEN = """@R.function
def main(x: R.Tensor(("n",), "float32"), c: R.Tensor((), "bool"), k: R.Prim("int64")):
    n = T.int64()
    with R.dataflow():
        y = R.nonzero(R.greater(x, R.const(0.0, "float32")))
        u = R.unique(x)
        R.output(y, u)
    if c:
        a = R.exp(u)
        b = R.prim_value(n)
    else:
        a = x
        b = R.prim_value(k)
    return y, a, b
"""


def chosen(x, c, k):
    return np.stack(np.nonzero(x > 0)).astype("int64"), np.exp(np.unique(x)) if c else x, np.array(len(x) if c else k)


CALLED = """@I.ir_module
class Module:
    @R.function(private=True)
    def power(x: R.Tensor(("n",), "float32"), k: R.Tensor((), "int64")) -> R.Tensor(("n",), "float32"):
        if k > 0:
            return Module.power(R.multiply(x, R.const(1.5, "float32")), k - 1)
        else:
            return x

    @R.function
    def main(x: R.Tensor(("n", 2), "float32"), k: R.Tensor((), "int64"), steps: R.Prim("int64"), by: R.Prim("float32")):
        n = T.int64()
        with R.loop(steps, carried=(x,)) as (i, a):
            first = R.reshape(a, R.shape([n * 2]))
            R.assert_op(R.less(R.max(first), R.const(1000.0, "float32")))
            powers = R.reshape(Module.power(first, k), R.shape([n, 2]))
            e = R.carry(R.multiply(powers, R.prim_value(by * T.float32(2))))
        return e
"""


def called(x, k, steps, by):
    for _ in range(steps):
        x = x * np.float32(1.5 ** max(0, int(k)) * by * 2)
    return (x,)


def floats(*values):
    return np.array(values, "float32")


def number(value):
    return np.array(value, "int64")


X, W = floats(3, 0.5, 2, 1.25), floats(10, 1, 2, 3)
PROGRAMS = {
    "counted": (COUNTED, counted, [(number(3), X, W), (number(0), X, W), (number(-2), X, W)]),
    "tuples": (TUPLES, tuples, [(number(5), X, 2), (number(50), X, 0), (number(0), X, 7)]),
    "selected": (SELECTED, selected, [(number(3), X), (number(1), floats(0.5)), (number(0), X)]),
    "until": (UNTIL, until, [(X, floats(90)[0]), (floats(1, 2), floats(7.5)[0]), (X, floats(0)[0])]),
    "chosen": (CHOSEN, chosen, [(floats(2, -1, 2), np.array(True), 4), (floats(2, -1, 2), np.array(False), 4)]),
    "called": (CALLED, called, [(X.reshape(2, 2), number(2), 3, 0.5), (X.reshape(2, 2), number(0), 1, 3.0), (X.reshape(2, 2), number(1), 0, 3.0)]),
}
