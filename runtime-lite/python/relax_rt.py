"""relax_rt.py: loads a shared library that relaxc wrote and runs it on arrays. One file; needs NumPy and nothing else.

    import relax_rt
    model = relax_rt.load("model.so", threads=2)
    results = model(image)                  # arrays in the order of the inputs, or by name: model(image=image)
    results["scores"], results[0]           # arrays by name and in order; a list otherwise: scores, = model(image)

Inputs may be NumPy arrays or anything that supports DLPack (a tensor of PyTorch, say), which is not copied if it is
compact. Outputs are NumPy arrays. An array of another dtype is converted if NumPy calls both of one kind (float64 to
float32), else refused. Elements that NumPy has no type for, such as bfloat16, are those of the package ml_dtypes.

A loader needs only one symbol, `<name>_model`; the records that it leads to are defined below, field by field, as in
relax_rt.h (tests/bench checks every offset against a C compiler). Tables are stepped through by the sizes that the
model states, as docs/abi.md requires of loaders, so that a library with longer records still loads.
"""

import contextlib
import ctypes as c
import math
import mmap
import os
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

ABI_VERSION = 1
INT64_MAX = 2**63 - 1
UINT64_MAX = 2**64 - 1


class Tensor(c.Structure):
    _fields_ = [("data", c.c_void_p), ("device_type", c.c_int32), ("device_id", c.c_int32), ("ndim", c.c_int32),
                ("dtype_code", c.c_uint8), ("dtype_bits", c.c_uint8), ("dtype_lanes", c.c_uint16),
                ("shape", c.POINTER(c.c_int64)), ("strides", c.POINTER(c.c_int64)), ("byte_offset", c.c_uint64)]


class Error(c.Structure):
    _fields_ = [(name, c.c_int32) for name in ("code", "tensor", "axis", "symbol", "node")]
    _fields_ += [("expected", c.c_int64), ("actual", c.c_int64)]

    def forget(self):
        self.code, self.expected, self.actual = 0, 0, 0
        self.tensor = self.axis = self.symbol = self.node = -1


class MemoryPool(c.Structure):
    _fields_ = [("data", c.c_void_p), ("bytes", c.c_uint64)]


class MemoryPoolSpec(c.Structure):
    _fields_ = [("name", c.c_char_p), ("bytes", c.c_uint64)]


class Context(c.Structure):
    _fields_ = [("abi_version", c.c_uint32), ("struct_size", c.c_uint32), ("arena", c.c_void_p),
                ("arena_bytes", c.c_uint64), ("weights", c.c_void_p), ("weights_bytes", c.c_uint64),
                ("error", c.POINTER(Error)), ("parallel_for", c.c_void_p), ("parallel_user", c.c_void_p),
                ("num_threads", c.c_int32), ("alloc", c.c_void_p), ("alloc_user", c.c_void_p), ("trace", c.c_void_p),
                ("trace_user", c.c_void_p), ("poll", c.c_void_p), ("poll_user", c.c_void_p),
                ("cpu_features", c.c_uint64), ("pools", c.POINTER(MemoryPool)), ("num_pools", c.c_uint32)]


class Symbol(c.Structure):
    _fields_ = [("name", c.c_char_p), ("lower", c.c_int64), ("upper", c.c_int64), ("multiple_of", c.c_int64)]


class Quant(c.Structure):
    _fields_ = [("axis", c.c_int32), ("count", c.c_uint32), ("scale", c.POINTER(c.c_float)),
                ("zero_point", c.POINTER(c.c_int32))]


class TensorSpec(c.Structure):
    pass


TensorSpec._fields_ = [("name", c.c_char_p), ("kind", c.c_uint8), ("dtype_code", c.c_uint8), ("dtype_bits", c.c_uint8),
                       ("flags", c.c_uint8), ("ndim", c.c_int32), ("dims", c.POINTER(c.c_int64)),
                       ("quant", c.POINTER(Quant)), ("pair", c.c_int32), ("append_axis", c.c_int32),
                       ("element", c.POINTER(TensorSpec))]

