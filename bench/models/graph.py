"""graph.py: writes an ONNX model node by node; the networks of this folder are functions on a Graph.

Weights are normal random numbers, scaled by the number of products in a sum (He et al. 2015) so that activations keep the
size of the input through any depth: a network whose values overflow, vanish or die in ReLU is faster than a true one, and
two wrong results of zero agree. The seed is fixed, so that a model's file is the same wherever it is made.
"""

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


class Graph:
    """Values are names. Every node has one output by default."""

    def __init__(self, seed=0):
        self.random = np.random.default_rng(seed)
        self.nodes, self.initializers, self.known = [], [], {}
        self.count = 0

    def constant(self, array, dtype=None):
        """An initializer; equal small ones are one."""
        array = np.asarray(array, dtype)
        key = (array.tobytes(), array.dtype.str, array.shape) if array.size < 16 else None
        if key in self.known:
            return self.known[key]
        name = self.fresh("c")
        self.initializers.append(numpy_helper.from_array(array, name))
        if key is not None:
            self.known[key] = name
        return name

    def ints(self, *values):
        return self.constant(values, np.int64)

    def number(self, value):
        return self.constant(value, np.float32)

    def weight(self, *shape, scale, mean=0.0):
        values = self.random.standard_normal(shape, np.float32)
        values *= np.float32(scale)
        return self.constant(values + np.float32(mean) if mean else values)

    def fresh(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    def node(self, op, *inputs, out=None, outputs=1, **attributes):
        """Adds a node; gives its output, or a list of them. `out` names the only one."""
        names = [out] if out else [self.fresh("t") for _ in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, name=self.fresh(op + "_"), **attributes))
        return names[0] if len(names) == 1 else names

    def model(self, name, inputs, outputs, opset=17):
        """`inputs` and `outputs`: name -> shape, or name -> (dtype, shape); a dim that is text is open."""
        def infos(tensors):
            typed = {n: t if isinstance(t, tuple) else (FLOAT, t) for n, t in tensors.items()}
            return [helper.make_tensor_value_info(n, dtype, shape) for n, (dtype, shape) in typed.items()]

        graph = helper.make_graph(self.nodes, name, infos(inputs), infos(outputs), self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], producer_name="relaxc bench")
        model.ir_version = 8
        checker.check_model(model)
        return model

    # What networks share.

    def conv(self, x, channels_in, channels_out, kernel, stride=1, pads=None, groups=1, act="Relu", gain=1.0):
        """A convolution with the batch normalization folded into its weights, as exporters do, and what follows it.

        `kernel` and `pads` as in ONNX, or one number for a square with the padding that keeps the size.
        """
        sides = [kernel] * 2 if isinstance(kernel, int) else list(kernel)
        pads = [side // 2 for side in sides] * 2 if pads is None else [pads] * 4 if isinstance(pads, int) else pads
        products = channels_in // groups * sides[0] * sides[1]
        weight = self.weight(channels_out, channels_in // groups, *sides, scale=gain * np.sqrt(2.0 / products))
        y = self.node("Conv", x, weight, self.weight(channels_out, scale=0.05), kernel_shape=sides,
                      strides=[stride] * 2, pads=pads, group=groups)
        return self.activate(y, act)

    def activate(self, x, act):
        """`act`: None, "Clip6" or the name of an operator."""
        if act is None:
            return x
        return self.node("Clip", x, self.number(0), self.number(6)) if act == "Clip6" else self.node(act, x)

    def max_pool(self, x, size, stride, pad=0, **attributes):
        return self.node("MaxPool", x, kernel_shape=[size] * 2, strides=[stride] * 2, pads=[pad] * 4, **attributes)

    def gemm(self, x, width_in, width_out, out=None, gain=1.0):
        """A product by weights as torch's Linear has them, [out, in], on [batch, in]."""
        weight = self.weight(width_out, width_in, scale=gain / np.sqrt(width_in))
        return self.node("Gemm", x, weight, self.weight(width_out, scale=0.05), transB=1, **({"out": out} if out else {}))

    def linear(self, x, width_in, width_out, gain=1.0):
        """The same on [..., in], as transformers export it: MatMul and Add."""
        weight = self.weight(width_in, width_out, scale=gain / np.sqrt(width_in))
        return self.node("Add", self.node("MatMul", x, weight), self.weight(width_out, scale=0.02))

    def classifier(self, x, channels, classes, softmax=False):
        """Mean over the image, product, and the output "output"."""
        x = self.node("Flatten", self.node("GlobalAveragePool", x), axis=1)
        x = self.gemm(x, channels, classes, None if softmax else "output")
        if softmax:
            self.node("Softmax", x, axis=-1, out="output")
