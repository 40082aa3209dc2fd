from tvm.script import ir as I, tirx as T, relax as R


@T.prim_func(s_tir=True)
def main(A: T.Buffer((10,), "float32"), B: T.Buffer((10,), "float32")):
    for i in range(2):
        if T.bool(False):
            B[i - 2] = A[i + 10]
        else:
            B[i] = A[i] * T.float32(2.0)
    for i in range(8):
        if T.GT(0, 0):
            B[i - 9] = A[i + 10]
        if T.bool(True):
            B[i + 2] = A[i + 2] + T.float32(1.0)
        else:
            B[i + 10] = T.float32(0.0)
