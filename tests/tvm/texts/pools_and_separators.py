from tvm.script import ir as I, tirx as T, relax as R


@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((4, 16), "float32"), B: T.Buffer((4, 16), "float32")):
        C = T.alloc_buffer((4, 16), "float32", scope="global.workspace")
        for i, j in T.grid(4, 16):
            with T.sblock("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = A[vi, vj] * T.float32(2)
        for i, j in T.grid(4, 16):
            with T.sblock("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = C[3 - vi, vj] + T.float32(1)