BIND = c.CFUNCTYPE(c.c_int32, c.POINTER(Context), c.POINTER(Tensor), c.c_uint32, c.POINTER(c.c_int64), c.POINTER(Error))
OUTPUT_SHAPE = c.CFUNCTYPE(c.c_int32, c.POINTER(c.c_int64), c.c_uint32, c.POINTER(c.c_int64))
ARENA_BYTES = c.CFUNCTYPE(c.c_int32, c.POINTER(c.c_int64), c.POINTER(c.c_uint64))
RUN = c.CFUNCTYPE(c.c_int32, c.POINTER(Context), c.POINTER(Tensor), c.c_uint32, c.POINTER(Tensor), c.c_uint32)


class Function(c.Structure):
    _fields_ = [("name", c.c_char_p), ("num_inputs", c.c_uint32), ("num_outputs", c.c_uint32),
                ("num_symbols", c.c_uint32), ("num_nodes", c.c_uint32), ("inputs", c.c_void_p),
                ("outputs", c.c_void_p), ("symbols", c.POINTER(Symbol)), ("nodes", c.POINTER(c.c_char_p)),
                ("arena_max", c.c_uint64), ("stack_max", c.c_uint64), ("arena_align", c.c_uint32), ("bind", BIND),
                ("output_shape", OUTPUT_SHAPE), ("arena_bytes", ARENA_BYTES), ("run", RUN),
                ("pools", c.POINTER(MemoryPoolSpec)), ("num_pools", c.c_uint32)]


class ModelRecord(c.Structure):
    _fields_ = [("abi_version", c.c_uint32), ("function_size", c.c_uint16), ("spec_size", c.c_uint16),
                ("num_functions", c.c_uint32), ("functions", c.c_void_p), ("name", c.c_char_p),
                ("producer", c.c_char_p), ("target", c.c_char_p), ("hash", c.POINTER(c.c_uint8)),
                ("weights_bytes", c.c_uint64)]


# DLPack's type code and width, and the NumPy dtype, for all dtypes that NumPy can hold.
DTYPES = {(kind, bits): np.dtype(f"{letter}{bits // 8}")
          for kind, letter, widths in ((0, "i", (8, 16, 32, 64)), (1, "u", (8, 16, 32, 64)), (2, "f", (16, 32, 64)))
          for bits in widths}
DTYPES[6, 8] = np.dtype(bool)
FEW_BITS = {(4, 16): "bfloat16", (10, 8): "float8_e4m3fn", (11, 8): "float8_e4m3fnuz", (12, 8): "float8_e5m2",
            (13, 8): "float8_e5m2fnuz", (14, 8): "float8_e8m0fnu"}
with contextlib.suppress(ImportError):
    import ml_dtypes
    DTYPES |= {key: np.dtype(getattr(ml_dtypes, name)) for key, name in FEW_BITS.items() if hasattr(ml_dtypes, name)}
CODES = {dtype: code for code, dtype in DTYPES.items()}

ALLOC = c.CFUNCTYPE(c.c_void_p, c.c_void_p, c.c_uint64, c.c_uint64)
DATA_CAPACITY = 33  # RLX_DATA_CAPACITY
GUESS = 1 << 16  # first capacity, in elements, of an output without a bound

