# The leading zeros of an index are those of the width that the text says. (TVM gives any number for 0.)
from tvm.script import tirx as T


@T.prim_func(s_tir=True)
def main(A: T.Buffer((64,), "int32"), B: T.Buffer((64,), "int32"), C: T.Buffer((64,), "int64")):
    for i in range(64):
        with T.sblock("B"):
            vi = T.axis.spatial(64, i)
            B[vi] = A[32 - T.clz(vi + 1)] + T.clz(vi * 5 + 1)
    for i in range(T.int64(64)):
        with T.sblock("C"):
            vi = T.axis.spatial(T.int64(64), i)
            C[vi] = T.Cast("int64", T.clz(vi + T.int64(1)))
