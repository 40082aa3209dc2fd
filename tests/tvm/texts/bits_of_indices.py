from tvm.script import tirx as T


@T.prim_func(s_tir=True)
def main(A: T.Buffer((64,), "int64"), B: T.Buffer((64,), "int64")):
    for i in range(64):
        with T.sblock("B"):
            vi = T.axis.spatial(64, i)
            B[vi] = A[T.popcount(vi)] + T.Cast("int64", T.popcount(vi * 3))