# For each status, its name and the sentence of rlx_error_text (runtime-lite/core/error_text.c).
STATUSES = {
    1: ("NULL_POINTER", "a pointer that is needed is null"),
    2: ("TENSOR_COUNT", "the number of tensors is {actual}, must be {expected}"),
    3: ("DEVICE", "the device's type or id is {actual}, must be {expected}"),
    4: ("DTYPE", "its elements are {actual_type}, must be {expected_type}"),
    5: ("RANK", "the number of dims is {actual}, must be {expected}"),
    6: ("STATIC_DIM", "{dim} is {actual}, must be {expected}"),
    7: ("SYMBOL_EQUALITY", "{dim} is {actual} where {symbol} is {expected}"),
    8: ("DERIVED_DIM", "{dim} is {actual}, must be {expected}"),
    9: ("DIM_BOUNDS", "{dim} is {actual}, must be {relation} {expected}"),
    10: ("STRIDES", "a stride is {actual}, must be {expected}"),
    11: ("ALIGNMENT", "its address is {actual} bytes past a multiple of {expected}"),
    12: ("CAPACITY", "it has room for {actual} elements and needs {expected}"),
    13: ("OVERLAP", "it shares memory with {other}"),
    14: ("ARENA_SIZE", "the arena has {actual} bytes, must have {expected}"),
    15: ("ARENA_ALIGNMENT", "the arena's address is {actual} bytes past a multiple of {expected}"),
    16: ("WEIGHTS_SIZE", "the weights have {actual} bytes, must have {expected}"),
    17: ("WEIGHTS_HASH",
         "the weights are those of another model: byte {axis} of the hash is {actual}, must be {expected}"),
    18: ("WEIGHTS_ALIGNMENT", "the address of the weights is {actual} bytes past a multiple of {expected}"),
    19: ("ABI_MISMATCH",
         "the version or size of the context, the tables or the weights is {actual}, must be {expected}"),
    20: ("SIZE_OVERFLOW", "a size of {actual} elements does not fit the address space"),
    21: ("BROADCAST", "dims {expected} and {actual} are neither equal nor 1"),
    22: ("NEEDS_DATA", "the answer depends on data that was not given"),
    23: ("CPU_FEATURES", "the CPU has the features {actual} (RLX_CPU_* bits), the code needs {expected}"),
    24: ("POOL_SIZE", "pool {axis} has {actual} bytes, must have {expected}"),
    25: ("POOL_ALIGNMENT", "the address of pool {axis} is {actual} bytes past a multiple of {expected}"),
    32: ("INDEX_RANGE", "index {actual} is outside of an axis of {expected}"),
    33: ("DATA_CAPACITY", "it has room for {actual} elements and needs {expected}"),
    34: ("ASSERTION", "does not hold, with {actual} and {expected} as its sides"),
    35: ("EXTERNAL_FAILED", "an external function returned {actual}"),
    36: ("RECURSION_DEPTH", "calls are {actual} deep, the limit is {expected}"),
    37: ("NO_ALLOCATOR", "{expected} bytes are needed, and the context has no allocator"),
    38: ("OUT_OF_MEMORY", "{expected} bytes are needed, and the allocator does not have them"),
    39: ("POLLED", "the poll hook ended the run with {actual}"),
    40: ("DATA_BOUND", "{actual} was found in the data, the limit is {expected}"),
    41: ("OBJECT_KIND", "the object is of kind {actual}, must be of kind {expected}"),
    42: ("SELFTEST", "the self-test found another answer: {actual}, must be {expected}"),
    43: ("NODE_LIMIT", "there are {actual} nodes of data, the limit is {expected}"),
    64: ("FILE_IO", "the file of weights cannot be opened, sized or mapped: errno is {actual}"),
    65: ("FILE_FORMAT", "this is not a file of weights"),
}
UNPLACED = {  # for records without a node and a tensor
    13: "memory of the caller overlaps {other}",
    20: "the arena of this call does not fit the address space",
    42: "the self-test found other weights: their CRC-32 is {actual}, must be {expected}",
}


