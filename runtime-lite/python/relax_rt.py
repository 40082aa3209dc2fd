"""relax_rt.py: loads a shared library that relaxc wrote and runs it on arrays. One file; needs NumPy and nothing else.

    import relax_rt
    model = relax_rt.load("model.so")
    scores, = model(image)                  # arrays in the order of the inputs, or by name: model(image=image)

Inputs may be NumPy arrays or anything that speaks DLPack (a tensor of PyTorch, say), which is not copied where it is
compact. Outputs are NumPy arrays, which speak DLPack, too.

All that a loader needs is one symbol, `<name>_model`; the records behind it are written down below, field by field,
from relax_rt.h (tests/bench checks every offset against a C compiler). Tables are stepped through by the sizes that the
model states, as docs/abi.md asks of loaders, so that a library with longer records still loads.

This is also the shortest example of a loader in another language: nothing here is generated.
"""

import ctypes as c
import math
import mmap
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


# DLPack's type code and width of each numpy type that a model may take.
DTYPES = {(kind, bits): np.dtype(f"{letter}{bits // 8}")
          for kind, letter, widths in ((0, "i", (8, 16, 32, 64)), (1, "u", (8, 16, 32, 64)), (2, "f", (16, 32, 64)))
          for bits in widths}
DTYPES[6, 8] = np.dtype(bool)
CODES = {dtype: code for code, dtype in DTYPES.items()}


ALLOC = c.CFUNCTYPE(c.c_void_p, c.c_void_p, c.c_uint64, c.c_uint64)
DATA_CAPACITY = 33  # RLX_DATA_CAPACITY
GUESS = 1 << 16  # elements of an output that nothing bounds, at first


class RlxError(Exception):
    """A call returned a status other than RLX_OK; holds the error record."""

    def __init__(self, call, error):
        fields = ", ".join(f"{name} {getattr(error, name)}" for name, _ in Error._fields_)
        super().__init__(f"{call}: {fields}")
        self.error = error


def aligned(size, align):
    """An uninitialized uint8 array of `size` bytes whose address is a multiple of `align`."""
    raw = np.empty(size + align, np.uint8)
    start = -raw.ctypes.data % align
    return raw[start : start + size]


def describe(array, shape):
    """The rlx_tensor of a compact array; `shape` is an int64 ctypes array that stays alive with it."""
    code, bits = CODES[array.dtype]
    return Tensor(data=array.ctypes.data, device_type=1, ndim=array.ndim, dtype_code=code, dtype_bits=bits,
                  dtype_lanes=1, shape=c.cast(shape, c.POINTER(c.c_int64)))


class Model:
    """A loaded library. `functions` maps the names of its entry points to Entry. `name` is the model's, if it is not the
    library's; `weights` the file of its weights, if that is not beside it."""

    def __init__(self, path, name=None, weights=None):
        path = Path(path).resolve()
        self.library = c.CDLL(str(path))
        self.record = ModelRecord.in_dll(self.library, f"{name or path.stem.removeprefix('lib')}_model")
        if self.record.abi_version != ABI_VERSION:
            raise ValueError(f"{path}: ABI version {self.record.abi_version}, this loader knows {ABI_VERSION}")
        step = self.record.function_size
        records = [Function.from_address(self.record.functions + i * step) for i in range(self.record.num_functions)]
        self.weights = self.map(weights or path.with_suffix(".weights")) if self.record.weights_bytes else None
        self.functions = {record.name.decode(): Entry(self, record) for record in records}

    def map(self, path):
        """The file of weights as an array, which has to begin with the model's hash."""
        with open(path, "rb") as file:
            weights = np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
        if len(weights) != self.record.weights_bytes or bytes(weights[24:56]) != bytes(self.record.hash[:32]):
            raise ValueError(f"{path}: these are not the weights of {self.record.name.decode()}")
        return weights

    def __call__(self, *arrays, **named):
        return self.functions["main"](*arrays, **named)


load = Model


def array_of(given, dtype):
    """A compact array of what may be an array, a DLPack tensor, a list or a number."""
    if not isinstance(given, np.ndarray) and hasattr(given, "__dlpack__"):
        given = np.from_dlpack(given)
    return np.ascontiguousarray(given, dtype).reshape(np.shape(given))


class Entry:
    """One entry point: specs of its tensors, and calls on numpy arrays."""

    def __init__(self, model, record):
        self.model, self.record = model, record
        self.inputs = self.specs(record.inputs, record.num_inputs)
        self.outputs = self.specs(record.outputs, record.num_outputs)
        self.symbols = [record.symbols[i] for i in range(record.num_symbols)]

    def specs(self, address, count):
        return [TensorSpec.from_address(address + i * self.model.record.spec_size) for i in range(count)]

    def prepare(self, arrays, attach=None):
        """A Call on these input arrays, in order; `attach(context)` may set a pool."""
        return Call(self, arrays, attach)

    def __call__(self, *arrays, **named):
        names = [spec.name.decode() for spec in self.inputs]
        if unknown := named.keys() - set(names[len(arrays):]):
            raise TypeError(f"no input is left for {', '.join(sorted(unknown))}; there are: {', '.join(names)}")
        call = self.prepare([*arrays, *(named[name] for name in names[len(arrays):])])
        call.run()
        return call.results()


