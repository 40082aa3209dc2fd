"""PyTorch: exported programs as models, and the backend of torch.compile.

Both go through torch.onnx, so they need the packages onnx and onnxscript. A graph that dynamo hands over has the module's
weights among its inputs; the backend makes constants of them, which relaxc packs when it compiles.
"""

import io
import operator
import warnings
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy as np
import torch

from ._library import CompileError


def onnx_of(program: "torch.export.ExportedProgram") -> bytes:
    """The program as ONNX. Inputs have the names of the exported function's arguments, open dims those of torch.export."""
    program = program.run_decompositions({})  # without changes in place, which its signature lists now
    if program.graph_signature.user_inputs_to_mutate or program.graph_signature.buffers_to_mutate:
        raise _Refused("it changes an input or a buffer in place")
    names = [name for name in program.graph_signature.user_inputs if isinstance(name, str)]  # others are numbers, fixed
    written = torch.onnx.export(program, input_names=names, external_data=False, verbose=False)
    out = io.BytesIO()
    written.save(out, include_initializers=True, keep_initializers_as_inputs=False)
    return out.getvalue()


def array_of(tensor: torch.Tensor) -> np.ndarray:
    """The tensor's memory as an array, copied only if it is not compact."""
    tensor = tensor.detach().contiguous()
    if tensor.dtype == torch.bfloat16:
        import ml_dtypes

        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def tensor_of(array: np.ndarray) -> torch.Tensor:
    """The array's memory as a tensor."""
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def backend(graph: torch.fx.GraphModule, inputs: List[Any], *, options: Optional[Dict[str, Any]] = None,
            mode: Optional[str] = None) -> Callable[..., Any]:
    """torch.compile(model, backend="relaxc"): compiles each graph for inference on this machine's CPU.

    `options` go to relaxc.compile: threads, cpu, opt … A graph that relaxc or torch.onnx refuses runs in PyTorch, and a
    warning gives the reason; with options={"fallback": False} that is an error. `mode` is ignored."""
    options = dict(options or {})
    fallback = options.pop("fallback", True)
    if torch.is_grad_enabled() and any(isinstance(one, torch.Tensor) and one.requires_grad for one in inputs):
        raise RuntimeError("relaxc compiles for inference: call the model under torch.no_grad() or torch.inference_mode()")
    _tell_breaks()
    try:
        return _Compiled(graph, inputs, options)
    except (CompileError, _Refused) as error:
        if not fallback:
            raise
        warnings.warn(f"PyTorch runs a graph of {len(graph.graph.nodes)} nodes that relaxc does not take: "
                      f"{str(error).strip().splitlines()[0]}", stacklevel=2)
        return graph.forward


class _Refused(ValueError):
    """A graph that has no form in ONNX; the message says why."""


class _Compiled:
    """A graph as a compiled model: called with the graph's inputs, it gives a tuple of its outputs."""

    def __init__(self, graph: torch.fx.GraphModule, inputs: List[Any], options: Dict[str, Any]):
        from ._compile import compile as compile_model

        if any(isinstance(one, torch.Tensor) and one.device.type != "cpu" for one in inputs):
            raise _Refused("an input is not in the CPU's memory")
        copy = _Inference(graph, inputs)
        self._kept, self._passed = copy.kept, copy.passed
        self._model = compile_model(_exported(copy, inputs), **options)

    def __call__(self, *inputs: Any) -> Tuple[Any, ...]:
        computed = iter(self._model(*(array_of(inputs[i]) for i in self._kept)))
        return tuple(tensor_of(next(computed)) if i is None else inputs[i] for i in self._passed)


def _exported(copy: "_Inference", inputs: List[Any]) -> bytes:
    """The graph as ONNX. Every failure of PyTorch's exporters, which have no base class, is a reason not to compile it."""
    # Of copies: export leaves marks on tensors, which dynamo would take for the caller's.
    examples = tuple(inputs[i].detach().clone() for i in copy.kept)
    try:
        with torch._guards.tracing(None):  # or export would add its guards to those of dynamo
            return onnx_of(torch.export.export(copy.module(), examples, dynamic_shapes=copy.open_dims()))
    except _Refused:
        raise
    except Exception as error:  # pylint: disable=broad-exception-caught
        raise _Refused(f"{type(error).__name__}: {error}") from error


