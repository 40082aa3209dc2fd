"""printed.py: programs as the installed TVM prints them: its operators as tensor expressions, lowered, and its passes.

`programs()` gives, by name, the text of a module and what calls its `main` with: a list of arrays, of which a prim func
writes the last, or None for a program that is compiled only. Nothing here is taken from TVM's tests: each program is
made by TVM's own functions from the shapes below.
"""

import functools
import re

import forms
import numpy as np
import tvm
from tvm import relax, te, tirx, topi
from tvm.s_tir import Schedule
from operators import CASES, NOT_LOWERED, function_name, module

RANDOM = np.random.default_rng(11)
FLOATS = ("float32", "float64", "float16")


def array(shape, dtype):
    if dtype == "bool":
        return np.asarray(RANDOM.random(shape) > 0.5)
    if "int" in dtype:
        return np.asarray(RANDOM.integers(1, 7, shape)).astype(dtype)
    return np.asarray(RANDOM.uniform(0.1, 0.9, shape)).astype(dtype)


def fixed(dims):
    """Sizes of a call: 5 for each variable."""
    return tuple(int(eval(re.sub(r"T\.int(32|64)", "int", str(dim)), {"n": 5})) for dim in dims)


class Sample:
    def __init__(self):
        self.programs = {}

    def expression(self, name, build, *inputs):
        """`inputs`: (shape, dtype) of each; a dim may be a variable, which is 5 in the call."""
        tensors = [te.placeholder(shape, dtype, name=f"p{i}") for i, (shape, dtype) in enumerate(inputs)]
        made = build(*tensors)
        outputs = list(made) if isinstance(made, (list, tuple)) else [made]
        func = te.create_prim_func([*tensors, *outputs]).with_attr("global_symbol", "main")
        text = tvm.IRModule({"main": func}).script()
        arrays = None
        if len(outputs) == 1:
            arrays = [array(fixed(tensor.shape), str(tensor.dtype)) for tensor in [*tensors, *outputs]]
        self.programs[name] = (text, arrays)

    def elementwise(self):
        names = "abs acos acosh asin asinh atan atanh ceil cos cosh erf exp floor log log2 log10 negative round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc isnan isfinite isinf"
        for name in names.split():
            build = getattr(topi, name, None)
            if build is None:
                continue
            shift = (lambda x, build=build: build(x + tirx.const(1, str(x.dtype)))) if name == "acosh" else build
            for dtype in FLOATS[:2]:
                self.expression(f"topi_{name}_{dtype}", shift, ((3, 8), dtype))
        for name in ("nn.relu", "nn.leaky_relu", "nn.softmax", "nn.log_softmax", "identity", "fast_exp", "fast_tanh", "fast_erf"):
            build = functools.reduce(getattr, name.split("."), topi)
            build = (lambda x, f=build: f(x, 0.1)) if name == "nn.leaky_relu" else build
            self.expression(f"topi_{name}", build, ((3, 8), "float32"))

    def binary(self):
        for name in "add subtract multiply divide maximum minimum power mod floor_mod floor_divide equal not_equal less less_equal greater greater_equal".split():
            for dtype in ("float32", "int32", "int64", "uint8"):
                if (name in ("divide", "power") and dtype != "float32") or (name == "power" and dtype != "float32"):
                    continue
                self.expression(f"topi_{name}_{dtype}", getattr(topi, name), ((3, 8), dtype), ((8,), dtype))
        for name in "bitwise_and bitwise_or bitwise_xor left_shift right_shift".split():
            for dtype in ("int32", "int8"):
                self.expression(f"topi_{name}_{dtype}", getattr(topi, name), ((3, 8), dtype), ((3, 8), dtype))
        for name in ("logical_and", "logical_or", "logical_xor"):
            self.expression(f"topi_{name}", getattr(topi, name), ((3, 8), "bool"), ((3, 8), "bool"))

    def reductions(self):
        for name in "sum max min prod all any argmax argmin".split():
            dtype = "bool" if name in ("all", "any") else "float32"
            for axis in (0, 1, (0, 2), None):
                if name.startswith("arg") and isinstance(axis, tuple):
                    continue
                for keep in (False, True):
                    self.expression(f"topi_{name}_{axis}_{keep}".replace(" ", ""),
                                    lambda x, n=name, a=axis, k=keep: getattr(topi, n)(x, axis=a, keepdims=k), ((3, 4, 6), dtype))

    def movement(self):
        x = ((4, 6), "float32")
        forms = {
            "transpose": lambda x: topi.transpose(x), "reshape": lambda x: topi.reshape(x, (3, 8)),
            "flip": lambda x: topi.flip(x, 1), "expand_dims": lambda x: topi.expand_dims(x, 1),
            "squeeze": lambda x: topi.squeeze(topi.expand_dims(x, 0)), "tile": lambda x: topi.tile(x, (2, 1)),
            "repeat": lambda x: topi.repeat(x, 2, 1), "strided_slice": lambda x: topi.strided_slice(x, [0, 1], [4, 6], [2, 2]),
            "split": lambda x: topi.split(x, 2, 1)[0], "concatenate": lambda x: topi.concatenate([x, x], 1),
            "stack": lambda x: topi.stack([x, x], 0), "cast": lambda x: topi.cast(x, "int32"),
            "clip": lambda x: topi.clip(x, 0.2, 0.7), "full_like": lambda x: topi.full_like(x, 2.0),
            "broadcast_to": lambda x: topi.broadcast_to(x, (2, 4, 6)), "pad": lambda x: topi.nn.pad(x, [1, 0], [0, 2], 0.5),
            "mirror_pad": lambda x: topi.nn.mirror_pad(x, [1, 1], [1, 1]), "trilu": lambda x: topi.trilu(x, tirx.const(0, "int32"), True),
            "flatten": lambda x: topi.nn.flatten(topi.expand_dims(x, 2)), "layout_transform": lambda x: topi.layout_transform(x, "NC", "NC2c"),
            "sequence": lambda x: topi.exp(topi.sum(x, 1)), "matmul_t": lambda x: topi.matmul(x, topi.transpose(x)),
        }
        for name, build in forms.items():
            self.expression(f"topi_{name}", build, x)
        self.expression("topi_take", lambda x, i: topi.take(x, i, 0, mode="clip"), x, ((3,), "int32"))
        self.expression("topi_gather", lambda x, i: topi.gather(x, 1, topi.minimum(i, topi.full_like(i, 3))), x, ((4, 2), "int64"))
        self.expression("topi_where", topi.where, ((4, 6), "bool"), x, x)
        self.expression("topi_one_hot", lambda i: topi.one_hot(i, tirx.const(1, "float32"), tirx.const(0, "float32"), 8, -1, "float32"), ((4,), "int32"))

    def networks(self):
        image = ((1, 4, 10, 10), "float32")
        for stride in (1, 2):
            for pad in (0, 1):
                self.expression(f"conv2d_{stride}_{pad}", lambda x, w, s=stride, p=pad: topi.nn.conv2d_nchw(x, w, s, p, 1), image, ((8, 4, 3, 3), "float32"))
                self.expression(f"depthwise_{stride}_{pad}", lambda x, w, s=stride, p=pad: topi.nn.depthwise_conv2d_nchw(x, w, s, p, 1), image, ((4, 1, 3, 3), "float32"))
                for kind in ("max", "avg"):
                    self.expression(f"{kind}_pool_{stride}_{pad}", lambda x, s=stride, p=pad, k=kind: topi.nn.pool2d(x, (2, 2), (s, s), (1, 1), (p, p, p, p), k), image)
        self.expression("conv1d", lambda x, w: topi.nn.conv1d_ncw(x, w, 1, 1), ((1, 3, 16), "float32"), ((4, 3, 3), "float32"))
        self.expression("conv3d", lambda x, w: topi.nn.conv3d_ncdhw(x, w, 1, 1, 1, 1), ((1, 2, 6, 6, 6), "float32"), ((3, 2, 3, 3, 3), "float32"))
        self.expression("conv2d_nhwc", lambda x, w: topi.nn.conv2d_nhwc(x, w, 1, 1, 1), ((1, 8, 8, 4), "float32"), ((3, 3, 4, 8), "float32"))
        self.expression("conv2d_transpose", lambda x, w: topi.nn.conv2d_transpose_nchw(x, w, (2, 2), (1, 1), "float32", (0, 0)), ((1, 4, 6, 6), "float32"), ((4, 3, 3, 3), "float32"))
        self.expression("group_conv", lambda x, w: topi.nn.group_conv2d_nchw(x, w, 1, 1, 1, 2), image, ((8, 2, 3, 3), "float32"))
        self.expression("global_pool", lambda x: topi.nn.global_pool(x, "avg"), image)
        self.expression("adaptive_pool", lambda x: topi.nn.adaptive_pool(x, (3, 3), "avg"), image)
        self.expression("resize", lambda x: topi.image.resize2d(x, [0.0] * 4, (20, 20), method="linear"), image)
        self.expression("upsampling", lambda x: topi.nn.upsampling(x, 2, 2, "NCHW", "nearest_neighbor"), image)
        self.expression("layer_norm", lambda x, g, b: topi.nn.layer_norm(x, g, b, [1]), ((3, 8), "float32"), ((8,), "float32"), ((8,), "float32"))
        self.expression("rms_norm", lambda x, g: topi.nn.rms_norm(x, g, [1]), ((3, 8), "float32"), ((8,), "float32"))
        self.expression("group_norm", lambda x, g, b: topi.nn.group_norm(x, g, b, 2, 1, [2, 3]), image, ((4,), "float32"), ((4,), "float32"))
        self.expression("instance_norm", lambda x, g, b: topi.nn.instance_norm(x, g, b, 1, [2, 3]), image, ((4,), "float32"), ((4,), "float32"))
        self.expression("lrn", lambda x: topi.nn.lrn(x, 3), image)
        self.expression("space_to_depth", lambda x: topi.nn.space_to_depth(x, 2), image)
        self.expression("depth_to_space", lambda x: topi.nn.depth_to_space(x, 2), image)
        for dtype in ("float32", "int32", "float16"):
            self.expression(f"dense_{dtype}", topi.nn.dense, ((4, 16), dtype), ((8, 16), dtype))
            self.expression(f"batch_matmul_{dtype}", topi.nn.batch_matmul, ((2, 4, 8), dtype), ((2, 6, 8), dtype))
            self.expression(f"matmul_{dtype}", topi.matmul, ((4, 8), dtype), ((8, 6), dtype))

    def symbolic(self):
        n = te.var("n", "int64")
        self.expression("symbolic_exp", topi.exp, ((n, 8), "float32"))
        self.expression("symbolic_sum", lambda x: topi.sum(x, 1), ((4, n), "float32"))
        self.expression("symbolic_matmul", topi.matmul, ((n, 8), "float32"), ((8, 6), "float32"))
        self.expression("symbolic_softmax", topi.nn.softmax, ((n, 8), "float32"))
        self.expression("symbolic_add", topi.add, ((n, 8), "float32"), ((8,), "float32"))
        self.expression("symbolic_reshape", lambda x: topi.reshape(x, (8 * n,)), ((n, 8), "float32"))

    def schedules(self):
        """Products and chains as TVM's schedules leave them."""
        a, b = te.placeholder((32, 32), name="a"), te.placeholder((32, 32), name="b")
        product = te.create_prim_func([a, b, topi.matmul(a, b)])
        inputs = [array((32, 32), "float32") for _ in range(3)]

        def scheduled(name, steps):
            schedule = Schedule(product)
            block = schedule.get_sblock("T_matmul")
            steps(schedule, block, *schedule.get_loops(block))
            self.programs[f"schedule_{name}"] = (schedule.mod.script(), inputs)

        def tiled(s, block, i, j, k):
            io, ii = s.split(i, [None, 8])
            jo, ji = s.split(j, [None, 16])
            s.reorder(io, jo, k, ii, ji)
            return io, ji

        scheduled("split", lambda s, block, i, j, k: s.split(i, [None, 8]))
        scheduled("uneven", lambda s, block, i, j, k: s.split(i, [None, 7]))
        scheduled("tile", tiled)
        scheduled("vectorize", lambda s, block, i, j, k: s.vectorize(tiled(s, block, i, j, k)[1]))
        scheduled("parallel", lambda s, block, i, j, k: s.parallel(tiled(s, block, i, j, k)[0]))
        scheduled("unroll", lambda s, block, i, j, k: s.unroll(s.split(k, [None, 4])[1]))
        scheduled("fuse", lambda s, block, i, j, k: s.fuse(i, j))
        scheduled("decompose", lambda s, block, i, j, k: s.decompose_reduction(block, k))
        scheduled("cache_read", lambda s, block, i, j, k: s.compute_at(s.cache_read(block, 0, "global"), i))
        scheduled("cache_write", lambda s, block, i, j, k: s.reverse_compute_at(s.cache_write(block, 0, "global"), i))
        scheduled("rfactor", lambda s, block, i, j, k: s.rfactor(s.split(k, [None, 4])[1], 0))
        scheduled("blockize", lambda s, block, i, j, k: s.blockize(j))

    def modules(self):
        """Relax: calls, what TVM's passes make of them, and small networks."""
        passes = {
            "legalized": [relax.transform.LegalizeOps()],
            "fused": [relax.transform.LegalizeOps(), relax.transform.AnnotateTIROpPattern(), relax.transform.FuseOps(), relax.transform.FuseTIR()],
            "normal": [relax.transform.Normalize(), relax.transform.CanonicalizeBindings(), relax.transform.ConvertToDataflow()],
        }
        chosen = [name for name in CASES if not name.endswith("_int")][::4]
        for name in chosen:
            for stem, steps in passes.items():
                if stem != "normal" and name in NOT_LOWERED:
                    continue
                mod = tvm.transform.Sequential(steps)(module([name]))
                self.programs[f"relax_{stem}_{name}"] = (mod.script(), None)

    def operators(self):
        """Each operator's call, and each prim func that TVM lowers it to, by itself."""
        for name, (_, inputs) in CASES.items():
            self.programs[f"operator_{name}"] = (module([name]).script(), None)
            if name in NOT_LOWERED:
                continue
            mod = relax.transform.LegalizeOps()(module([name]))
            kernels = [func for func in mod.functions.values() if isinstance(func, tirx.PrimFunc)]
            for index, func in enumerate(kernels):
                text = tvm.IRModule({"main": func.with_attr("global_symbol", "main")}).script()
                self.programs[f"kernel_{name}_{index}"] = (text, self.arguments(func, inputs) if len(kernels) == 1 else None)

    @staticmethod
    def arguments(func, inputs):
        """Those of the operator and a result, where the prim func has these parameters in this order."""
        types = [param.ty for param in func.params]
        if len(types) != len(inputs) + 1 or not all(hasattr(one, "shape") for one in types):
            return None
        shapes = [(tuple(int(dim) for dim in one.shape), str(one.dtype)) for one in types]
        if [(array.shape, str(array.dtype)) for array in inputs] != shapes[:-1]:
            return None
        return [*inputs, np.zeros(*shapes[-1])]

    def forms(self):
        texts, refused = forms.programs()
        assert not refused, refused
        self.programs |= {name: (text, None) for name, text in texts.items()}


def programs():
    sample, skipped = Sample(), []
    for part in (sample.elementwise, sample.binary, sample.reductions, sample.movement, sample.networks, sample.symbolic,
                 sample.schedules, sample.modules, sample.operators, sample.forms):
        try:
            part()
        except Exception as error:  # of another TVM, whose functions have other arguments
            skipped.append(f"{part.__name__}: {type(error).__name__}: {str(error).splitlines()[-1][:200]}")
    return sample.programs, skipped
