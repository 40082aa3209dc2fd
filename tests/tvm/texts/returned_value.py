from tvm.script import ir as I, tirx as T, relax as R


@T.prim_func(s_tir=True)
def main(n: T.int64) -> T.int64:
    return n * T.int64(2)