class _Inference:
    """A copy of dynamo's graph for export: weights are attributes in place of inputs, and a size that is an input is read
    off a tensor that has it."""

    def __init__(self, graph: torch.fx.GraphModule, inputs: List[Any]):
        self._owner, self._graph = graph, torch.fx.Graph()
        self._attributes: Dict[str, Any] = {}
        self._copies: Dict[torch.fx.Node, torch.fx.Node] = {}
        self._places = [node for node in graph.graph.nodes if node.op == "placeholder"]
        self.kept = [i for i, node in enumerate(self._places)
                     if isinstance(inputs[i], torch.Tensor) and not _is_weight(node)]  # places of inputs that stay inputs
        self.passed: List[Optional[int]] = []  # of each output the place of the input that it is; None: it is computed
        for i in self.kept:
            self._copies[self._places[i]] = self._graph.placeholder(self._places[i].name)
        for i, node in enumerate(self._places):
            if i not in self.kept:
                self._copies[node] = self._constant(node, inputs[i])
        for node in graph.graph.nodes:
            if node.op == "output":
                self._finish(node.args[0])
            elif node.op != "placeholder":
                self._copy(node)

    def module(self) -> torch.fx.GraphModule:
        return torch.fx.GraphModule(self._attributes, self._graph)

    def open_dims(self) -> Tuple[Optional[Dict[int, Any]], ...]:
        """As dynamo left them open, of each input that is kept."""
        shapes = [self._places[i].meta["example_value"].shape for i in self.kept]
        return tuple({axis: torch.export.Dim.AUTO for axis, dim in enumerate(shape) if isinstance(dim, torch.SymInt)} or None
                     for shape in shapes)

    def _constant(self, node: torch.fx.Node, given: Any) -> torch.fx.Node:
        if isinstance(given, torch.Tensor):
            name = f"weight_{len(self._attributes)}"
            self._attributes[name] = given.detach()
            return self._graph.get_attr(name)
        size = str(node.meta["example_value"])
        for i in self.kept:
            for axis, dim in enumerate(self._places[i].meta["example_value"].shape):
                if isinstance(dim, torch.SymInt) and str(dim) == size:
                    return self._graph.call_function(torch.ops.aten.sym_size.int, (self._copies[self._places[i]], axis))
        raise _Refused(f"input '{node.name}' is a number")

    def _copy(self, node: torch.fx.Node) -> None:
        if node.op in ("get_attr", "call_module"):
            self._attributes[str(node.target)] = operator.attrgetter(str(node.target))(self._owner)
        self._copies[node] = self._graph.node_copy(node, self._copies.__getitem__)

    def _finish(self, results: Any) -> None:
        computed = []
        for node in results:
            is_tensor = isinstance(node, torch.fx.Node) and isinstance(node.meta.get("example_value"), torch.Tensor)
            if node in self._places:
                self.passed.append(self._places.index(node))
            elif is_tensor:
                self.passed.append(None)
                computed.append(self._copies[node])
            else:
                raise _Refused("one of its results is a number")
        if not computed:
            raise _Refused("it computes no tensor")
        self._graph.output(tuple(computed))


def _is_weight(node: torch.fx.Node) -> bool:
    """Whether an input is a parameter or a buffer of the module, as dynamo marks them."""
    return "_dynamo_static_input_type" in (node.meta.get("tensor_dict") or {})


def _tell_breaks() -> None:
    """Warns of the reasons for which dynamo cut a model in several graphs, so far."""
    for reason in torch._dynamo.utils.counters["graph_break"]:
        warnings.warn(f"the model runs as several graphs: {str(reason).strip().splitlines()[0]}", stacklevel=3)
