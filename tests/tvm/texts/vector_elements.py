# numpy: A * 4
from tvm.script import ir as I, tirx as T, relax as R


@T.prim_func(s_tir=True)
def main(A: T.Buffer((4,), "float32x4"), B: T.Buffer((4,), "float32x4")):
    for i in range(4):
        B[i] = A[i] + A[i] * T.Broadcast(T.float32(3), 4)
