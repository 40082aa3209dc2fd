# Buffers whose layout is none, and one that gives a stride for each dim.
from tvm.script import tirx as T


@T.prim_func
def main(A: T.Buffer((4,), "float32"), B: T.Buffer((4, 5), "float32"), C: T.Buffer((4, 5), "float32")):
    D = T.alloc_buffer((4, 5), "float32", layout=None)
    E = T.alloc_buffer((4, 5), "float32", layout=T.TileLayout(T.S[(4, 5):(1, 4)]))
    for i, j in T.grid(4, 5):
        D[i, j] = A[i] * B[i, j]
        E[i, j] = A[i] + B[i, j]
    for i, j in T.grid(4, 5):
        C[i, j] = D[i, 4 - j] + E[3 - i, j]
