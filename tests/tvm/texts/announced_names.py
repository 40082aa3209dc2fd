from tvm.script import ir as I, tirx as T, relax as R


@T.prim_func(s_tir=True)
def main(A: T.Buffer((16,), "int32"), B: T.Buffer((16,), "int32")):
    for i in range(16):
        x = T.int32()
        B[i] = T.Let(x * x + x, where={x: A[i] + i})
