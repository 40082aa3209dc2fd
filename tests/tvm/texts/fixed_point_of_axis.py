from tvm.script import ir as I, tirx as T, relax as R


@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((8, 16), "int32"), B: T.Buffer((16,), "int32"), L: T.Buffer((16,), "int32"), S: T.Buffer((16,), "int32"), C: T.Buffer((8, 16), "int32"), D: T.Buffer((8, 16), "int32")):
        for i, j in T.grid(8, 16):
            with T.sblock("C"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.q_multiply_shift_per_axis((A[vi, vj] - 4) * 1000, B[vj] * 200000000, L[vj], S[vj], 31, T.bool(True), T.bool(True))
        for i, j in T.grid(8, 16):
            with T.sblock("D"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = T.q_multiply_shift_per_axis((A[vi, vj] - 4) * 1000, B[vj] * 200000000, L[vj], S[vj], 31, T.bool(False), T.bool(True))
