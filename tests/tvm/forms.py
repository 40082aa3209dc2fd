"""forms.py: short programs for each form of statement and expression that TVM's printer writes, of our own.

TVM parses and prints each, so that their spelling is that of the installed release; ages.py makes older ones of it. What
TVM does not parse is named by `programs()`, which is an error of the test.
"""

import re

import tvm
from tvm.script import from_source


# name: (parameters, body) of a prim func `main`; the last buffer is what it writes.
PRIM = {
    "while": ("A: T.Buffer((8,), 'int32'), B: T.Buffer((8,), 'int32')", """
        i = T.alloc_buffer((1,), 'int32', scope='local')
        i[0] = 0
        while i[0] < 8:
            B[i[0]] = A[i[0]] + 1
            i[0] = i[0] + 1"""),
    "let_statement": ("A: T.Buffer((8,), 'int32'), B: T.Buffer((8,), 'int32')", """
        for i in range(8):
            x: T.let[T.int32] = A[i] * 2
            y: T.let[T.int32] = x + A[7 - i]
            B[i] = x * y"""),
    "let_expression": ("A: T.Buffer((8,), 'int32'), B: T.Buffer((8,), 'int32')", """
        for i in range(8):
            x = T.int32()
            B[i] = T.Let(x * x + 1, where={x: A[i]})"""),
    "allocated": ("A: T.Buffer((8,), 'float32'), B: T.Buffer((8,), 'float32')", """
        C = T.alloc_buffer((8,), 'float32')
        for i in range(8):
            C[i] = A[i] * T.float32(2)
        for i in range(8):
            B[i] = C[7 - i] + T.float32(0.5)"""),
    "allocated_bytes": ("A: T.Buffer((16,), 'int8'), B: T.Buffer((16,), 'int8')", """
        C = T.alloc_buffer((16,), 'int8')
        for i in range(16):
            C[i] = A[i] + T.int8(1)
        for i in range(16):
            B[i] = C[15 - i]"""),
    "alias": ("A: T.Buffer((4, 8), 'float32'), B: T.Buffer((32,), 'float32')", """
        C = T.decl_buffer((32,), 'float32', data=A.data)
        for i in range(32):
            B[i] = C[31 - i]"""),
    "row": ("A: T.Buffer((4, 8), 'float32'), B: T.Buffer((4, 8), 'float32')", """
        for i in range(4):
            with T.sblock('row'):
                vi = T.axis.spatial(4, i)
                C = T.match_buffer(A[vi, 0:8], (8,), 'float32', offset_factor=1)
                for j in range(8):
                    with T.sblock('item'):
                        vj = T.axis.spatial(8, j)
                        B[vi, vj] = C[vj] + T.float32(1)"""),
    "where": ("A: T.Buffer((10,), 'float32'), B: T.Buffer((10,), 'float32')", """
        for i, j in T.grid(4, 3):
            with T.sblock('b'):
                v = T.axis.spatial(10, i * 3 + j)
                T.where(i * 3 + j < 10)
                B[v] = A[v] * A[v]"""),
    "branches": ("A: T.Buffer((12,), 'int32'), B: T.Buffer((12,), 'int32')", """
        for i in range(12):
            if i < 3:
                B[i] = A[i]
            elif i < 7:
                B[i] = A[i] * 2
            elif i % 2 == 0:
                B[i] = A[i] - 1
            else:
                B[i] = 0"""),
    "logic": ("A: T.Buffer((8,), 'int32'), B: T.Buffer((8,), 'bool')", """
        for i in range(8):
            B[i] = A[i] > 2 and not A[i] == 4 or i < 1"""),
    "selected": ("A: T.Buffer((8,), 'float32'), B: T.Buffer((8,), 'float32')", """
        for i in range(8):
            B[i] = T.Select(A[i] > T.float32(0.5), A[i], T.float32(0)) + T.if_then_else(i < 4, A[i + 4], T.float32(1))"""),
    "likely": ("A: T.Buffer((7,), 'float32'), B: T.Buffer((7,), 'float32')", """
        for i in range(8):
            if T.likely(i < 7):
                B[i] = A[i] + T.float32(1)"""),
    "vectorized": ("A: T.Buffer((16,), 'float32'), B: T.Buffer((16,), 'float32')", """
        for i in range(4):
            for j in T.vectorized(4):
                B[i * 4 + j] = A[i * 4 + j] * T.float32(3)"""),
    "ramps": ("A: T.Buffer((16,), 'float32'), B: T.Buffer((16,), 'float32')", """
        for i in range(4):
            B[T.Ramp(i * 4, 1, 4)] = A[T.Ramp(i * 4, 1, 4)] + T.Broadcast(T.float32(2), 4)"""),
    "parallel": ("A: T.Buffer((16, 4), 'float32'), B: T.Buffer((16, 4), 'float32')", """
        for i in T.parallel(16):
            for j in T.unroll(4):
                B[i, j] = A[i, j] + A[15 - i, j]"""),
    "from_one": ("A: T.Buffer((9,), 'float32'), B: T.Buffer((9,), 'float32')", """
        B[0] = A[0]
        for i in range(1, 9):
            B[i] = A[i] - A[i - 1]"""),
    "long_indices": ("A: T.Buffer((T.int64(4), T.int64(8)), 'float32'), B: T.Buffer((T.int64(4), T.int64(8)), 'float32')", """
        for i, j in T.grid(T.int64(4), T.int64(8)):
            with T.sblock('b'):
                vi, vj = T.axis.remap('SS', [i, j])
                B[vi, vj] = A[T.int64(3) - vi, vj] + T.Cast('float32', vi * T.int64(8) + vj)"""),
    "divisions": ("A: T.Buffer((12,), 'int32'), B: T.Buffer((12,), 'int32')", """
        for i in range(12):
            B[i] = A[i] // 3 + A[i] % 4 + T.truncdiv(0 - A[i], 2) + T.truncmod(0 - A[i], 3)"""),
    "bits": ("A: T.Buffer((8,), 'int32'), B: T.Buffer((8,), 'int32')", """
        for i in range(8):
            B[i] = T.bitwise_xor(T.bitwise_and(A[i], 6), T.bitwise_or(A[i], 1)) + T.shift_left(A[i], 2) + T.shift_right(A[i], 1) + T.bitwise_not(A[i])"""),
    "counted_bits": ("A: T.Buffer((8,), 'int32'), B: T.Buffer((8,), 'int32')", """
        for i in range(8):
            B[i] = T.popcount(A[i]) + T.clz(A[i])"""),
    "index_bits": ("A: T.Buffer((64,), 'int32'), B: T.Buffer((64,), 'int32')", """
        for i in range(64):
            with T.sblock('b'):
                vi = T.axis.spatial(64, i)
                B[vi] = A[32 - T.clz(vi + 1)] + T.clz(vi * 5 + 1) + T.popcount(vi)"""),
    "reinterpreted": ("A: T.Buffer((8,), 'float32'), B: T.Buffer((8,), 'int32')", """
        for i in range(8):
            B[i] = T.reinterpret('int32', A[i])"""),
    "limits": ("A: T.Buffer((8,), 'float32'), B: T.Buffer((8,), 'float32')", """
        for i in range(8):
            B[i] = T.min(T.max(A[i], T.min_value('float32')), T.float32('inf'))"""),
    "scalar": ("k: T.int32, A: T.Buffer((8,), 'int32'), B: T.Buffer((8,), 'int32')", """
        for i in range(8):
            B[i] = A[i] * k"""),
    "rank_none": ("A: T.Buffer((), 'float32'), B: T.Buffer((), 'float32')", """
        with T.sblock('b'):
            B[()] = A[()] + T.float32(1)"""),
    "assertion": ("A: T.Buffer((8,), 'int32'), B: T.Buffer((8,), 'int32')", """
        for i in range(8):
            assert i < 9, 'too far'
            B[i] = A[i] + i"""),
    "symbols": ("a: T.handle, b: T.handle", """
        n, m = T.int64(), T.int64()
        A = T.match_buffer(a, (n, m), 'float32')
        B = T.match_buffer(b, (m, n), 'float32')
        for i, j in T.grid(m, n):
            with T.sblock('b'):
                vi, vj = T.axis.remap('SS', [i, j])
                B[vi, vj] = A[vj, vi]"""),
    "short_symbols": ("a: T.handle, b: T.handle", """
        n = T.int32()
        A = T.match_buffer(a, (n,), 'float32')
        B = T.match_buffer(b, (n,), 'float32')
        for i in range(n):
            with T.sblock('b'):
                vi = T.axis.spatial(n, i)
                B[vi] = A[n - 1 - vi]"""),
    "strided": ("a: T.handle, b: T.handle", """
        A = T.match_buffer(a, (4, 8), 'float32', strides=[8, 1])
        B = T.match_buffer(b, (4, 8), 'float32')
        for i, j in T.grid(4, 8):
            B[i, j] = A[3 - i, j]"""),
    "extern": ("A: T.Buffer((8,), 'float32'), B: T.Buffer((8,), 'float32')", """
        T.call_extern('int32', 'twice', A.data, B.data, 8)"""),
    "extern_value": ("A: T.Buffer((8,), 'float32'), B: T.Buffer((8,), 'float32')", """
        for i in range(8):
            B[i] = T.call_pure_extern('float32', 'expf', A[i])"""),
    "packed": ("A: T.Buffer((8,), 'float32'), B: T.Buffer((8,), 'float32')", """
        T.call_packed('twice', A.data, B.data, 8)"""),
    "scan": ("A: T.Buffer((8, 4), 'float32'), B: T.Buffer((8, 4), 'float32')", """
        for i, j in T.grid(8, 4):
            with T.sblock('b'):
                vi = T.axis.scan(8, i)
                vj = T.axis.spatial(4, j)
                B[vi, vj] = T.if_then_else(vi == 0, T.float32(0), B[vi - 1, vj]) + A[vi, vj]"""),
    "annotated": ("A: T.Buffer((8, 16), 'float32'), B: T.Buffer((8, 16), 'float32')", """
        for i in T.serial(8, annotations={'pragma_auto_unroll_max_step': 16}):
            for j in range(16):
                with T.sblock('b'):
                    vi, vj = T.axis.remap('SS', [i, j])
                    T.sblock_attr({'script': 'b', 'step': 4})
                    B[vi, vj] = A[vi, vj]"""),
    "reduced_twice": ("A: T.Buffer((8, 16), 'float32'), B: T.Buffer((), 'float32')", """
        C = T.sblock_alloc_buffer((8,), 'float32')
        for i, k in T.grid(8, 16):
            with T.sblock('c'):
                vi, vk = T.axis.remap('SR', [i, k])
                with T.init():
                    C[vi] = T.float32(0)
                C[vi] = C[vi] + A[vi, vk]
        for k in range(8):
            with T.sblock('b'):
                vk = T.axis.reduce(8, k)
                with T.init():
                    B[()] = T.float32(-3)
                B[()] = T.max(B[()], C[vk])"""),
}

