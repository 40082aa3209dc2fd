"""Compiled models as functions of arrays: relax_rt.py with states and saving."""

import re
import shutil
from pathlib import Path
from typing import Any, List, Mapping, Optional, Tuple, Union

import numpy as np

try:
    from . import relax_rt  # type: ignore[attr-defined]  # in a wheel
except ImportError:
    import relax_rt  # beside this package

RlxError = relax_rt.RlxError


class Model(relax_rt.Model):
    """A model that is loaded: `model(x)` or `model(name=x)` gives its outputs in order and by name. Calls are
    independent of each other, so threads may share a model. `path` is the library that it was loaded from."""

    def __init__(self, path: Union[str, Path], name: Optional[str] = None, threads: int = 1):
        self.path = Path(path)
        super().__init__(self.path, name=name, threads=threads)

    def __call__(self, *arrays: Any, **named: Any) -> relax_rt.Results:
        """The outputs of the function main: a list of arrays, which also finds them by name."""
        return super().__call__(*arrays, **named)

    def run_into(self, inputs: Mapping[str, Any], outputs: Mapping[str, np.ndarray]) -> relax_rt.Results:
        """One call whose outputs of these names are written to the caller's arrays, which are compact and have the
        outputs' shapes; the result has all outputs."""
        entry = self.functions["main"]
        call = entry.prepare(entry.ordered((), dict(inputs)), outputs=outputs)
        call.run()
        return call.results(copy=False)

    def inputs(self, function: str = "main") -> List[Tuple[str, str, Tuple[Union[int, str, None], ...]]]:
        """Name, dtype and shape of each; open dims have names."""
        return self._specs(function, "inputs")

    def outputs(self, function: str = "main") -> List[Tuple[str, str, Tuple[Union[int, str, None], ...]]]:
        return self._specs(function, "outputs")

    def _specs(self, function: str, kind: str):
        entry = self.functions[function]
        return [(relax_rt.name_of(spec), relax_rt.dtype_text(spec), entry.shape_of(spec))
                for spec in getattr(entry, kind)]

    def stream(self, **dims: int) -> "Stream":
        """Calls that hand states on; `dims` has the sizes of dims of states that are open."""
        return Stream(self.functions["main"], dims)

    def save(self, path: Union[str, Path]) -> None:
        """Writes the shared library to `path`, which relaxc.load() and programs in other languages load; weights that
        are a file of their own go beside it."""
        path = Path(path)
        shutil.copyfile(self.path, path)
        weights = self.path.with_suffix(".weights")
        if weights.exists():
            shutil.copyfile(weights, path.with_suffix(".weights"))


def load(path: Union[str, Path], name: Optional[str] = None, threads: int = 1) -> Model:
    """Loads a shared library that relaxc wrote, whatever the file is called now."""
    if name is None:
        found = set(re.findall(rb"\0([A-Za-z_]\w*)_model(?=\0)", Path(path).read_bytes()))
        if len(found) != 1:
            raise ValueError(f"{path}: {len(found)} models are in this file, expected one; name it with name=")
        name = found.pop().decode()
    return Model(path, name=name, threads=threads)


class Stream:
    """Calls that hand states on: `stream(x)` takes the inputs that are not states. `states` has those of the next call
    by name; `reset()` makes them zero."""

    def __init__(self, entry, dims):
        self.entry, self.dims = entry, dims
        if all(spec.pair < 0 for spec in entry.inputs):
            raise TypeError(f"{entry.title()} has no states; compile it with states={{'input': 'output'}}")
        self.reset()

    def reset(self):
        self.states = {relax_rt.name_of(spec): np.zeros(self.first_shape(spec), relax_rt.dtype_of(spec))
                       for spec in self.entry.inputs if spec.pair >= 0}

    def first_shape(self, spec):
        """Of a state before the first call; one that grows has nothing along that axis."""
        shape = list(self.entry.shape_of(spec))
        if spec.append_axis >= 0:
            shape[spec.append_axis] = 0
        for axis, dim in enumerate(shape):
            if isinstance(dim, str) and dim not in self.dims:
                raise TypeError(f"the size of dim '{dim}' of state '{relax_rt.name_of(spec)}' is open: "
                                f"stream({dim}=1), for example")
            shape[axis] = self.dims.get(dim, dim)
        return shape

    def __call__(self, *arrays, **named):
        free = [relax_rt.name_of(spec) for spec in self.entry.inputs if spec.pair < 0]
        if len(arrays) > len(free):
            raise TypeError(f"{self.entry.title()} takes {len(free)} inputs beside its states ({', '.join(free)}), "
                            f"found {len(arrays)}")
        results = self.entry({**dict(zip(free, arrays)), **named, **self.states})
        for spec in self.entry.inputs:
            if spec.pair >= 0:
                self.states[relax_rt.name_of(spec)] = results[spec.pair]
        return results
