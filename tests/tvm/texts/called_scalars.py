from tvm.script import ir as I, tirx as T, relax as R


@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def whole(n: T.int64, by: T.int64) -> T.bool:
        return n % by == T.int64(0)

    @T.prim_func(private=True, s_tir=True)
    def padded(n: T.int64) -> T.int64:
        return (n + T.int64(3)) // T.int64(4) * T.int64(4)

    @R.function(pure=False)
    def main(x: R.Tensor((7,), "float32")):
        cls = Module
        m: T.int64 = cls.padded(R.prim_value(T.int64(7)))
        c: T.bool = cls.whole(R.prim_value(T.int64(7)), R.prim_value(T.int64(4)))
        if c:
            y = R.multiply(x, R.const(2, "float32"))
        else:
            y = R.multiply(x, R.const(3, "float32"))
        z: R.Tensor((m,), "float32") = R.full(R.shape([m]), R.const(1, "float32"), dtype="float32")
        return (y, z)