class Record:
    """An error record as a sentence."""

    def __init__(self, entry, error):
        self.entry, self.error = entry, error
        symbols, nodes = entry.symbols, entry.record.num_nodes
        self.symbol_record = symbols[error.symbol] if 0 <= error.symbol < len(symbols) else None
        self.node = (entry.record.nodes[error.node] if 0 <= error.node < nodes else b"").decode(errors="replace")
        self.expected, self.actual, self.axis = error.expected, error.actual, error.axis

    def __str__(self):
        error, place = self.error, ""
        if self.node:
            place = self.fill(self.node)
            if place != self.node and error.code != 34:
                return place
        elif error.node >= 0:
            place = f"node {error.node}"
        elif 0 <= error.tensor < len(self.entry.inputs) + len(self.entry.outputs):
            place = self.tensor(error.tensor)
        said = STATUSES.get(error.code, ("", "unknown status"))[1]
        if error.tensor < 0 and (error.node < 0 or error.code != 20):
            said = UNPLACED.get(error.code, said)
        if error.code == 34 and error.expected == error.actual:
            said = "does not hold"
        return (place and place + ": ") + self.fill(said)

    def fill(self, text):
        def value(match):
            found = getattr(self, match[1])
            return str(found() if callable(found) else found)

        return re.sub("{(expected|actual|axis|dim|symbol|relation|other|expected_type|actual_type)}", value, text)

    def tensor(self, index):
        inputs = len(self.entry.inputs)
        name, kind = name_of((self.entry.inputs + self.entry.outputs)[index]), "input" if index < inputs else "output"
        return f"{kind} '{name}'" if name else f"{kind} {index if index < inputs else index - inputs}"

    def name(self):
        return name_of(self.symbol_record) if self.symbol_record else ""

    def dim(self):
        by_name = self.axis < 0 and self.name()
        return f"dim '{self.name()}'" if by_name else f"dim {self.axis if self.axis >= 0 else self.error.symbol}"

    def symbol(self):
        return f"dim '{self.name()}'" if self.name() else "the same dim"

    def relation(self):
        of = self.symbol_record
        if of and of.lower <= self.actual <= of.upper and of.multiple_of > 1:
            return "a multiple of"
        return "at least" if self.actual < self.expected else "at most"

    def other(self):
        if 0 <= self.actual < len(self.entry.inputs) + len(self.entry.outputs):
            return self.tensor(self.actual)
        return {-1: "the arena", -2: "the weights"}.get(self.actual, f"pool {-3 - self.actual}")

    @staticmethod
    def dtype(value):
        code, bits, lanes = value & 255, value >> 8 & 255, value >> 16 & 65535
        names = ("int", "uint", "float", "handle", "bfloat", "complex", "bool")
        name = names[code] if code < 7 else f"code {code} of bits "
        return name + ("" if code == 6 else str(bits)) + ("" if lanes == 1 else f"x{lanes}")

    expected_type = property(lambda self: self.dtype(self.expected))
    actual_type = property(lambda self: self.dtype(self.actual))


class RlxError(Exception):
    """A call returned a status other than RLX_OK. `error` is the error record, the message says it as a sentence."""

    def __init__(self, entry, error, arrays=()):
        status = STATUSES.get(error.code, ("UNKNOWN",))[0]
        super().__init__(f"{entry.title()}: {Record(entry, error)} ({status})")
        self.error = error
        if 3 <= error.code <= 9 and 0 <= error.tensor < len(arrays):  # Python prints notes below the message
            found = list(np.shape(arrays[error.tensor]))
            self.__notes__ = [f"it takes {entry.text_of(entry.inputs[error.tensor])}, found {found}"]


def aligned(size, align):
    """An uninitialized uint8 array of `size` bytes whose address is a multiple of `align`."""
    raw = np.empty(size + align, np.uint8)
    start = -raw.ctypes.data % align
    return raw[start : start + size]


def describe(array, shape):
    """Return the rlx_tensor of a compact array; the caller must keep `shape`, an int64 ctypes array, alive with it."""
    code, bits = CODES[array.dtype]
    return Tensor(data=array.ctypes.data, device_type=1, ndim=array.ndim, dtype_code=code, dtype_bits=bits,
                  dtype_lanes=1, shape=c.cast(shape, c.POINTER(c.c_int64)))


class Threads:
    """A thread pool of runtime-lite/hosted for parallel loops: `count` threads, including the calling one."""

    def __init__(self, count):
        here, name = Path(__file__).resolve(), "librelax_rt_threads.so"
        places = [os.environ.get("RELAX_RT_THREADS", name), here.with_name(name),
                  *(prefix / "lib/relaxc" / name for prefix in here.parents[3:4])]  # the prefix of share/relaxc/python
        if (found := next((place for place in places if Path(place).is_file()), None)) is None:
            raise OSError(f"threads need {name}, which is installed with relaxc; RELAX_RT_THREADS says where it is")
        self.library = c.CDLL(str(found))
        self.library.rlx_pool_create.restype = c.c_void_p
        self.handle = c.c_void_p(self.library.rlx_pool_create(count))
        if not self.handle:
            raise OSError(f"the system does not give {count} threads")

    def attach(self, context):
        self.library.rlx_pool_attach(self.handle, c.byref(context))

    def __del__(self):
        if getattr(self, "handle", None):
            self.library.rlx_pool_destroy(self.handle)


