"""librelaxc.so through ctypes: a compilation as a function, messages as records. relaxc.h is the reference."""

import ctypes as c
from dataclasses import dataclass, field
from functools import cache
from typing import Dict, Iterable, List, Optional, Tuple

from ._places import prefix

STATUSES = {1: "refused", 2: "usage", 3: "cancelled", 4: "no memory", 70: "internal"}
SEVERITIES = ("error", "warning", "remark", "note")


class _Record(c.Structure):
    _fields_ = [("struct_bytes", c.c_size_t), ("severity", c.c_int32), ("line", c.c_uint32), ("column", c.c_uint32),
                ("notes", c.c_uint32), ("kind", c.c_char_p), ("message", c.c_char_p), ("file", c.c_char_p),
                ("node", c.c_char_p), ("op", c.c_char_p), ("opset", c.c_int64)]


@dataclass
class Diagnostic:
    """A message: its place is a line of text, or a node of a model."""

    severity: str  # "error", "warning", "remark" or "note"
    kind: str      # "shape_mismatch", "usage" …, as `relaxc --check=json` names them
    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    node: str = ""
    op: str = ""
    opset: int = 0
    notes: List["Diagnostic"] = field(default_factory=list)


class CompileError(Exception):
    """A model does not compile. `status` says who is at fault ("refused": the model, "usage": the options, "internal":
    relaxc), and `diagnostics` has the messages as records."""

    def __init__(self, status: str, text: str, diagnostics: List[Diagnostic]):
        super().__init__(text.rstrip() or status)
        self.status, self.diagnostics = status, diagnostics


@cache
def _library() -> c.CDLL:
    library = c.CDLL(str(prefix() / "lib/librelaxc.so.0"))
    library.relaxc_version.restype = library.relaxc_result_text.restype = c.c_char_p
    library.relaxc_request_create.restype = library.relaxc_compile_to_files.restype = c.c_void_p
    for name in ("request_destroy", "result_destroy", "result_status", "result_text", "compile_to_files"):
        getattr(library, "relaxc_" + name).argtypes = [c.c_void_p]
    library.relaxc_request_input.argtypes = [c.c_void_p, c.c_char_p]
    library.relaxc_request_option.argtypes = [c.c_void_p, c.c_char_p, c.c_char_p]
    library.relaxc_request_memory.argtypes = [c.c_void_p, c.c_char_p, c.c_char_p, c.c_size_t]
    library.relaxc_result_diagnostics.argtypes, library.relaxc_result_diagnostics.restype = [c.c_void_p], c.c_size_t
    library.relaxc_result_diagnostic.argtypes = [c.c_void_p, c.c_size_t, c.c_void_p]
    library.relaxc_result_note.argtypes = [c.c_void_p, c.c_size_t, c.c_size_t, c.c_void_p]
    return library


def version() -> str:
    """Of the compiler: "0.1.0"."""
    return _library().relaxc_version().decode()


def _diagnostic(fill, *place) -> Tuple[Diagnostic, int]:
    record = _Record(struct_bytes=c.sizeof(_Record))
    fill(*place, c.byref(record))
    text = {name: getattr(record, name).decode(errors="replace") for name in ("kind", "message", "file", "node", "op")}
    return Diagnostic(severity=SEVERITIES[record.severity], line=record.line, column=record.column, opset=record.opset,
                      **text), record.notes


def _diagnostics(result) -> List[Diagnostic]:
    library, found = _library(), []
    for i in range(library.relaxc_result_diagnostics(result)):
        diagnostic, notes = _diagnostic(library.relaxc_result_diagnostic, result, i)
        diagnostic.notes = [_diagnostic(library.relaxc_result_note, result, i, k)[0] for k in range(notes)]
        found.append(diagnostic)
    return found


def compile_to_files(path: str, options: Iterable[Tuple[str, Optional[str]]],
                     memory: Optional[Dict[str, bytes]] = None) -> List[Diagnostic]:
    """Compiles the model at `path` and writes what the options name. `memory` has the bytes of files that need not
    exist. Returns warnings and remarks; raises CompileError."""
    library = _library()
    request = library.relaxc_request_create()
    try:
        library.relaxc_request_input(request, path.encode())
        for name, content in (memory or {}).items():
            library.relaxc_request_memory(request, name.encode(), content, len(content))
        for option, value in options:
            library.relaxc_request_option(request, option.encode(), None if value is None else value.encode())
        result = library.relaxc_compile_to_files(request)
        if not result:
            raise MemoryError
        try:
            status, found = library.relaxc_result_status(result), _diagnostics(result)
            if status != 0:
                text = library.relaxc_result_text(result).decode(errors="replace")
                raise CompileError(STATUSES.get(status, "unknown"), text, found)
            return found
        finally:
            library.relaxc_result_destroy(result)
    finally:
        library.relaxc_request_destroy(request)
