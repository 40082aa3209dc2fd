"""relay_case.py: what a case of an operator of Relay is: an expression, its inputs, and what NumPy says of it."""

import numpy as np

CASES = {}  # family: [Case]


class Case:
    """`text` is an expression of %a, %b, …, or bindings and an expression; `expected` an array or a list of them."""

    def __init__(self, text, inputs, expected, quanta, is_open):
        self.text, self.inputs, self.quanta, self.open = text, inputs, quanta, is_open
        expected = expected if isinstance(expected, (list, tuple)) else [expected]
        self.expected = [np.asarray(e) for e in expected]

    def function(self, name, is_open=False):
        """The case as a function of a module; with `is_open`, no dim of an input is known."""
        params = ", ".join(f"%{key}: {type_of(value, is_open)}" for key, value in self.inputs.items())
        return f"def @{name}({params}) {{\n{self.text}\n}}\n"


def type_of(array, is_open=False):
    dims = ", ".join("?" if is_open else str(d) for d in array.shape)
    return f"Tensor[({dims}), {array.dtype}]"


def case(family, text, *inputs, expect, quanta=0, open=False):
    """Adds a case; `expect` is a function of the inputs, or what it gives."""
    named = dict(zip("abcdefgh", inputs))
    expected = expect(*inputs) if callable(expect) else expect
    CASES.setdefault(family, []).append(Case(text, named, expected, quanta, open))


RNG = np.random.default_rng(7)


def f32(*shape):
    return RNG.uniform(-2, 2, shape).astype(np.float32)


def positive(*shape):
    return RNG.uniform(0.3, 2, shape).astype(np.float32)


def ints(*shape, low=0, high=5, dtype=np.int64):
    return RNG.integers(low, high, shape).astype(dtype)
