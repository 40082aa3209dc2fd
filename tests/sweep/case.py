"""case.py: what a sweep compiles: a graph and arrays for its inputs."""

from dataclasses import dataclass, field

import numpy as np
import onnx


@dataclass
class Case:
    """`equal`, where there is one, is another graph that computes the same of the same inputs."""

    name: str
    model: onnx.ModelProto
    inputs: dict[str, np.ndarray]
    equal: onnx.ModelProto | None = None
    steps: list[str] = field(default_factory=list)  # what was done to make `equal`

    def models(self):
        return [self.model, *([self.equal] if self.equal is not None else [])]


def opened(model):
    """The model with each dim of its inputs open, under a name of its own, and without what it says of other shapes."""
    model = onnx.ModelProto.FromString(model.SerializeToString())
    constants = {tensor.name for tensor in model.graph.initializer}
    for value in model.graph.input:
        if value.name not in constants:
            for axis, dim in enumerate(value.type.tensor_type.shape.dim):
                dim.dim_param = f"{value.name}_{axis}"
    for value in model.graph.output:
        for dim in value.type.tensor_type.shape.dim:
            dim.Clear()
    del model.graph.value_info[:]
    return model
