from tvm.script import ir as I, tirx as T


@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((4, 8), "float32"), B: T.Buffer((8,), "float32")):
        row: T.let[T.handle("float32", "global")] = T.address_of(A[2, 0])
        R = T.decl_buffer((8,), "float32", data=row)
        for j in range(8):
            B[j] = R[7 - j] + (j * 2 + 0.5)
