from tvm.script import ir as I, tirx as T


@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((4, 16), "float32"), C: T.Buffer((4, 16), "float32")):
        with T.sblock("root"):
            B = T.sblock_alloc_buffer((4, 16), "float32", strides=[17, 1])
            for i, j in T.grid(4, 16):
                with T.sblock("scratch"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = A[vi, vj] * T.float32(3)
            for i, j in T.grid(4, 16):
                with T.sblock("out"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = B[3 - vi, vj] + B[vi, 15 - vj]
