"""relaxc.compile: from a model to a function of arrays."""

import platform
import shutil
import sys
import tempfile
import warnings
import weakref
from pathlib import Path
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from . import _cache
from ._library import compile_to_files, version
from ._model import Model
from ._places import prefix

Dim = Union[int, str, Tuple[int, int]]
Option = Union[str, int, bool, Sequence[Union[str, int]]]


def compile(model: Any, *, dims: Optional[Mapping[str, Dim]] = None, cpu: str = "native",
            states: Optional[Mapping[str, str]] = None, opt: Union[int, str] = 2, threads: int = 1,
            ram_budget: Union[int, str, None] = None, options: Optional[Mapping[str, Option]] = None,
            name: Optional[str] = None, cache: bool = True) -> Model:
    """Compiles `model` for this machine and loads it.

    model    the path of an ONNX or TFLite model or of a program in the text IR, an onnx.ModelProto, a
             torch.export.ExportedProgram, or the bytes of a model
    dims     sizes of open dims: a number, a range (1, 512), or text as --dim has it ("1..512:64")
    cpu      "native", or a CPU that the code is for, as in model.save() for other machines: "x86-64-v3"
    states   outputs that are the next call's inputs: {"h0": "hn"}
    opt      the optimization level, 0 to 3, "s" or "z"
    threads  how many run parallel loops of a call
    ram_budget  most bytes of memory that a call may take, "64K", or "min" for as few as there can be
    options  other flags of the command line without their dashes: {"mixed-precision": "bfloat16", "trace": True}
    name     of the model in the library, "model" by default
    cache    keep what is compiled in the user's folder for caches, and take it from there the next time

    Raises CompileError with the messages as records; warnings of the compiler are warnings of Python's.
    """
    path, memory, contents = _source(model)
    name = name or "model"
    flags = [("name", name), ("mcpu", cpu), ("O", str(opt)), *_dims(dims), *_states(states),
             *([] if ram_budget is None else [("ram-budget", str(ram_budget))]), *_options(options)]

    def make(folder: Path) -> None:
        library = str(folder / f"{name}.so")
        for message in compile_to_files(path, [("o", library), *flags], memory):
            if message.severity == "warning":
                warnings.warn(f"{message.file or path}: {message.message}", stacklevel=4)

    parts = [version().encode(), (prefix() / "lib/librelaxc.so.0").stat().st_mtime_ns.to_bytes(8, "little"),
             _machine().encode() if cpu == "native" else b"", repr(flags).encode(), *contents]
    if cache and contents and _cache.is_usable():
        return Model(_cache.find_or_make(_cache.key(parts), make) / f"{name}.so", name=name, threads=threads)
    folder = Path(tempfile.mkdtemp(prefix="relaxc-"))
    try:
        make(folder)
        made = Model(folder / f"{name}.so", name=name, threads=threads)
    except BaseException:
        shutil.rmtree(folder)
        raise
    weakref.finalize(made, shutil.rmtree, folder)  # what save() copies goes with the model
    return made


def _source(model: Any) -> Tuple[str, Dict[str, bytes], List[bytes]]:
    """The path of a model, what it holds if that is in memory, and contents for the cache: none if it refers to files."""
    torch = sys.modules.get("torch")  # what is of PyTorch was made by it
    if torch is not None and isinstance(model, (torch.nn.Module, torch.export.ExportedProgram)):
        model = _exported(model)
    if hasattr(model, "SerializeToString"):
        model = model.SerializeToString()
    if isinstance(model, (bytes, bytearray, memoryview)):
        content = bytes(model)
        return "model.onnx", {"model.onnx": content}, [content]
    path = Path(model)
    if not path.is_file():
        raise FileNotFoundError(f"there is no model '{path}'")
    content = path.read_bytes()
    # Data that are in other files may change without the model.
    external = b"location" in content or path.suffix in (".relax", ".py")
    return str(path), {}, [] if external else [path.suffix.encode(), content]


def _exported(model: Any) -> bytes:
    """An ExportedProgram as ONNX. Other things of PyTorch do not say what their inputs are."""
    if not hasattr(model, "graph_signature"):
        raise TypeError(f"a {type(model).__name__} does not say what its inputs are; export it first: "
                        "torch.export.export(module.eval(), (example,))")
    from ._torch import onnx_of

    return onnx_of(model)


def _dims(dims: Optional[Mapping[str, Dim]]) -> Iterable[Tuple[str, str]]:
    for name, given in (dims or {}).items():
        text = f"{given[0]}..{given[1]}" if isinstance(given, (tuple, list, range)) else str(given)
        yield "dim", f"{name}={text}"


def _states(states: Optional[Mapping[str, str]]) -> Iterable[Tuple[str, str]]:
    for into, out in (states or {}).items():
        yield "state", f"{into}:{out}"


def _options(options: Optional[Mapping[str, Option]]) -> Iterable[Tuple[str, Optional[str]]]:
    for name, value in (options or {}).items():
        if value is True:
            yield name, None
        elif value is not False:
            values = [value] if isinstance(value, (str, int)) else value
            yield from ((name, str(one)) for one in values)


def _machine() -> str:
    """What "native" means here: the processor as the system describes it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").split("\n\n", maxsplit=1)[0].splitlines()
    except OSError:
        lines = []
    wanted = ("model name", "cpu family", "model", "stepping", "flags", "Features", "CPU part")
    return platform.machine() + "".join(line for line in lines if line.split("\t")[0].strip() in wanted)
