"""InferenceSession with the calls of ONNX Runtime's, so that trying relaxc is one changed import.

    import relaxc as ort
    session = ort.InferenceSession("model.onnx")
    logits, = session.run(["logits"], {"image": image})
"""

import ctypes
import os
import warnings
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

import numpy as np

from ._compile import compile as compile_model

_TYPES = {"float16": "float16", "float32": "float", "float64": "double", "bfloat16": "bfloat16", "bool": "bool",
          **{f"{sign}int{bits}": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}}


@dataclass
class NodeArg:
    """An input or output of a session: `type` is ONNX Runtime's text, "tensor(float)", and `shape` has names of open
    dims."""

    name: str
    type: str
    shape: List[Union[int, str, None]]


class IOBinding:
    """Inputs and outputs that stay where they are from run to run, as ONNX Runtime's; made by session.io_binding().

    Inputs are read and outputs written in the caller's memory if they are compact and of the right dtype. The device is
    the CPU, whatever the arguments say."""

    def __init__(self, session: "InferenceSession"):
        self._session = session
        self._inputs: Dict[str, Any] = {}
        self._outputs: Dict[str, Optional[np.ndarray]] = {}
        self._results: Optional[Any] = None

    def bind_cpu_input(self, name: str, array: Any) -> None:
        self._inputs[name] = array

    def bind_ortvalue_input(self, name: str, value: Any) -> None:
        self._inputs[name] = value.numpy()

    def bind_input(self, name: str, device_type: str, device_id: int, element_type: Any, shape: Sequence[int],
                   buffer_ptr: int) -> None:
        """`buffer_ptr` is an address, as torch.Tensor.data_ptr() gives it; the memory stays the caller's."""
        self._inputs[name] = _array_at(buffer_ptr, element_type, shape)

    def bind_output(self, name: str, device_type: str = "cpu", device_id: int = 0, element_type: Any = None,
                    shape: Optional[Sequence[int]] = None, buffer_ptr: Optional[int] = None) -> None:
        """Without an address, each run makes an array."""
        self._outputs[name] = None if buffer_ptr is None else _array_at(buffer_ptr, element_type, shape or ())

    def bind_ortvalue_output(self, name: str, value: Any) -> None:
        self._outputs[name] = value.numpy()

    def clear_binding_inputs(self) -> None:
        self._inputs.clear()

    def clear_binding_outputs(self) -> None:
        self._outputs.clear()

    def copy_outputs_to_cpu(self) -> List[np.ndarray]:
        """The outputs that are bound, in the order in which they were."""
        if self._results is None:
            raise RuntimeError("there are no outputs before session.run_with_iobinding()")
        return [self._results[name].copy() for name in self._outputs]

    def run(self) -> None:
        """What session.run_with_iobinding() does."""
        given = {name: array for name, array in self._outputs.items() if array is not None}
        self._results = self._session.model.run_into(self._inputs, given)


class InferenceSession:
    """A model, compiled for this machine when the session is made (or taken from the cache) and run on the CPU.

    Of `sess_options` it reads intra_op_num_threads; without it, parallel loops use all processors that this process may.
    `providers` are ignored, with a warning if one is not the CPU's. `options` go to relaxc.compile: dims, cpu, opt …"""

    def __init__(self, path_or_bytes: Any, sess_options: Any = None, providers: Optional[Sequence[Any]] = None,
                 provider_options: Any = None, **options: Any):
        names = [provider if isinstance(provider, str) else provider[0] for provider in providers or ()]
        if others := [name for name in names if name != "CPUExecutionProvider"]:
            warnings.warn(f"relaxc runs models on the CPU and ignores {', '.join(others)}", stacklevel=2)
        threads = getattr(sess_options, "intra_op_num_threads", 0) or len(os.sched_getaffinity(0))
        self.model = compile_model(path_or_bytes, **{"threads": threads, **options})
        self._inputs, self._outputs = self._args("inputs"), self._args("outputs")

    def _args(self, kind: str) -> List[NodeArg]:
        return [NodeArg(name, f"tensor({_TYPES.get(dtype, dtype)})", list(shape))
                for name, dtype, shape in getattr(self.model, kind)()]

    def get_inputs(self) -> List[NodeArg]:
        return self._inputs

    def get_outputs(self) -> List[NodeArg]:
        return self._outputs

    def get_providers(self) -> List[str]:
        return ["CPUExecutionProvider"]

    def run(self, output_names: Optional[Sequence[str]], input_feed: Mapping[str, Any],
            run_options: Any = None) -> List[np.ndarray]:
        """The outputs of these names in their order, or all; `run_options` are ignored."""
        results = self.model(dict(input_feed))
        return list(results) if output_names is None else [results[name] for name in output_names]

    def io_binding(self) -> IOBinding:
        return IOBinding(self)

    def run_with_iobinding(self, iobinding: IOBinding, run_options: Any = None) -> None:
        iobinding.run()


def _array_at(address: int, element_type: Any, shape: Sequence[int]) -> np.ndarray:
    """The memory at an address as an array, which does not own it."""
    dtype = np.dtype(element_type)
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    memory = (ctypes.c_uint8 * size).from_address(address) if size else bytearray()
    return np.frombuffer(memory, dtype).reshape(tuple(shape))
