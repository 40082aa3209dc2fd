from tvm.script import ir as I, tirx as T


@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((4, 8), "float32"), B: T.Buffer((8, 4), "float32")):
        for axes in T.grid(*A.shape):
            with T.sblock("doubled"):
                i, j = T.axis.remap("SS", axes)
                B[j, i] = A[i, j] * T.float32(2)
        for k, *rest in T.grid(2, 4, 4):
            with T.sblock("added"):
                i = T.axis.spatial(8, k * 4 + rest[0])
                j = T.axis.spatial(4, rest[1])
                B[i, j] = B[i, j] + T.Cast("float32", i * 2 + j)
