from tvm.script import tirx as T


@T.prim_func(s_tir=True)
def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    for i in range(4):
        v: T.let[T.float32x4] = A[T.Ramp(i * 4, 1, 4)] + T.Broadcast(T.float32(1), 4)
        B[i * 4 : i * 4 + 4] = v * v - v
