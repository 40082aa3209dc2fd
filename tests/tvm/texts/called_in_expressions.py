# numpy: np.stack([A[::2] ** 2 + (A[:8] ** 2 - 1) ** 2, A[::-2] * np.arange(3, 19, 2)], 1).reshape(16)
from tvm.script import ir as I, tirx as T, relax as R


@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def square(x: T.float32) -> T.float32:
        return x * x

    @T.prim_func(private=True, s_tir=True)
    def place(i: T.int32, j: T.int32) -> T.int32:
        return i * 2 + j

    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
        for i in range(8):
            B[i * 2] = Module.square(A[i * 2]) + Module.square(Module.square(A[i]) - T.float32(1))
            B[i * 2 + 1] = A[15 - i * 2] * T.Cast("float32", Module.place(i, 3))
