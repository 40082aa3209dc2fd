from tvm.script import ir as I, tirx as T, relax as R


@T.prim_func(s_tir=True)
def main(A: T.Buffer((16, 16), "int32")):
    for i0, i, j in T.grid(4, 4, 16):
        with T.sblock("c"):
            v0, vi, vj = T.axis.remap("SSS", [i0, i, j])
            B = T.match_buffer(A[v0 * 4:v0 * 4 + 4, 0:16], (4, 16), "int32", offset_factor=1)
            B[vi, vj] = B.elem_offset
