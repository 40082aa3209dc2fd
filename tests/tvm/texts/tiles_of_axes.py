from tvm.script import ir as I, tirx as T, relax as R


@T.prim_func(s_tir=True)
def main(A: T.Buffer((32, 32), "float32"), B: T.Buffer((32, 32), "float32")):
    for i0, j0 in T.grid(4, 4):
        with T.sblock("tile"):
            i, j = T.axis.remap("SS", [i0, j0])
            tile = T.sblock_alloc_buffer((8, 8), scope="local")
            for x, y in T.grid(8, 8):
                with T.sblock("filled"):
                    vi = T.axis.spatial(32, i * 8 + x)
                    vj = T.axis.spatial(32, j * 8 + y)
                    tile[vi - i * 8, vj - j * 8] = A[vi, vj] * T.float32(2.0)
            for x, y in T.grid(8, 8):
                with T.sblock("emptied"):
                    vi = T.axis.spatial(32, i * 8 + x)
                    vj = T.axis.spatial(32, j * 8 + y)
                    B[vi, vj] = tile[vi - i * 8, vj - j * 8] + T.float32(1.0)