DOUBLE = """
    @T.prim_func(s_tir=True)
    def double(A: T.Buffer((3, 4), "float32"), B: T.Buffer((3, 4), "float32")):
        for i, j in T.grid(3, 4):
            with T.sblock("b"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)
"""
# name: the functions of a module; `main` is a function of Relax.
RELAX = {
    "branch": """
    @R.function
    def main(x: R.Tensor((3, 4), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((3, 4), "float32"):
        if c:
            y = R.add(x, x)
        else:
            y = R.multiply(x, x)
        return y""",
    "tuples": """
    @R.function
    def main(x: R.Tensor((3, 4), "float32"), t: R.Tuple(R.Tensor((4,), "float32"), R.Tensor((3, 4), "float32"))):
        a = t[0]
        b = R.add(x, a)
        c = (b, (a, t[1]))
        d = c[1]
        return (c, d[1], R.tuple())""",
    "symbols": """
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n * 4",), "float32"):
        n = T.int64()
        with R.dataflow():
            a = R.add(x, y)
            b = R.reshape(a, R.shape([n * 4]))
            R.output(b)
        return b""",
    "cast_shape": """
    @R.function
    def main(x: R.Tensor(ndim=2, dtype="float32")) -> R.Tensor(ndim=2, dtype="float32"):
        n, m = T.int64(), T.int64()
        y = R.match_cast(x, R.Tensor((n, m), "float32"))
        z = R.add(y, y)
        return z""",
    "shapes": """
    @R.function
    def main(x: R.Tensor((3, 4), "float32"), s: R.Shape(["n", 4])) -> R.Shape(["n", 4, 3]):
        n = T.int64()
        r = R.shape([n, 4, 3])
        return r""",
    "prim_values": """
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        a = R.prim_value(n + 1)
        b = R.prim_value(3)
        return (a, b)""",
    "calls": """
    @R.function(private=True)
    def twice(x: R.Tensor((3, 4), "float32")) -> R.Tensor((3, 4), "float32"):
        y = R.add(x, x)
        return y

    @R.function
    def main(x: R.Tensor((3, 4), "float32")) -> R.Tensor((3, 4), "float32"):
        cls = Module
        y = cls.twice(x)
        z = cls.twice(y)
        return z""",
    "recursion": """
    @R.function
    def main(x: R.Tensor((4,), "float32"), k: R.Tensor((), "int32")) -> R.Tensor((4,), "float32"):
        cls = Module
        c = R.greater(k, R.const(0, "int32"))
        if c:
            y = R.add(x, x)
            l = R.subtract(k, R.const(1, "int32"))
            r = cls.main(y, l)
        else:
            r = x
        return r""",
    "closure": """
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        @R.function
        def inner(y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            z = R.multiply(y, y)
            return z
        w = inner(x)
        return w""",
    "kernel": """
    @T.prim_func(private=True, s_tir=True)
    def double(A: T.Buffer((3, 4), "float32"), B: T.Buffer((3, 4), "float32")):
        for i, j in T.grid(3, 4):
            with T.sblock("b"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)

    @R.function
    def main(x: R.Tensor((3, 4), "float32")) -> R.Tensor((3, 4), "float32"):
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.double, (x,), TYPE=R.Tensor((3, 4), "float32"))
            z = R.call_tir(cls.double, (y,), TYPE=R.Tensor((3, 4), "float32"))
            R.output(z)
        return z""",
    "kernel_of_two": """
    @T.prim_func(private=True, s_tir=True)
    def both(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32"), C: T.Buffer((4,), "int32")):
        for i in range(4):
            with T.sblock("b"):
                vi = T.axis.spatial(4, i)
                B[vi] = A[3 - vi]
                C[vi] = T.Cast("int32", A[vi])

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        y = R.call_tir(cls.both, (x,), TYPE=[R.Tensor((4,), "float32"), R.Tensor((4,), "int32")])
        return y""",
    "kernel_of_symbols": """
    @T.prim_func(private=True, s_tir=True)
    def double(a: T.handle, b: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n, T.int64(4)), "float32")
        B = T.match_buffer(b, (n, T.int64(4)), "float32")
        for i, j in T.grid(n, T.int64(4)):
            with T.sblock("b"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(2)

    @R.function
    def main(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
        n = T.int64()
        cls = Module
        y = R.call_tir(cls.double, (x,), TYPE=R.Tensor((n, 4), "float32"))
        return y""",
    "in_place": """
    @T.prim_func(private=True, s_tir=True)
    def double(A: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.sblock("b"):
                vi = T.axis.spatial(4, i)
                A[vi] = A[vi] * T.float32(2)

    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        with R.dataflow():
            y = R.add(x, x)
            z = R.call_tir_inplace(cls.double, (y,), inplace_indices=[0], TYPE=R.Tensor((4,), "float32"))
            R.output(z)
        return z""",
    "packed": """
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        y = R.call_packed("my.twice", x, ARGS=(R.Tensor((4,), "float32"),))
        return y""",
    "pure_packed": """
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        y = R.call_pure_packed("my.twice", x, ARGS=(R.Tensor((4,), "float32"),))
        return y""",
    "dps_packed": """
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        y = R.call_dps_packed("my.twice", (x,), TYPE=R.Tensor((4,), "float32"))
        return y""",
    "constants": """
    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "int64")):
        a = R.add(x, R.const(0.5, "float32"))
        b = R.add(y, R.const(3, "int64"))
        c = R.where(R.const(True, "bool"), a, x)
        return (a, b, c)""",
    "attributes": """
    @R.function
    def main(x: R.Tensor((4,), "float32"), w: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            a = R.multiply(x, w)
            R.output(a)
        return a""",
    "blocks": """
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        with R.dataflow():
            a = R.exp(x)
            b = R.add(a, x)
            R.output(a, b)
        with R.dataflow():
            c = R.multiply(a, b)
            R.output(c)
        return c""",
    "data_sizes": """
    @R.function
    def main(x: R.Tensor((8,), "int64")):
        u = R.unique(x, R.prim_value(True), R.prim_value(False), R.prim_value(False), R.prim_value(False))
        return u""",
    "memory": DOUBLE + """
    @R.function(pure=False)
    def main(x: R.Tensor((3, 4), "float32")) -> R.Tensor((3, 4), "float32"):
        cls = Module
        y = R.builtin.alloc_tensor(R.shape([3, 4]), R.dtype("float32"), R.prim_value(0))
        _ = cls.double(x, y)
        return y""",
    "storage": DOUBLE + """
    @R.function(pure=False)
    def main(x: R.Tensor((3, 4), "float32")) -> R.Tensor((3, 4), "float32"):
        cls = Module
        s = R.memory.alloc_storage(R.shape([48]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        y = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([3, 4]), R.dtype("float32"))
        _ = cls.double(x, y)
        _1 = R.memory.kill_storage(s)
        return y""",
    "slices": """
    @R.function
    def main(x: R.Tensor(("n", 8), "float32")):
        n = T.int64()
        with R.dataflow():
            a = R.strided_slice(x, (0, 1), (1, 0), (n, 8), (1, 2))
            b = R.strided_slice(x, (1,), (2,), (6,))
            R.output(a, b)
        return (a, b)""",
    "created": """
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        with R.dataflow():
            a = R.zeros(R.shape([n, 4]), "float32")
            b = R.arange(R.prim_value(0), R.prim_value(n), R.prim_value(1), "int64")
            c = R.full(R.shape([n]), R.const(2.0, "float32"), "float32")
            R.output(a, b, c)
        return (a, b, c)""",
    "checked": """
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((4,), "float32"):
        _ = R.assert_op(c, R.str("c is false"), format="")
        _1 = R.print(x, format="{}")
        y = R.add(x, x)
        return y""",
}


def prim_source(params, body):
    return f"@T.prim_func(s_tir=True)\ndef main({params}):{re.sub(chr(10) + '    ', chr(10), body)}\n"


def relax_source(functions):
    functions = functions.replace("TYPE=", "out_ty=").replace("ARGS=", "ty_args=")
    return f"@I.ir_module\nclass Module:{functions}\n"


def programs():
    """The text that TVM prints, by name; and what it does not parse."""
    texts, refused = {}, []
    sources = {f"form_{name}": prim_source(*parts) for name, parts in PRIM.items()}
    sources |= {f"relax_form_{name}": relax_source(text) for name, text in RELAX.items()}
    for name, source in sources.items():
        try:
            made = from_source(source)
            if not isinstance(made, tvm.IRModule):
                made = tvm.IRModule({"main": made.with_attr("global_symbol", "main")})
            texts[name] = made.script()
        except BaseException as error:  # TVM ends the process after an error of syntax
            refused.append(f"{name}: {type(error).__name__}: {str(error).splitlines()[-1] if str(error) else ''}")
    return texts, refused
