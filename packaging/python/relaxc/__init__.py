"""relaxc: compiles models to machine code and calls them on arrays.

    import relaxc
    model = relaxc.compile("digits.onnx", dims={"n": (1, 12)})
    logits = model(image)["logits"]

`compile` also takes an onnx.ModelProto or a torch.export.ExportedProgram, and torch.compile takes the backend "relaxc"
(`relaxc.torch_backend` where the package is not installed from the wheel). `InferenceSession` has the calls of ONNX Runtime's. docs/python.md describes both.
"""

import importlib

# What each name is of; modules are loaded when a name is used, so that the program `relaxc` starts without NumPy.
_HOMES = {"compile": "_compile", "load": "_model", "Model": "_model", "Stream": "_model", "RlxError": "_model",
          "CompileError": "_library", "Diagnostic": "_library", "version": "_library",
          "InferenceSession": "_session", "IOBinding": "_session", "torch_backend": "_torch"}
_NAMES_THERE = {"torch_backend": "backend"}
__all__ = list(_HOMES)


def __getattr__(name):
    if name == "__version__":
        return importlib.import_module("._library", __name__).version()
    if name not in _HOMES:
        raise AttributeError(f"module 'relaxc' has no '{name}'")
    return getattr(importlib.import_module("." + _HOMES[name], __name__), _NAMES_THERE.get(name, name))


def __dir__():
    return sorted([*globals(), *__all__, "__version__"])
