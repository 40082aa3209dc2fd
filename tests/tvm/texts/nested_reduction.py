from tvm.script import ir as I, tirx as T


@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((2, 64), "float32"), B: T.Buffer((2,), "float32")):
        for i, ko in T.grid(2, 2):
            with T.sblock("outer"):
                vi, vko = T.axis.remap("SR", [i, ko])
                C = T.sblock_alloc_buffer((32,), "float32")
                with T.init():
                    B[vi] = T.float32(0)
                for ki in range(32):
                    with T.sblock("copied"):
                        vki = T.axis.spatial(32, ki)
                        C[vki] = A[vi, vko * 32 + vki]
                for ki in range(32):
                    with T.sblock("summed"):
                        vki = T.axis.reduce(32, ki)
                        B[vi] += C[vki]