class Model:
    """A loaded library. `functions` maps the names of its entry points to Entry. `name` is needed if the model's name
    is not the library's, `weights` if the weights file is not beside it; `threads` is for parallel loops."""

    def __init__(self, path, name=None, weights=None, threads=1):
        path = regular(Path(path).resolve())
        self.library = c.CDLL(str(path))
        self.threads = Threads(threads) if threads > 1 else None
        self.record = ModelRecord.in_dll(self.library, f"{name or path.stem.removeprefix('lib')}_model")
        if self.record.abi_version != ABI_VERSION:
            raise ValueError(f"{path}: ABI version {self.record.abi_version}, this loader knows {ABI_VERSION}")
        step = self.record.function_size
        records = [Function.from_address(self.record.functions + i * step) for i in range(self.record.num_functions)]
        self.weights = self.map(weights or path.with_suffix(".weights")) if self.record.weights_bytes else None
        self.functions = {record.name.decode(): Entry(self, record) for record in records}

    def map(self, path):
        """Map the weights file and return it as an array; raise ValueError if its size or hash is not the model's."""
        with open(regular(path), "rb") as file:
            weights = np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
        if len(weights) != self.record.weights_bytes or bytes(weights[24:56]) != bytes(self.record.hash[:32]):
            raise ValueError(f"{path}: these are not the weights of {self.record.name.decode()}")
        return weights

    def __call__(self, *arrays, **named):
        return self.functions["main"](*arrays, **named)


load = Model


def regular(path):
    """Return the path; raise OSError if it exists but is not a regular file: opening a pipe would wait."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise OSError(f"{path}: it is not a regular file")
    return path


def name_of(record):
    return (record.name or b"").decode(errors="replace")


def dtype_of(spec):
    """Return NumPy's dtype for the elements of a tensor; raise TypeError if it has none."""
    key = spec.dtype_code, spec.dtype_bits
    if key not in DTYPES:
        more = "; the package ml_dtypes has one" if key in FEW_BITS else ""
        raise TypeError(f"NumPy has no dtype for the elements of '{name_of(spec)}', {dtype_text(spec)}{more}")
    return DTYPES[key]


def dtype_text(spec):
    key = spec.dtype_code, spec.dtype_bits
    return FEW_BITS.get(key) or Record.dtype(key[0] | key[1] << 8 | 1 << 16)


def array_of(given, spec):
    """Return a compact array for an array, a DLPack tensor, a list or a number; raise TypeError on another dtype."""
    dtype = dtype_of(spec)
    if not isinstance(given, np.ndarray) and hasattr(given, "__dlpack__"):
        given = np.from_dlpack(given)
    found = getattr(given, "dtype", dtype)
    if found != dtype and not np.can_cast(found, dtype, "same_kind"):
        raise TypeError(f"input '{name_of(spec)}' is {found}, must be {dtype}; convert it with .astype('{dtype}')")
    return np.ascontiguousarray(given, dtype).reshape(np.shape(given))


class Results(list):
    """The outputs of a call, by index and by name."""

    def __init__(self, arrays, names):
        super().__init__(arrays)
        self.names = names

    def __getitem__(self, key):
        if isinstance(key, str) and key not in self.names:
            raise KeyError(f"no output is called '{key}'; there are: {', '.join(self.names)}")
        return super().__getitem__(self.names.index(key) if isinstance(key, str) else key)


