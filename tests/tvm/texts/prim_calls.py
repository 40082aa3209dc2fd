from tvm.script import ir as I, tirx as T, relax as R


@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def row(p: T.handle("float32", "global"), q: T.handle("float32", "global"), by: T.float32):
        A = T.decl_buffer((16,), data=p)
        B = T.decl_buffer((16,), data=q)
        for i in range(16):
            B[i] = A[i] + by

    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((8, 16), "float32"), B: T.Buffer((8, 16), "float32")):
        for i in range(8):
            Module.row(T.address_of(A[i, 0]), T.address_of(B[i, 0]), T.float32(2) * A[i, 3])