class Call:
    """Everything that one call needs, allocated once: tensors, arena, context. `run` may be repeated."""

    def __init__(self, entry, arrays, attach):
        self.entry, record = entry, entry.record
        self.error = Error()
        self.context = Context(abi_version=ABI_VERSION, struct_size=c.sizeof(Context), error=c.pointer(self.error))
        if attach:
            attach(self.context)
        self.lent = []
        self.alloc = ALLOC(self.lend)
        self.context.alloc = c.cast(self.alloc, c.c_void_p)
        if entry.model.weights is not None:
            self.context.weights, self.context.weights_bytes = entry.model.weights.ctypes.data, len(entry.model.weights)
        self.arrays = [array_of(a, DTYPES[s.dtype_code, s.dtype_bits])
                       for a, s in zip(arrays, entry.inputs, strict=True)]
        self.shapes = [(c.c_int64 * max(a.ndim, 1))(*a.shape) for a in self.arrays]
        self.inputs = (Tensor * len(arrays))(*(describe(a, s) for a, s in zip(self.arrays, self.shapes)))

        self.symbols = (c.c_int64 * max(record.num_symbols, 1))()
        self.check("bind", record.bind(self.context, self.inputs, len(arrays), self.symbols, self.error))
        size = c.c_uint64()
        self.check("arena_bytes", record.arena_bytes(self.symbols, size))
        self.arena = aligned(size.value, max(record.arena_align, 1))
        self.context.arena, self.context.arena_bytes = self.arena.ctypes.data, size.value
        sizes = [record.pools[i].bytes for i in range(record.num_pools)]
        self.pools = [aligned(size, max(record.arena_align, 1)) for size in sizes]
        self.context.pools = (MemoryPool * max(len(sizes), 1))(
            *(MemoryPool(pool.ctypes.data, size) for pool, size in zip(self.pools, sizes)))
        self.context.num_pools = len(sizes)

        self.make_outputs([self.output_shape(i, spec.ndim) for i, spec in enumerate(entry.outputs)])

    def lend(self, _, size, align):
        """rlx_context.alloc: memory that lives as long as this call."""
        self.lent.append(aligned(size, max(align, 1)))
        return self.lent[-1].ctypes.data

    def make_outputs(self, capacities):
        entry, self.capacities = self.entry, capacities
        self.buffers = [np.empty(shape, DTYPES[s.dtype_code, s.dtype_bits])
                        for shape, s in zip(self.capacities, entry.outputs)]
        self.out_shapes = [(c.c_int64 * max(len(shape), 1))(*shape) for shape in self.capacities]
        self.outputs = (Tensor * len(self.buffers))(*(describe(b, s) for b, s in zip(self.buffers, self.out_shapes)))

    def check(self, what, status):
        if status:
            self.error.code = status
            raise RlxError(f"{self.entry.record.name.decode()}: {what}", self.error)

    def output_shape(self, index, ndim):
        dims = (c.c_int64 * max(ndim, 1))()
        self.check("output_shape", self.entry.record.output_shape(self.symbols, index, dims))
        shape = tuple(dims[:ndim])
        return (GUESS,) + (1,) * (ndim - 1) if INT64_MAX in shape else shape

    def grow(self):
        """True if an output was too small for what the data gave, and now has the room that the run asked for."""
        index = self.error.tensor - len(self.inputs)
        if not 0 <= index < len(self.outputs) or self.error.expected <= self.error.actual:
            return False
        if self.error.expected > INT64_MAX // 16:  # more bytes than there are addresses
            return False
        capacities = list(self.capacities)
        capacities[index] = (self.error.expected,) + (1,) * (len(capacities[index]) - 1)
        self.make_outputs(capacities)
        return True

    def run(self):
        """One call of the model. The shapes of outputs are capacities before it, so they are set again each time."""
        self.lent.clear()
        while True:
            for shape, capacity in zip(self.out_shapes, self.capacities):
                shape[: len(capacity)] = capacity
            status = self.entry.record.run(self.context, self.inputs, len(self.inputs), self.outputs, len(self.outputs))
            if status != DATA_CAPACITY or not self.grow():
                break
        self.check("run", status)

    def results(self):
        """Copies of the outputs at their true sizes."""
        shapes = [tuple(shape[: len(capacity)]) for shape, capacity in zip(self.out_shapes, self.capacities)]
        return [buffer.reshape(-1)[: math.prod(shape)].reshape(shape).copy()
                for buffer, shape in zip(self.buffers, shapes)]