class Entry:
    """One entry point: specs of its tensors, and calls on numpy arrays."""

    def __init__(self, model, record):
        self.model, self.record = model, record
        self.inputs = self.specs(record.inputs, record.num_inputs)
        self.outputs = self.specs(record.outputs, record.num_outputs)
        self.symbols = [record.symbols[i] for i in range(record.num_symbols)]

    def specs(self, address, count):
        return [TensorSpec.from_address(address + i * self.model.record.spec_size) for i in range(count)]

    def title(self):
        return f"{name_of(self.model.record)}.{name_of(self.record)}"

    def shape_of(self, spec):
        """Return the dims: numbers, names of dims that a call decides, or None if the data decides."""
        return tuple(dim if dim >= 0 else None if dim == -INT64_MAX - 1 else name_of(self.symbols[-1 - dim]) or None
                     for dim in spec.dims[: spec.ndim])

    def text_of(self, spec):
        """Return text such as: image: float32 [n, 1, 8, 8]."""
        dims = ", ".join("?" if dim is None else str(dim) for dim in self.shape_of(spec))
        return f"{name_of(spec)}: {dtype_text(spec)} [{dims}]"

    def prepare(self, arrays, attach=None, outputs=None):
        """Return a Call on these input arrays, in order; `attach(context)` may set a thread pool. `outputs` has arrays
        by name to write to: compact, with the output's dtype and shape; if data decides a dim, any sufficient size."""
        return Call(self, arrays, attach or (self.model.threads and self.model.threads.attach), outputs or {})

    def ordered(self, arrays, named):
        """Return the inputs in their order; they are given by position, by name, or in a dict by name."""
        if arrays and isinstance(arrays[0], Mapping):
            arrays, named = arrays[1:], {**arrays[0], **named}
        names, every = [name_of(spec) for spec in self.inputs], "; ".join(map(self.text_of, self.inputs)) or "none"
        if len(arrays) > len(names):
            raise TypeError(f"{self.title()} takes {len(names)} inputs, found {len(arrays)}; there are: {every}")
        left = names[len(arrays):]
        if unknown := named.keys() - set(left):
            raise TypeError(f"no input is left for {', '.join(sorted(unknown))}; there are: {every}")
        if missing := [name for name in left if name not in named]:
            raise TypeError(f"nothing is given for input {', '.join(missing)}; there are: {every}")
        return [*arrays, *(named[name] for name in left)]

    def __call__(self, *arrays, **named):
        call = self.prepare(self.ordered(arrays, named))
        call.run()
        return call.results(copy=False)


