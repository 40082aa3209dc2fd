"""InferenceSession with the calls of ONNX Runtime's, so that trying relaxc is one changed import.

    import relaxc as ort
    session = ort.InferenceSession("model.onnx")
    logits, = session.run(["logits"], {"image": image})
"""

import os
import warnings
from dataclasses import dataclass
from typing import Any, List, Mapping, Optional, Sequence, Union

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
        self._model = compile_model(path_or_bytes, **{"threads": threads, **options})
        self._inputs, self._outputs = self._args("inputs"), self._args("outputs")

    def _args(self, kind: str) -> List[NodeArg]:
        return [NodeArg(name, f"tensor({_TYPES.get(dtype, dtype)})", list(shape))
                for name, dtype, shape in getattr(self._model, kind)()]

    def get_inputs(self) -> List[NodeArg]:
        return self._inputs

    def get_outputs(self) -> List[NodeArg]:
        return self._outputs

    def get_providers(self) -> List[str]:
        return ["CPUExecutionProvider"]

    def run(self, output_names: Optional[Sequence[str]], input_feed: Mapping[str, Any],
            run_options: Any = None) -> List[np.ndarray]:
        """The outputs of these names in their order, or all; `run_options` are ignored."""
        results = self._model(dict(input_feed))
        return list(results) if output_names is None else [results[name] for name in output_names]