class Call:
    """All that a call needs, allocated once: tensors, arena, context. `run` may be called repeatedly."""

    def __init__(self, entry, arrays, attach, outputs):
        self.entry, record = entry, entry.record
        self.error = Error()
        self.error.forget()
        self.context = Context(abi_version=ABI_VERSION, struct_size=c.sizeof(Context), error=c.pointer(self.error))
        if attach:
            attach(self.context)
        self.lent, self.alloc = [], ALLOC(self.lend)
        self.context.alloc = c.cast(self.alloc, c.c_void_p)
        if entry.model.weights is not None:
            self.context.weights, self.context.weights_bytes = entry.model.weights.ctypes.data, len(entry.model.weights)
        self.arrays = [array_of(a, s) for a, s in zip(arrays, entry.inputs, strict=True)]
        self.shapes = [(c.c_int64 * max(a.ndim, 1))(*a.shape) for a in self.arrays]
        self.inputs = (Tensor * len(arrays))(*(describe(a, s) for a, s in zip(self.arrays, self.shapes)))

        self.symbols = (c.c_int64 * max(record.num_symbols, 1))()
        self.check(record.bind(self.context, self.inputs, len(arrays), self.symbols, self.error))
        size = c.c_uint64()
        self.check(record.arena_bytes(self.symbols, size))
        self.arena = aligned(size.value, max(record.arena_align, 1))
        self.context.arena, self.context.arena_bytes = self.arena.ctypes.data, size.value
        sizes = [record.pools[i].bytes for i in range(record.num_pools)]
        self.pools = [aligned(size, max(record.arena_align, 1)) for size in sizes]
        self.context.pools = (MemoryPool * max(len(sizes), 1))(
            *(MemoryPool(pool.ctypes.data, size) for pool, size in zip(self.pools, sizes)))
        self.context.num_pools = len(sizes)

        shapes = [self.output_shape(i, spec.ndim) for i, spec in enumerate(entry.outputs)]
        self.given = self.given_outputs(shapes, dict(outputs))
        self.make_outputs([self.given[i].shape if i in self.given else shape for i, shape in enumerate(shapes)])

    def lend(self, _, size, align):
        """rlx_context.alloc: return memory that lives as long as this call, or None. An exception would not reach the
        caller, and the model would use an undefined address."""
        try:
            self.lent.append(aligned(size, max(align, 1)))
        except (MemoryError, ValueError, OverflowError):
            return None
        return self.lent[-1].ctypes.data

    def given_outputs(self, shapes, given):
        """Return the caller's arrays by the outputs' indices; raise TypeError if one does not fit its output."""
        found = {i: given.pop(name_of(spec)) for i, spec in enumerate(self.entry.outputs) if name_of(spec) in given}
        if given:
            raise TypeError(f"no output is called {', '.join(given)}; there are: "
                            f"{', '.join(map(self.entry.text_of, self.entry.outputs))}")
        for i, array in found.items():
            spec, shape = self.entry.outputs[i], shapes[i]
            fits = array.ndim == len(shape) if shape[:1] == (GUESS,) else array.shape == shape
            if not (fits and array.dtype == dtype_of(spec) and array.flags.c_contiguous and array.flags.writeable):
                raise TypeError(f"output '{name_of(spec)}' is {dtype_text(spec)} {list(shape)}, found {array.dtype} "
                                f"{list(array.shape)}; it must be compact and writable")
        return found

    def make_outputs(self, capacities):
        entry, self.capacities = self.entry, capacities
        self.buffers = [self.given[i] if i in self.given else np.empty(shape, dtype_of(s))
                        for i, (shape, s) in enumerate(zip(self.capacities, entry.outputs))]
        self.out_shapes = [(c.c_int64 * max(len(shape), 1))(*shape) for shape in self.capacities]
        self.outputs = (Tensor * len(self.buffers))(*(describe(b, s) for b, s in zip(self.buffers, self.out_shapes)))

    def check(self, status):
        if status:
            if self.error.code != status:  # for calls that write no record
                self.error.forget()
                self.error.code = status
            raise RlxError(self.entry, self.error, self.arrays)

    def output_shape(self, index, ndim):
        dims = (c.c_int64 * max(ndim, 1))()
        self.check(self.entry.record.output_shape(self.symbols, index, dims))
        shape = tuple(dims[:ndim])
        return (GUESS,) + (1,) * (ndim - 1) if INT64_MAX in shape else shape

    def grow(self):
        """If an output was too small for what the data gave, give it what the run asked for; return whether."""
        index = self.error.tensor - len(self.inputs)
        if not 0 <= index < len(self.outputs) or self.error.expected <= self.error.actual or index in self.given:
            return False
        if self.error.expected > INT64_MAX // 16:  # more bytes than there are addresses
            return False
        capacities = list(self.capacities)
        capacities[index] = (self.error.expected,) + (1,) * (len(capacities[index]) - 1)
        self.make_outputs(capacities)
        return True

    def run(self):
        """Call the model once. The shapes of outputs are capacities before a call, so they are set again each time."""
        self.lent.clear()
        while True:
            for shape, capacity in zip(self.out_shapes, self.capacities):
                shape[: len(capacity)] = capacity
            status = self.entry.record.run(self.context, self.inputs, len(self.inputs), self.outputs, len(self.outputs))
            if status != DATA_CAPACITY or not self.grow():
                break
        self.check(status)

    def results(self, copy=True):
        """Return the outputs in their true sizes. Without `copy`, the next run overwrites their memory."""
        shapes = [tuple(shape[: len(capacity)]) for shape, capacity in zip(self.out_shapes, self.capacities)]
        arrays = [buffer.reshape(-1)[: math.prod(shape)].reshape(shape) for buffer, shape in zip(self.buffers, shapes)]
        return Results([array.copy() if copy else array for array in arrays], [name_of(spec) for spec in self.entry.outputs])
